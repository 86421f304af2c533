//! Messages that wait.

use std::collections::BTreeMap;

use deskhand_core::{
    event::{EventBody, QueueChange},
    id::{MessageId, SessionId, TurnId},
    message::Delivery,
    model::Effort,
    user::UserRole,
};
use deskhand_store::{
    ChangeWaiting, ClearHeld, Committed, HoldWaiting, MessageChoice, NothingToTake, PhaseMove,
    QueuePrompt, TakePrompt, TakeSteering, Transition, WaitingRefused,
};
use proptest::{prelude::prop, sample::Index, strategy::Strategy};

use crate::{World, log::prompt, on_both_databases};

on_both_databases! {
    what_cannot_wait_is_taken_first,
    a_message_is_changed_until_it_is_taken,
    a_message_is_for_the_model_that_was_chosen_last,
    steering_goes_to_the_turn_that_runs,
    what_is_held_is_taken_only_after_its_release,
    a_change_that_cannot_be_made_leaves_no_trace,
    any_changes_leave_the_order_that_was_asked_for,
    a_turn_is_the_owners_while_they_wrote_all_its_messages,
}

async fn send(world: &World, session: SessionId, content: &str, delivery: Delivery) -> MessageId {
    let id = MessageId::new();
    let queue = QueuePrompt {
        id,
        delivery,
        ..prompt(world, content)
    };
    world.commit(session, queue).await.unwrap();
    id
}

async fn change(
    world: &World,
    session: SessionId,
    message: MessageId,
    changes: &[QueueChange],
) -> Result<Committed<()>, WaitingRefused> {
    let change = ChangeWaiting {
        message,
        by: world.user,
        changes,
    };
    world.commit(session, change).await
}

async fn waiting(world: &World, session: SessionId) -> Vec<MessageId> {
    let waiting = world.store.waiting(session).await.unwrap();
    waiting.iter().map(|message| message.id).collect()
}

async fn take(world: &World, session: SessionId) -> Option<MessageId> {
    let turn = TurnId::new();
    let taken = world.commit(session, TakePrompt { turn }).await;
    taken.ok().map(|taken| taken.output)
}

/// Ends the turn that runs.
async fn finish(world: &World, session: SessionId) {
    let end = Transition {
        phase: PhaseMove::Must(deskhand_core::session::Signal::TurnFinished),
        ..Transition::default()
    };
    world.commit(session, end).await.unwrap();
}

async fn a_turn_is_the_owners_while_they_wrote_all_its_messages(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let session = world.session().await;
    let by_bob = || QueuePrompt {
        author: bob,
        ..prompt(&world, "by bob")
    };
    let begin = async || {
        let turn = TurnId::new();
        world.commit(session, TakePrompt { turn }).await.unwrap();
        turn
    };
    let is_owners = async |turn| world.store.is_turn_of_owner(session, turn).await.unwrap();

    send(&world, session, "by ada", Delivery::Queue).await;
    let turn = begin().await;
    assert!(is_owners(turn).await);
    assert!(!is_owners(TurnId::new()).await, "nobody wrote for it");
    send(&world, session, "more by ada", Delivery::Steer).await;
    world.commit(session, TakeSteering { turn }).await.unwrap();
    assert!(is_owners(turn).await);
    let steers = QueuePrompt {
        delivery: Delivery::Steer,
        ..by_bob()
    };
    world.commit(session, steers).await.unwrap();
    world.commit(session, TakeSteering { turn }).await.unwrap();
    assert!(!is_owners(turn).await, "somebody else steered it");
    finish(&world, session).await;

    world.commit(session, by_bob()).await.unwrap();
    assert!(!is_owners(begin().await).await);
    finish(&world, session).await;

    // Whoever changes the text is its writer.
    let edited = [QueueChange::Edited {
        content: "other words".to_owned(),
    }];
    for (by, is_theirs) in [(bob, false), (world.user, true)] {
        let message = send(&world, session, "by ada", Delivery::Queue).await;
        let edit = ChangeWaiting {
            message,
            by,
            changes: &edited,
        };
        world.commit(session, edit).await.unwrap();
        assert_eq!(is_owners(begin().await).await, is_theirs);
        finish(&world, session).await;
    }
}

async fn a_message_is_for_the_model_that_was_chosen_last(world: World) {
    let session = world.session().await;
    let id = send(&world, session, "one", Delivery::Queue).await;
    let chosen = async || world.store.choice_for(id).await.unwrap();
    assert_eq!(chosen().await, MessageChoice::default());
    for model in [Some("a/b".to_owned()), Some("c/d".to_owned()), None] {
        let reassigned = QueueChange::Reassigned {
            model: model.clone(),
        };
        change(&world, session, id, &[reassigned]).await.unwrap();
        assert_eq!(chosen().await.model, model);
        assert_eq!(world.store.waiting(session).await.unwrap()[0].model, model);
    }
    for effort in [Some(Effort::High), Some(Effort::Low), None] {
        let reweighed = QueueChange::Reweighed { effort };
        change(&world, session, id, &[reweighed]).await.unwrap();
        assert_eq!(chosen().await.effort, effort);
    }
}

