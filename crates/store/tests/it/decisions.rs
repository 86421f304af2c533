//! What people are asked, and that it is settled once.

use std::time::Duration;

use deskhand_core::{
    clock::{Clock, SystemClock},
    decision::{Ask, DecisionKind, DecisionState, FileHead, Form, GivenFile, Reply, Settlement},
    id::{DecisionId, SessionId, TurnId, UserId},
    policy::{Mode, Policy, Rule, RuleTool, Then},
    right::Right,
    session::{Phase, Signal},
    user::UserRole,
    viewer::Viewer,
};
use deskhand_store::{
    EditSession, Granted, NotAtWork, PhaseMove, RaiseDecision, SettleDecision, SettleRefused,
    TakePrompt, Transition,
};
use jiff::Timestamp;

use crate::{World, commit_at, edit::nothing, log::prompt, on_both_databases};

on_both_databases! {
    asking_lets_the_session_wait_and_answering_lets_it_go_on,
    only_one_of_many_answers_counts,
    a_turn_that_ends_withdraws_what_it_asked,
    only_what_is_over_expires,
    the_inbox_holds_what_somebody_may_answer,
    a_file_is_kept_with_its_answer,
    policies_are_kept_for_sessions_and_users,
}

fn ask(kind: DecisionKind, expires_at: Option<Timestamp>) -> Ask {
    Ask {
        call: Some("a".to_owned()),
        kind,
        prompt: "Which?".to_owned(),
        form: Form::Text,
        subject: None,
        over: None,
        rule: None,
        default: None,
        expires_at,
    }
}

fn text(by: UserId, text: &str) -> Settlement {
    Settlement::Answered {
        by,
        reply: Reply::Text(text.to_owned()),
    }
}

/// A session at work, and its turn.
pub(crate) async fn at_work(world: &World, owner: UserId) -> (SessionId, TurnId) {
    let session = world.session_of(owner).await;
    world.commit(session, prompt(world, "go")).await.unwrap();
    let turn = TurnId::new();
    world.commit(session, TakePrompt { turn }).await.unwrap();
    (session, turn)
}

/// Settles a decision without a file.
fn settle(id: DecisionId, settlement: &Settlement) -> SettleDecision<'_> {
    SettleDecision {
        id,
        settlement,
        file: None,
    }
}

async fn raise(world: &World, session: SessionId, turn: TurnId, ask: &Ask) -> DecisionId {
    let id = DecisionId::new();
    let raised = world.commit(session, RaiseDecision { turn, id, ask }).await;
    let events = raised.unwrap().events;
    let kinds: Vec<_> = events.iter().map(|event| &*event.kind).collect();
    assert_eq!(kinds, ["decision", "status"]);
    id
}

async fn phase(world: &World, session: SessionId) -> Phase {
    let session = world.store.session(Viewer::System, session).await.unwrap();
    session.unwrap().phase
}

async fn asking_lets_the_session_wait_and_answering_lets_it_go_on(world: World) {
    let (session, turn) = at_work(&world, world.user).await;
    let question = ask(DecisionKind::Question, None);
    let of_another_turn = RaiseDecision {
        turn: TurnId::new(),
        id: DecisionId::new(),
        ask: &question,
    };
    let refused = world.commit(session, of_another_turn).await;
    assert_eq!(refused.unwrap_err(), NotAtWork);
    let id = raise(&world, session, turn, &question).await;
    assert_eq!(phase(&world, session).await, Phase::Waiting);

    let now = SystemClock.now();
    let answer = text(world.user, "this");
    let elsewhere = world.session().await;
    let wrong = world.commit(elsewhere, settle(id, &answer)).await;
    assert_eq!(wrong.unwrap_err(), SettleRefused::Unknown);
    let settled = commit_at(&world.store, now, session, settle(id, &answer)).await;
    let events = settled.unwrap().events;
    let kinds: Vec<_> = events.iter().map(|event| &*event.kind).collect();
    assert_eq!(kinds, ["answer", "status"]);
    assert_eq!(phase(&world, session).await, Phase::Running);
    let found = world.store.decision(session, id).await.unwrap().unwrap();
    assert_eq!(found.decision.answer, Some(Reply::Text("this".to_owned())));
    assert_eq!(found.answered_by_name.as_deref(), Some("ada"));
    assert_eq!(found.decision.ask, question);
    assert_eq!(found.decision.settled_at, Some(now));
}

async fn only_one_of_many_answers_counts(world: World) {
    let (session, turn) = at_work(&world, world.user).await;
    for round in 0..20 {
        let id = raise(&world, session, turn, &ask(DecisionKind::Question, None)).await;
        let answers = (0..4).map(|number| {
            let (world, answer) = (&world, text(world.user, &number.to_string()));
            async move {
                let settled = world.commit(session, settle(id, &answer));
                (number, settled.await.is_ok())
            }
        });
        let answers = futures::future::join_all(answers).await;
        let counted: Vec<_> = answers
            .iter()
            .filter(|(_, is_settled)| *is_settled)
            .map(|(number, _)| *number)
            .collect();
        let [winner] = counted[..] else {
            panic!("round {round}: {answers:?}");
        };
        let kept = world.store.decision(session, id).await.unwrap().unwrap();
        assert_eq!(kept.decision.answer, Some(Reply::Text(winner.to_string())));
    }
}

