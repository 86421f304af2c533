//! Leases: whoever takes, exactly one has mouse and keyboard, and the log says who.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    clock::{Clock, SystemClock},
    event::EventBody,
    id::{SessionId, TurnId, UserId},
    lease::{Holder, Lease, LeaseChange, LeaseEnd},
    session::{Phase, Signal},
    user::UserRole,
    viewer::Viewer,
};
use deskhand_store::{NewLease, PhaseMove, Store, TakeLease, Transition};
use jiff::Timestamp;
use proptest::{prelude::prop, strategy::Strategy};

use crate::{World, on_both_databases};

on_both_databases! {
    a_lease_is_one_persons_until_it_ends,
    an_old_lease_ends_before_the_next_begins,
    a_lease_ends_with_its_session,
    of_many_who_take_at_once_one_has_it,
    control_is_always_one_holders_and_the_log_says_whose,
}

/// Something that happens to control.
#[derive(Debug, Clone)]
enum Happening {
    Take {
        who: usize,
        seconds: i64,
        is_forced: bool,
    },
    End {
        who: usize,
        reason: LeaseEnd,
    },
    TimePasses {
        seconds: i64,
    },
    AgentBegins,
    AgentEnds,
}

fn happening() -> impl Strategy<Value = Happening> {
    let reasons = prop::sample::select(vec![
        LeaseEnd::HandedBack,
        LeaseEnd::Expired,
        LeaseEnd::Disconnected,
        LeaseEnd::RightLost,
    ]);
    proptest::prop_oneof![
        (0..3_usize, 10..60_i64, proptest::bool::ANY).prop_map(|(who, seconds, is_forced)| {
            Happening::Take {
                who,
                seconds,
                is_forced,
            }
        }),
        (0..3_usize, reasons).prop_map(|(who, reason)| Happening::End { who, reason }),
        (1..50_i64).prop_map(|seconds| Happening::TimePasses { seconds }),
        proptest::strategy::Just(Happening::AgentBegins),
        proptest::strategy::Just(Happening::AgentEnds),
    ]
}

fn in_seconds(at: Timestamp, seconds: i64) -> Timestamp {
    at + jiff::SignedDuration::from_secs(seconds)
}

async fn take(store: &Store, session: SessionId, user: UserId) -> TakeLease {
    let now = SystemClock.now();
    let new = NewLease {
        session,
        user,
        until: now + Duration::from_secs(60),
        is_forced: false,
    };
    store.take_lease(new, now).await.unwrap()
}

fn took(taken: TakeLease) -> Lease {
    match taken {
        TakeLease::Took(took) => took.lease,
        other @ (TakeLease::Held(_) | TakeLease::Ended) => panic!("{other:?}"),
    }
}

/// Who has control, as the session says.
async fn shown(store: &Store, session: SessionId) -> Holder {
    let found = store.session(Viewer::System, session).await.unwrap();
    found.unwrap().holder()
}

/// The same, as the log says.
async fn told(store: &Store, session: SessionId) -> Holder {
    let (mut lease, mut phase) = (None, Phase::Idle);
    for event in store.events(session, 0, 10_000).await.unwrap() {
        match event.read().unwrap().body {
            EventBody::Status(status) => phase = status.state,
            EventBody::Lease(changed) => {
                lease = match changed.change {
                    LeaseChange::Taken { until, .. } | LeaseChange::Extended { until } => {
                        Some(Lease {
                            user: changed.user,
                            name: changed.name,
                            until,
                        })
                    }
                    LeaseChange::Ended { .. } => None,
                };
            }
            _ => {}
        }
    }
    Holder::of(lease, phase)
}