async fn what_is_held_is_taken_only_after_its_release(world: World) {
    let session = world.session().await;
    let one = send(&world, session, "one", Delivery::Queue).await;
    let two = send(&world, session, "two", Delivery::Queue).await;
    let by = world.user;
    let hold = async || {
        let held = world.commit(session, HoldWaiting { by }).await.unwrap();
        held.events.len()
    };
    assert_eq!(hold().await, 2, "an event for each");
    assert_eq!(hold().await, 0, "those that are held stay so");
    let is_awaited = async || {
        let unsettled = world.store.unsettled_sessions().await.unwrap();
        let found = unsettled.iter().find(|found| found.session.id == session);
        found.is_some_and(|found| found.is_awaited)
    };
    assert!(!is_awaited().await, "nothing begins with the server");
    assert_eq!(take(&world, session).await, None);
    assert_eq!(waiting(&world, session).await, [one, two]);

    let later = send(&world, session, "later", Delivery::Queue).await;
    assert!(is_awaited().await);
    assert_eq!(take(&world, session).await, Some(later));
    finish(&world, session).await;
    let released = [QueueChange::Released];
    change(&world, session, two, &released).await.unwrap();
    assert_eq!(take(&world, session).await, Some(two));
    finish(&world, session).await;

    let cleared = world.commit(session, ClearHeld { by }).await.unwrap();
    assert_eq!(cleared.events.len(), 1);
    assert_eq!(waiting(&world, session).await, []);
}

async fn what_cannot_wait_is_taken_first(world: World) {
    let session = world.session().await;
    let queued = send(&world, session, "queued", Delivery::Queue).await;
    let steers = send(&world, session, "steers", Delivery::Steer).await;
    let first = send(&world, session, "first", Delivery::Interrupt).await;
    let second = send(&world, session, "second", Delivery::Interrupt).await;
    let order = [first, second, steers, queued];
    assert_eq!(waiting(&world, session).await, order);
    for expected in order {
        assert_eq!(take(&world, session).await, Some(expected));
        finish(&world, session).await;
    }
    assert_eq!(take(&world, session).await, None);
}

async fn a_message_is_changed_until_it_is_taken(world: World) {
    let session = world.session().await;
    let [one, two, three] = [
        send(&world, session, "one", Delivery::Queue).await,
        send(&world, session, "two", Delivery::Queue).await,
        send(&world, session, "three", Delivery::Queue).await,
    ];
    let edit = QueueChange::Edited {
        content: "drei".to_owned(),
    };
    let first = QueueChange::Moved { before: Some(one) };
    let changed = change(&world, session, three, &[edit.clone(), first]).await;
    assert_eq!(changed.unwrap().events.len(), 2);
    let removed = change(&world, session, two, &[QueueChange::Removed]).await;
    removed.unwrap();
    assert_eq!(waiting(&world, session).await, [three, one]);
    let page = world.store.messages(session, None, 10).await.unwrap();
    let texts: Vec<_> = page
        .messages
        .iter()
        .map(|message| &*message.content)
        .collect();
    assert_eq!(texts, ["one", "drei"]);

    assert_eq!(take(&world, session).await, Some(three));
    let late = change(&world, session, three, &[edit]).await;
    assert_eq!(late.unwrap_err(), WaitingRefused::Taken);
    let again = change(&world, session, two, &[QueueChange::Removed]).await;
    assert_eq!(again.unwrap_err(), WaitingRefused::NotWaiting(two));
}

async fn steering_goes_to_the_turn_that_runs(world: World) {
    let session = world.session().await;
    send(&world, session, "go", Delivery::Queue).await;
    let turn = TurnId::new();
    world.commit(session, TakePrompt { turn }).await.unwrap();
    let queued = send(&world, session, "later", Delivery::Queue).await;
    let left = send(&world, session, "left", Delivery::Steer).await;
    let right = send(&world, session, "right", Delivery::Steer).await;

    let another = TakeSteering {
        turn: TurnId::new(),
    };
    let refused = world.commit(session, another).await;
    assert_eq!(refused.unwrap_err(), NothingToTake);
    assert!(world.store.is_steered(session).await.unwrap());
    let taken = world.commit(session, TakeSteering { turn }).await.unwrap();
    let steering = &taken.output;
    let ids: Vec<_> = steering.messages.iter().map(|message| message.id).collect();
    assert_eq!(ids, [left, right]);
    let told = taken.events.iter().map(|event| event.read().unwrap().body);
    let told: Vec<_> = told
        .map(|body| {
            let EventBody::Status(status) = body else {
                panic!("{body:?}");
            };
            status.prompt.unwrap()
        })
        .collect();
    assert_eq!(told, ids);
    assert_eq!(steering.last_seq, taken.events.last().unwrap().seq);
    assert!(!world.store.is_steered(session).await.unwrap());
    let again = world.commit(session, TakeSteering { turn }).await.unwrap();
    assert_eq!(again.output.messages, [], "each is given once");
    assert_eq!(again.events, []);
    assert_eq!(waiting(&world, session).await, [queued]);
}

