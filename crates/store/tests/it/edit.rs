//! Settings of a session change together, and the log says so.

use std::collections::BTreeMap;

use deskhand_core::{
    audit::Requester,
    budget::ChangeBudget,
    event::{EventBody, ModelChanged, SessionChanged},
    id::{SessionId, UserId},
    model::Effort,
    network::policy::{NetworkMode, NetworkPolicy},
    policy::{Mode, Policy},
    session::{Session, Signal},
    tool_server::spec::{McpServerSpec, McpTransport},
    viewer::Viewer,
};
use deskhand_store::{Committed, EditRefused, EditSession, FixBriefing, PhaseMove, Transition};

use crate::{World, on_both_databases};

on_both_databases! {
    all_settings_change_in_one_commit,
    only_settings_that_differ_are_told,
    another_model_of_a_session_is_told_once,
    a_session_that_is_over_keeps_all_its_settings_when_the_model_is_refused,
    servers_are_added_only_before_the_tools_are_fixed,
}

/// An edit that changes nothing.
pub(crate) fn nothing(by: UserId) -> EditSession {
    EditSession {
        by,
        requester: Requester::from(by),
        title: None,
        model: None,
        effort: None,
        instructions: None,
        approvals: None,
        budget: None,
        network: None,
        mcp_servers: None,
    }
}

fn everything(by: UserId) -> EditSession {
    EditSession {
        by,
        requester: Requester::from(by),
        title: Some("Named".to_owned()),
        model: Some("e/f".to_owned()),
        effort: Some(Some(Effort::High)),
        instructions: Some("Be brief.".to_owned()),
        approvals: Some(Policy {
            mode: Mode::Never,
            rules: Vec::new(),
        }),
        budget: Some(ChangeBudget {
            usd: Some(0.5),
            tokens: Some(0),
        }),
        network: Some(NetworkMode::Open.into()),
        mcp_servers: Some(vec![server("files")]),
    }
}

fn server(name: &str) -> McpServerSpec {
    McpServerSpec {
        name: name.to_owned(),
        transport: McpTransport::Stdio {
            command: "serve".to_owned(),
            args: Vec::new(),
            env: BTreeMap::new(),
        },
        timeout_seconds: 60,
    }
}

async fn shown(world: &World, session: SessionId) -> Session {
    let found = world.store.session(Viewer::System, session).await;
    found.unwrap().unwrap()
}

fn bodies<T>(committed: &Committed<T>) -> Vec<EventBody> {
    let events = committed.events.iter();
    events.map(|event| event.read().unwrap().body).collect()
}

async fn all_settings_change_in_one_commit(world: World) {
    let session = world.session().await;
    let committed = world.commit(session, everything(world.user)).await.unwrap();
    assert!(committed.changes_summary);
    let found = shown(&world, session).await;
    assert_eq!((&*found.title, &*found.model), ("Named", "e/f"));
    assert_eq!(found.instructions, "Be brief.");
    assert_eq!(found.effort, Some(Effort::High));
    assert_eq!(found.approvals.mode, Mode::Never);
    assert_eq!((found.budget.usd, found.budget.tokens), (Some(0.5), None));
    let told = [
        EventBody::Model(ModelChanged {
            model: "e/f".to_owned(),
            by: world.user,
            by_name: "ada".to_owned(),
        }),
        EventBody::Changed(SessionChanged {
            by: world.user,
            by_name: "ada".to_owned(),
            title: Some("Named".to_owned()),
            effort: Some(Some(Effort::High)),
            instructions: Some("Be brief.".to_owned()),
            approvals: Some(found.approvals),
            budget: Some(found.budget),
            network: Some(NetworkPolicy::from(NetworkMode::Open)),
            mcp_servers: Some(vec![server("files")]),
        }),
    ];
    assert_eq!(bodies(&committed), told);
}

async fn only_settings_that_differ_are_told(world: World) {
    let session = world.session().await;
    world.commit(session, everything(world.user)).await.unwrap();
    let again = world.commit(session, everything(world.user)).await.unwrap();
    assert_eq!(again.events, []);
    let edit = EditSession {
        title: Some("Other".to_owned()),
        ..everything(world.user)
    };
    let committed = world.commit(session, edit).await.unwrap();
    let [EventBody::Changed(changed)] = &bodies(&committed)[..] else {
        panic!("{committed:?}");
    };
    assert_eq!(changed.title.as_deref(), Some("Other"));
    assert_eq!((&changed.instructions, &changed.approvals), (&None, &None));
    assert_eq!(changed.budget, None);
}

async fn another_model_of_a_session_is_told_once(world: World) {
    let session = world.session().await;
    let set = async |session, model: &str| {
        let edit = EditSession {
            model: Some(model.to_owned()),
            ..nothing(world.user)
        };
        world.commit(session, edit).await
    };
    let before = shown(&world, session).await;
    let committed = set(session, "e/f").await.unwrap();
    let changed = ModelChanged {
        model: "e/f".to_owned(),
        by: world.user,
        by_name: "ada".to_owned(),
    };
    assert_eq!(bodies(&committed), [EventBody::Model(changed)]);
    assert_eq!(committed.events[0].seq, before.last_seq + 1);
    assert_eq!(set(session, "e/f").await.unwrap().events, []);
    let after = shown(&world, session).await;
    assert_eq!(after.model, "e/f");
    assert_eq!(after.last_seq, before.last_seq + 1);
    assert_eq!((after.phase, after.sandbox), (before.phase, before.sandbox));
    let nowhere = set(SessionId::new(), "g/h").await;
    assert_eq!(nowhere.unwrap_err(), EditRefused::NoSession);
}

async fn a_session_that_is_over_keeps_all_its_settings_when_the_model_is_refused(world: World) {
    let session = world.session().await;
    let end = Transition {
        phase: PhaseMove::Must(Signal::Terminated),
        ..Transition::default()
    };
    world.commit(session, end).await.unwrap();
    let before = shown(&world, session).await;
    let refused = world.commit(session, everything(world.user)).await;
    assert_eq!(refused.unwrap_err(), EditRefused::Ended);
    assert_eq!(shown(&world, session).await, before);

    // It can still be renamed.
    let edit = EditSession {
        model: None,
        ..everything(world.user)
    };
    world.commit(session, edit).await.unwrap();
    assert_eq!(shown(&world, session).await.title, "Named");
}

async fn servers_are_added_only_before_the_tools_are_fixed(world: World) {
    let session = world.session().await;
    let set = async |names: &[&str]| {
        let edit = EditSession {
            mcp_servers: Some(names.iter().map(|name| server(name)).collect()),
            ..nothing(world.user)
        };
        world.commit(session, edit).await.map(drop)
    };
    assert_eq!(set(&["a", "b"]).await, Ok(()));
    assert_eq!(world.store.briefing(session).await.unwrap(), None);
    let fix = FixBriefing { briefing: "{}" };
    world.commit(session, fix).await.unwrap();
    let fixed = world.store.briefing(session).await.unwrap();
    assert_eq!(fixed.as_deref(), Some("{}"));
    assert_eq!(set(&["a", "c"]).await, Err(EditRefused::ToolsFixed));
    assert_eq!(set(&["b"]).await, Ok(()));
    assert_eq!(shown(&world, session).await.mcp_servers, [server("b")]);
}
