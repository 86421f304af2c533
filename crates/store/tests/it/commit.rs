//! The rules that hold for every change of a session.

use std::sync::atomic::{AtomicI64, Ordering};

use deskhand_core::{
    clock::Clock,
    event::{EventBody, Said},
    id::TurnId,
};
use deskhand_store::{AppendEvents, TakePrompt};
use futures::future::join_all;
use jiff::Timestamp;

use crate::{World, log::prompt, on_both_databases};

on_both_databases! {
    times_follow_the_order_of_the_log,
    a_refusal_says_how_far_the_log_is,
    only_some_events_change_what_lists_show,
}

/// A clock that never says the same time twice.
#[derive(Debug, Default)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        let tick = self.0.fetch_add(1, Ordering::SeqCst);
        Timestamp::from_millisecond(tick).unwrap()
    }
}

fn text() -> EventBody {
    EventBody::Text(Said {
        turn: TurnId::new(),
        block: 0,
        text: "x".to_owned(),
    })
}

async fn times_follow_the_order_of_the_log(world: World) {
    let session = world.session().await;
    let clock = Ticking::default();
    let writers = (0..20).map(async |n| {
        for _ in 0..5 {
            let store = &world.store;
            if n % 2 == 0 {
                let queued = store.commit(session, prompt(&world, "x"), &clock).await;
                queued.unwrap().unwrap();
            } else {
                let bodies = [text()];
                let append = AppendEvents::new(&bodies);
                store
                    .commit(session, append, &clock)
                    .await
                    .unwrap()
                    .unwrap();
            }
        }
    });
    join_all(writers).await;
    let events = world.store.events(session, 1, 1_000).await.unwrap();
    assert_eq!(events.len(), 100);
    assert!(events.is_sorted_by(|one, next| one.at < next.at));
    let messages = world.store.messages(session, None, 100).await.unwrap();
    let messages = messages.messages;
    assert!(messages.is_sorted_by(|one, next| one.created_at < next.created_at));
}

async fn a_refusal_says_how_far_the_log_is(world: World) {
    let session = world.session().await;
    let bodies = [text(), text()];
    let append = AppendEvents::new(&bodies);
    let last = world.commit(session, append).await.unwrap().output;
    let take = TakePrompt {
        turn: TurnId::new(),
    };
    let taken = world.store.commit(session, take, &Ticking::default()).await;
    let refused = taken.unwrap().unwrap_err();
    assert_eq!(refused.last_seq, last);
}

async fn only_some_events_change_what_lists_show(world: World) {
    let session = world.session().await;
    let queued = world.commit(session, prompt(&world, "go")).await.unwrap();
    assert!(!queued.changes_summary);
    let take = TakePrompt {
        turn: TurnId::new(),
    };
    let taken = world.commit(session, take).await.unwrap();
    assert!(taken.changes_summary);
}