async fn a_turn_that_ends_withdraws_what_it_asked(world: World) {
    let (session, turn) = at_work(&world, world.user).await;
    let id = raise(&world, session, turn, &ask(DecisionKind::Approval, None)).await;
    let stay = Transition {
        reason: Some("still there".to_owned()),
        ..Transition::default()
    };
    world.commit(session, stay).await.unwrap();
    let found = world.store.decision(session, id).await.unwrap().unwrap();
    assert_eq!(found.decision.state, DecisionState::Open);

    let end = Transition {
        phase: PhaseMove::Must(Signal::TurnFinished),
        ..Transition::default()
    };
    let events = world.commit(session, end).await.unwrap().events;
    let kinds: Vec<_> = events.iter().map(|event| &*event.kind).collect();
    assert_eq!(kinds, ["answer", "status"]);
    let late = text(world.user, "late");
    let late = world.commit(session, settle(id, &late)).await;
    assert_eq!(late.unwrap_err(), SettleRefused::Already);
    let found = world.store.decision(session, id).await.unwrap().unwrap();
    assert_eq!(found.decision.state, DecisionState::Withdrawn);
    assert_eq!(phase(&world, session).await, Phase::Idle);
}

async fn only_what_is_over_expires(world: World) {
    let now = SystemClock.now();
    let minute = Duration::from_secs(60);
    let mut ids = Vec::new();
    for expires_at in [Some(now - minute), Some(now + minute), None] {
        let (session, turn) = at_work(&world, world.user).await;
        let ask = ask(DecisionKind::Question, expires_at);
        ids.push((session, raise(&world, session, turn, &ask).await));
    }
    let expired = world.store.expired_decisions(now, 10).await.unwrap();
    let expired: Vec<_> = expired.iter().map(|one| (one.session, one.id)).collect();
    assert_eq!(expired, ids[..1]);
    let (session, id) = ids[0];
    let nobody = Settlement::Expired { default: None };
    world.commit(session, settle(id, &nobody)).await.unwrap();
    assert_eq!(world.store.next_expiry().await.unwrap(), Some(now + minute));
}

async fn the_inbox_holds_what_somebody_may_answer(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let (session, turn) = at_work(&world, world.user).await;
    let question = raise(&world, session, turn, &ask(DecisionKind::Question, None)).await;
    let (other, turn) = at_work(&world, world.user).await;
    let approval = raise(&world, other, turn, &ask(DecisionKind::Approval, None)).await;
    let inbox = async |user: UserId| {
        let open = Some(DecisionState::Open);
        let page = world.store.inbox(user, open, None, 10).await.unwrap();
        let ids = page.decisions.iter().map(|named| named.decision.id);
        ids.collect::<Vec<_>>()
    };
    assert_eq!(inbox(world.user).await, [approval, question]);
    assert_eq!(inbox(bob).await, []);
    for (right, expected) in [
        (Right::View, vec![]),
        (Right::Suggest, vec![question]),
        (Right::Drive, vec![approval, question]),
    ] {
        for session in [session, other] {
            let granted = world.store.grant(session, bob, right, 9, world.stamp());
            assert_eq!(granted.await.unwrap(), Granted::Given);
        }
        assert_eq!(inbox(bob).await, expected, "{right:?}");
    }

    let first = world.store.inbox(bob, None, None, 1).await.unwrap();
    assert_eq!(first.next, Some(approval));
    let second = world.store.inbox(bob, None, first.next, 1).await.unwrap();
    assert_eq!(second.decisions[0].decision.id, question);
    assert_eq!(second.next, None);
    let answered = Some(DecisionState::Answered);
    let none = world.store.inbox(bob, answered, None, 10).await.unwrap();
    assert!(none.decisions.is_empty());
}

async fn a_file_is_kept_with_its_answer(world: World) {
    let (session, turn) = at_work(&world, world.user).await;
    let id = raise(&world, session, turn, &ask(DecisionKind::Question, None)).await;
    let file = GivenFile {
        name: "a.bin".to_owned(),
        bytes: vec![0, 255, 10],
    };
    let answer = Settlement::Answered {
        by: world.user,
        reply: Reply::File(FileHead {
            name: file.name.clone(),
            n_bytes: 3,
        }),
    };
    let settle = SettleDecision {
        file: Some(&file),
        ..settle(id, &answer)
    };
    world.commit(session, settle).await.unwrap();
    assert_eq!(world.store.decision_file(id).await.unwrap(), Some(file));
    let other = world.store.decision_file(DecisionId::new()).await;
    assert_eq!(other.unwrap(), None);
}

async fn policies_are_kept_for_sessions_and_users(world: World) {
    let session = world.session().await;
    let risky = Policy::default();
    assert_eq!(risky.mode, Mode::Risky);
    let of = async |user| world.store.default_approvals(user).await.unwrap();
    assert_eq!(of(world.user).await, Some(risky.clone()));
    assert_eq!(of(UserId::new()).await, None);
    let policy = Policy {
        mode: Mode::Never,
        rules: vec![Rule {
            tool: RuleTool::Bash,
            pattern: "git push*".to_owned(),
            then: Then::Refuse,
            exact: false,
        }],
    };
    let store = &world.store;
    store
        .set_default_approvals(world.user, &policy, world.stamp())
        .await
        .unwrap();
    assert_eq!(of(world.user).await, Some(policy.clone()));
    assert_eq!(store.approvals(session).await.unwrap(), Some(risky));
    let edit = EditSession {
        approvals: Some(policy.clone()),
        ..nothing(world.user)
    };
    world.commit(session, edit).await.unwrap();
    assert_eq!(
        store.approvals(session).await.unwrap(),
        Some(policy.clone())
    );
    let shown = store.session(Viewer::System, session).await.unwrap();
    assert_eq!(shown.unwrap().approvals, policy);
}