async fn a_change_that_cannot_be_made_leaves_no_trace(world: World) {
    let session = world.session().await;
    let elsewhere = world.session().await;
    let one = send(&world, session, "one", Delivery::Queue).await;
    let other = send(&world, elsewhere, "other", Delivery::Queue).await;
    let before = world.store.events(session, 0, 100).await.unwrap();
    let edit = QueueChange::Edited {
        content: "never".to_owned(),
    };
    let behind = QueueChange::Moved {
        before: Some(other),
    };
    let refused = WaitingRefused::NotWaiting(other);
    let changed = change(&world, session, one, &[edit.clone(), behind]).await;
    assert_eq!(changed.unwrap_err(), refused);
    let changed = change(&world, session, other, &[edit]).await;
    assert_eq!(changed.unwrap_err(), refused);
    let after = world.store.events(session, 0, 100).await.unwrap();
    assert_eq!(after, before);
    let message = &world.store.waiting(session).await.unwrap()[0];
    assert_eq!(message.content, "one");
}

/// A step of somebody who plays with the queue.
#[derive(Debug, Clone)]
enum Play {
    Send(Delivery),
    Move(Index, Option<Index>),
    Redeliver(Index, Delivery),
    Remove(Index),
}

fn play() -> impl Strategy<Value = Play> {
    let delivery =
        || prop::sample::select(vec![Delivery::Queue, Delivery::Steer, Delivery::Interrupt]);
    let index = || proptest::arbitrary::any::<Index>();
    proptest::prop_oneof![
        3 => delivery().prop_map(Play::Send),
        3 => (index(), prop::option::of(index())).prop_map(|(from, to)| Play::Move(from, to)),
        1 => (index(), delivery()).prop_map(|(which, how)| Play::Redeliver(which, how)),
        1 => index().prop_map(Play::Remove),
    ]
}

/// The queue is what a plain list would be that is kept in the order that people asked for and
/// sorted by urgency when it is taken from.
async fn any_changes_leave_the_order_that_was_asked_for(world: World) {
    let config = proptest::test_runner::Config::with_cases(40);
    let plays = prop::collection::vec(play(), 1..15);
    let world = &world;
    let compare = |plays: Vec<Play>| async move {
        let session = world.session().await;
        let mut list: Vec<MessageId> = Vec::new();
        let mut deliveries = BTreeMap::new();
        for play in plays {
            match play {
                Play::Send(delivery) => {
                    let id = send(world, session, "x", delivery).await;
                    list.push(id);
                    deliveries.insert(id, delivery);
                }
                _ if list.is_empty() => {}
                Play::Move(from, to) => {
                    let id = *from.get(&list);
                    list.retain(|other| *other != id);
                    let to = to
                        .filter(|_| !list.is_empty())
                        .map(|to| to.index(list.len()));
                    let before = to.map(|to| list[to]);
                    list.insert(to.unwrap_or(list.len()), id);
                    let moved = QueueChange::Moved { before };
                    change(world, session, id, &[moved]).await.unwrap();
                }
                Play::Redeliver(which, delivery) => {
                    let id = *which.get(&list);
                    deliveries.insert(id, delivery);
                    let redelivered = QueueChange::Redelivered { delivery };
                    change(world, session, id, &[redelivered]).await.unwrap();
                }
                Play::Remove(which) => {
                    let id = list.remove(which.index(list.len()));
                    let removed = change(world, session, id, &[QueueChange::Removed]).await;
                    removed.unwrap();
                }
            }
        }
        list.sort_by_key(|id| match deliveries[id] {
            Delivery::Interrupt => 0,
            Delivery::Steer => 1,
            Delivery::Queue => 2,
        });
        assert_eq!(waiting(world, session).await, list);
    };
    let runtime = tokio::runtime::Handle::current();
    tokio::task::block_in_place(|| {
        let mut cases = proptest::test_runner::TestRunner::new(config);
        cases.run(&plays, |plays| {
            runtime.block_on(compare(plays));
            Ok(())
        })
    })
    .unwrap();
}
