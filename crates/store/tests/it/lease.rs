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
use deskhand_store::{
    EndLease, LeaseRefused, NotTheLease, PhaseMove, Store, TakeLease, TakePrompt, Transition,
};
use jiff::Timestamp;
use proptest::{prelude::prop, strategy::Strategy};

use crate::{World, commit_at, log::prompt, on_both_databases};

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

async fn take(store: &Store, session: SessionId, user: UserId) -> Result<Lease, LeaseRefused> {
    let now = SystemClock.now();
    let take = TakeLease {
        user,
        until: now + Duration::from_secs(60),
        is_forced: false,
    };
    take_at(store, now, session, take).await
}

async fn take_at(
    store: &Store,
    at: Timestamp,
    session: SessionId,
    take: TakeLease,
) -> Result<Lease, LeaseRefused> {
    let taken = commit_at(store, at, session, take).await;
    taken.map(|taken| taken.output)
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
        let body = event.read().unwrap().body;
        if let EventBody::Status(status) = &body {
            phase = status.state;
        }
        if let EventBody::Lease(changed) = body {
            lease = match changed.change {
                LeaseChange::Taken { until, .. } | LeaseChange::Extended { until } => Some(Lease {
                    user: changed.user,
                    name: changed.name,
                    until,
                }),
                LeaseChange::Ended { .. } => None,
            };
        }
    }
    Holder::of(lease, phase)
}

async fn a_lease_is_one_persons_until_it_ends(world: World) {
    let bob = world.user_named("bob", UserRole::Member).await;
    let (store, session) = (&world.store, world.session().await);
    assert_eq!(shown(store, session).await, Holder::Nobody);
    let lease = take(store, session, world.user).await.unwrap();
    assert_eq!(lease.name, "ada");
    assert_eq!(shown(store, session).await, Holder::Person(lease.clone()));
    let refused = take(store, session, bob).await.unwrap_err();
    assert_eq!(refused, LeaseRefused::Held(lease.clone()));
    let longer = take(store, session, world.user).await.unwrap();

    // What was true before it was made longer ends nothing.
    let end = async |lease: &Lease| {
        let reason = LeaseEnd::Expired;
        world.commit(session, EndLease { lease, reason }).await
    };
    let stale = Lease {
        until: lease.until - Duration::from_secs(1),
        ..lease
    };
    assert_eq!(end(&stale).await.unwrap_err(), NotTheLease);
    end(&longer).await.unwrap();
    assert_eq!(end(&longer).await.unwrap_err(), NotTheLease);
    assert_eq!(shown(store, session).await, Holder::Nobody);
    assert_eq!(take(store, session, bob).await.unwrap().user, bob);
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
    let new = |user, at| TakeLease {
        user,
        until: in_seconds(at, 10),
        is_forced: false,
    };
    let first = take_at(store, now, session, new(world.user, now)).await;
    first.unwrap();
    let later = in_seconds(now, 11);
    let lease = take_at(store, later, session, new(bob, later)).await;
    let lease = lease.unwrap();
    assert_eq!(told(store, session).await, Holder::Person(lease));
    let events = store.lease_events(session, 0).await.unwrap();
    assert!(events[1].data.contains("expired"), "{events:?}");
}

async fn a_lease_ends_with_its_session(world: World) {
    let (store, session) = (&world.store, world.session().await);
    take(store, session, world.user).await.unwrap();
    let end = Transition {
        phase: PhaseMove::Must(Signal::Terminated),
        ..Transition::default()
    };
    let events = world.commit(session, end).await.unwrap().events;
    assert!(events[0].data.contains("session_ended"), "{events:?}");
    assert_eq!(shown(store, session).await, Holder::Nobody);
    let refused = take(store, session, world.user).await.unwrap_err();
    assert_eq!(refused, LeaseRefused::Ended);
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
    let n_took = taken.iter().filter(|taken| taken.is_ok()).count();
    assert_eq!(n_took, 1, "{taken:?}");
}

async fn control_is_always_one_holders_and_the_log_says_whose(world: World) {
    let config = proptest::test_runner::Config {
        failure_persistence: None,
        ..proptest::test_runner::Config::with_cases(40)
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
    commit_at(store, now, session, ready).await.unwrap();
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
                let take = TakeLease {
                    user,
                    until,
                    is_forced: *is_forced,
                };
                let taken = take_at(store, now, session, take).await;
                let is_free = lease
                    .as_ref()
                    .is_none_or(|lease| lease.user == user || lease.until <= now);
                assert_eq!(taken.is_ok(), is_free || *is_forced);
                if let Ok(taken) = taken {
                    assert_eq!(taken.user, user);
                    lease = Some(taken);
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
                let end = EndLease {
                    lease: &given,
                    reason: *reason,
                };
                let ended = commit_at(store, now, session, end).await;
                assert_eq!(ended.is_ok(), own.is_some());
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
                // Refused while the agent is not at work.
                let _ = commit_at(store, now, session, end).await;
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
    let store = &world.store;
    let queued = commit_at(store, now, session, prompt(world, "go")).await;
    queued.unwrap();
    let take = TakePrompt {
        turn: TurnId::new(),
    };
    commit_at(store, now, session, take).await.is_ok()
}
