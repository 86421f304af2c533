use deskhand_core::id::SessionId;
use deskhand_store::{FixBriefing, NoSuchSession};

use crate::{World, on_both_databases};

on_both_databases! {
    a_session_keeps_the_first_briefing_that_it_gets,
}

async fn a_session_keeps_the_first_briefing_that_it_gets(world: World) {
    let session = world.session().await;
    for briefing in [r#"{"n": 1}"#, r#"{"n": 2}"#] {
        let kept = world
            .commit(session, FixBriefing { briefing })
            .await
            .unwrap();
        assert_eq!(kept.output, r#"{"n": 1}"#);
        assert!(kept.events.is_empty());
    }
    let other = world.session().await;
    let kept = world.commit(other, FixBriefing { briefing: "{}" }).await;
    assert_eq!(kept.unwrap().output, "{}");
    let nowhere = world.commit(SessionId::new(), FixBriefing { briefing: "{}" });
    assert_eq!(nowhere.await.unwrap_err(), NoSuchSession);
}