async fn a_lease_is_one_persons_until_it_ends(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let (store, session) = (&world.store, world.session().await);
    assert_eq!(shown(store, session).await, Holder::Nobody);
    let lease = took(take(store, session, world.user).await);
    assert_eq!(lease.name, "ada");
    assert_eq!(shown(store, session).await, Holder::Person(lease.clone()));
    match take(store, session, bob).await {
        TakeLease::Held(held) => assert_eq!(held, lease),
        other @ (TakeLease::Took(_) | TakeLease::Ended) => panic!("{other:?}"),
    }
    let longer = took(take(store, session, world.user).await);

    // What was true before it was made longer ends nothing.
    let now = SystemClock.now();
    let end = LeaseEnd::Expired;
    let stale = Lease {
        until: lease.until - Duration::from_secs(1),
        ..lease
    };
    assert!(
        store
            .end_lease(session, &stale, end, now)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        store
            .end_lease(session, &longer, end, now)
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        store
            .end_lease(session, &longer, end, now)
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(shown(store, session).await, Holder::Nobody);
    assert_eq!(took(take(store, session, bob).await).user, bob);
    let kinds = store.lease_events(session, 0).await.unwrap();
    let changes: Vec<_> = kinds
        .iter()
        .map(|event| {
            serde_json::from_str::<serde_json::Value>(&event.data).unwrap()["change"].clone()
        })
        .collect();
    assert_eq!(changes, ["taken", "extended", "ended", "taken"]);
}

async fn an_old_lease_ends_before_the_next_begins(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let (store, session) = (&world.store, world.session().await);
    let now = SystemClock.now();
    let new = |user, at| NewLease {
        session,
        user,
        until: in_seconds(at, 10),
        is_forced: false,
    };
    store.take_lease(new(world.user, now), now).await.unwrap();
    let later = in_seconds(now, 11);
    let lease = took(store.take_lease(new(bob, later), later).await.unwrap());
    assert_eq!(told(store, session).await, Holder::Person(lease));
    let events = store.lease_events(session, 0).await.unwrap();
    assert!(events[1].data.contains("expired"), "{events:?}");
}

async fn a_lease_ends_with_its_session(world: World) {
    let (store, session) = (&world.store, world.session().await);
    took(take(store, session, world.user).await);
    let end = Transition {
        phase: PhaseMove::Must(Signal::Terminated),
        ..Transition::default()
    };
    let events = store
        .transition(session, end, SystemClock.now())
        .await
        .unwrap()
        .unwrap();
    assert!(events[0].data.contains("session_ended"), "{events:?}");
    assert_eq!(shown(store, session).await, Holder::Nobody);
    assert!(matches!(
        take(store, session, world.user).await,
        TakeLease::Ended
    ));
}

async fn of_many_who_take_at_once_one_has_it(world: World) {
    let session = world.session().await;
    let mut taking = tokio::task::JoinSet::new();
    for number in 0..8 {
        let user = world
            .user_named(&format!("user{number}"), UserRole::Member)
            .await;
        let store = world.store.clone();
        taking.spawn(async move { take(&store, session, user).await });
    }
    let taken = taking.join_all().await;
    let n_took = taken
        .iter()
        .filter(|taken| matches!(taken, TakeLease::Took(_)))
        .count();
    assert_eq!(n_took, 1, "{taken:?}");
}

async fn control_is_always_one_holders_and_the_log_says_whose(world: World) {
    let config = proptest::test_runner::Config {
        failure_persistence: None,
        ..proptest::test_runner::Config::with_cases(100)
    };
    let people = [
        world.user,
        world.user_named("bob", UserRole::Member).await,
        world.user_named("eve", UserRole::Member).await,
    ];
    let world = Arc::new(world);
    let runtime = tokio::runtime::Handle::current();
    let run = move || {
        let mut cases = proptest::test_runner::TestRunner::new(config);
        let ran = cases.run(&prop::collection::vec(happening(), 1..16), |happenings| {
            runtime.block_on(play(&world, people, &happenings));
            Ok(())
        });
        ran.unwrap();
    };
    tokio::task::spawn_blocking(run).await.unwrap();
}

/// Lets all of this happen, and holds the session and its log against what should be.
async fn play(world: &World, people: [UserId; 3], happenings: &[Happening]) {
    let (store, session) = (&world.store, world.session().await);
    let mut now = SystemClock.now();
    let ready = Transition {
        phase: PhaseMove::Must(Signal::SandboxReady),
        ..Transition::default()
    };
    store
        .transition(session, ready, now)
        .await
        .unwrap()
        .unwrap();
    // What the rules say: who has a lease and until when, and whether the agent works.
    let mut lease: Option<Lease> = None;
    let mut is_at_work = false;
    for happening in happenings {
        match happening {
            Happening::Take {
                who,
                seconds,
                is_forced,
            } => {
                let (user, until) = (people[*who], in_seconds(now, *seconds));
                let new = NewLease {
                    session,
                    user,
                    until,
                    is_forced: *is_forced,
                };
                let taken = store.take_lease(new, now).await.unwrap();
                let is_free = lease
                    .as_ref()
                    .is_none_or(|lease| lease.user == user || lease.until <= now);
                assert_eq!(matches!(taken, TakeLease::Took(_)), is_free || *is_forced);
                if let TakeLease::Took(took) = taken {
                    assert_eq!(took.lease.user, user);
                    lease = Some(took.lease);
                }
            }
            Happening::End { who, reason } => {
                let own = lease.clone().filter(|lease| lease.user == people[*who]);
                let (until, name) = (now, String::new());
                let given = own.clone().unwrap_or(Lease {
                    user: people[*who],
                    name,
                    until,
                });
                let ended = store
                    .end_lease(session, &given, *reason, now)
                    .await
                    .unwrap();
                assert_eq!(ended.is_some(), own.is_some());
                lease = lease.filter(|_| own.is_none());
            }
            Happening::TimePasses { seconds } => now = in_seconds(now, *seconds),
            Happening::AgentBegins => {
                is_at_work = begin(world, session, now).await || is_at_work;
            }
            Happening::AgentEnds => {
                let end = Transition {
                    phase: PhaseMove::Must(Signal::TurnFinished),
                    ..Transition::default()
                };
                store.transition(session, end, now).await.unwrap();
                is_at_work = false;
            }
        }
        let expected = match (&lease, is_at_work) {
            (Some(lease), _) => Holder::Person(lease.clone()),
            (None, true) => Holder::Agent,
            (None, false) => Holder::Nobody,
        };
        assert_eq!(shown(store, session).await, expected, "after {happening:?}");
        assert_eq!(told(store, session).await, expected, "after {happening:?}");
    }
}

/// A turn begins, unless one runs already.
async fn begin(world: &World, session: SessionId, now: Timestamp) -> bool {
    let prompt = deskhand_store::NewPrompt {
        id: deskhand_core::id::MessageId::new(),
        session,
        content: "go",
        author: world.user,
        author_name: "ada",
        delivery: deskhand_core::message::Delivery::Queue,
        model: None,
        at: now,
    };
    world.store.queue_prompt(prompt, 100).await.unwrap();
    let taken = world.store.take_prompt(session, TurnId::new(), now).await;
    taken.unwrap().is_some()
}
