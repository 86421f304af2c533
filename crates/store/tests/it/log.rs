//! Events, messages and moves.

use deskhand_core::{
    clock::{Clock, SystemClock},
    event::{EventBody, Failure, Said},
    id::{MessageId, SessionId, TurnId, UserId},
    message::Delivery,
    session::{Phase, SandboxState, Signal},
    viewer::Viewer,
};
use deskhand_store::{
    AppendEvents, CannotMove, PhaseMove, PromptRefused, QueuePrompt, Store, TakePrompt, Transition,
};
use futures::future::join_all;
use proptest::prelude::any;

use crate::{World, commit_at, on_both_databases};

on_both_databases! {
    events_of_many_writers_are_numbered_without_gaps,
    of_many_who_take_a_prompt_one_gets_it,
    the_queue_has_a_bound_and_an_ended_session_takes_nothing,
    a_refused_move_leaves_no_trace,
    nobody_sees_a_strangers_session,
    lists_come_in_pages_without_overlap,
    what_is_logged_survives_a_restart,
    a_page_of_the_log_has_a_bound_in_bytes,
}

fn text(text: &str) -> EventBody {
    EventBody::Text(Said {
        turn: TurnId::new(),
        block: 0,
        text: text.to_owned(),
    })
}

pub(crate) fn prompt(world: &World, content: &str) -> QueuePrompt {
    QueuePrompt {
        id: MessageId::new(),
        content: content.to_owned(),
        author: world.user,
        author_name: "ada".to_owned(),
        delivery: Delivery::Queue,
        model: None,
        effort: None,
        attachments: Vec::new(),
        start_url: None,
        queue_length: 100,
    }
}

async fn numbers(store: &Store, session: SessionId) -> Vec<u64> {
    store
        .events(session, 0, 10_000)
        .await
        .unwrap()
        .iter()
        .map(|event| event.seq)
        .collect()
}

async fn events_of_many_writers_are_numbered_without_gaps(world: World) {
    let session = world.session().await;
    let writers = (0..20_usize).map(async |n| {
        for _ in 0..5 {
            let bodies: Vec<_> = (0..=n % 3).map(|_| text("x")).collect();
            let append = AppendEvents::new(&bodies);
            world.commit(session, append).await.unwrap();
        }
    });
    join_all(writers).await;
    let numbers = numbers(&world.store, session).await;
    assert_eq!(
        numbers,
        (1..=u64::try_from(numbers.len()).unwrap()).collect::<Vec<_>>()
    );
    let newest = world
        .store
        .session(Viewer::System, session)
        .await
        .unwrap()
        .unwrap()
        .last_seq;
    assert_eq!(newest, *numbers.last().unwrap());
}

async fn of_many_who_take_a_prompt_one_gets_it(world: World) {
    let session = world.session().await;
    world.commit(session, prompt(&world, "go")).await.unwrap();
    let takers = (0..10).map(|_| {
        let turn = TurnId::new();
        world.commit(session, TakePrompt { turn })
    });
    let taken = join_all(takers)
        .await
        .into_iter()
        .filter(Result::is_ok)
        .count();
    assert_eq!(taken, 1);
    let session = world
        .store
        .session(Viewer::System, session)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(session.phase, Phase::Running);
}

async fn the_queue_has_a_bound_and_an_ended_session_takes_nothing(world: World) {
    let session = world.session().await;
    let queue = async || {
        let prompt = QueuePrompt {
            attachments: Vec::new(),
            queue_length: 3,
            ..prompt(&world, "x")
        };
        world.commit(session, prompt).await
    };
    for _ in 0..3 {
        queue().await.unwrap();
    }
    let full = PromptRefused::QueueFull { n_waiting: 3 };
    assert_eq!(queue().await.unwrap_err(), full);
    let end = Transition {
        phase: PhaseMove::Must(Signal::Terminated),
        ..Transition::default()
    };
    world.commit(session, end).await.unwrap();
    let ended = world.commit(session, prompt(&world, "x")).await;
    assert_eq!(ended.unwrap_err(), PromptRefused::Ended);
}

async fn a_refused_move_leaves_no_trace(world: World) {
    let session = world.session().await;
    let before = numbers(&world.store, session).await;
    let impossible = Transition {
        phase: PhaseMove::Must(Signal::TurnFinished),
        sandbox: Some(SandboxState::Ready),
        events: vec![text("never")],
        ..Transition::default()
    };
    let refused = world.commit(session, impossible).await;
    assert_eq!(refused.unwrap_err(), CannotMove);
    assert_eq!(numbers(&world.store, session).await, before);
    let session = world
        .store
        .session(Viewer::System, session)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (session.phase, session.sandbox),
        (Phase::Initializing, SandboxState::None)
    );
}

async fn nobody_sees_a_strangers_session(world: World) {
    let session = world.session().await;
    let stranger = Viewer::User(UserId::new());
    assert!(
        world
            .store
            .session(stranger, session)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        world
            .store
            .sessions(stranger, None, 10)
            .await
            .unwrap()
            .sessions
            .is_empty()
    );
    let owner = Viewer::User(world.user);
    assert_eq!(
        world
            .store
            .session(owner, session)
            .await
            .unwrap()
            .unwrap()
            .metadata["team"],
        "x"
    );
}

async fn lists_come_in_pages_without_overlap(world: World) {
    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(world.session().await);
    }
    made.reverse();
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = world
            .store
            .sessions(Viewer::User(world.user), before, 3)
            .await
            .unwrap();
        seen.extend(page.sessions.iter().map(|session| session.id));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, made);
}

/// Whatever is appended comes back as it was, also after the database was closed and opened.
async fn what_is_logged_survives_a_restart(world: World) {
    let config = proptest::test_runner::Config::with_cases(40);
    let texts = proptest::collection::vec(any::<String>(), 1..8);
    let world = &world;
    let restart = |texts: Vec<String>| async move {
        let store = Store::open(&world.url).await.unwrap();
        let session = world.session().await;
        let failure = |text: &String| {
            EventBody::Error(Failure {
                turn: None,
                code: "x".to_owned(),
                message: text.clone(),
            })
        };
        let bodies: Vec<_> = texts.iter().map(failure).collect();
        let append = AppendEvents::new(&bodies);
        let appended = commit_at(&store, SystemClock.now(), session, append).await;
        let appended = appended.unwrap().events;
        store.close().await.unwrap();

        let read = world.store.events(session, 1, 100).await.unwrap();
        assert_eq!(read, appended);
        let again: Vec<_> = read
            .iter()
            .map(|event| event.read().unwrap().body)
            .collect();
        assert_eq!(again, bodies);
    };
    let runtime = tokio::runtime::Handle::current();
    tokio::task::block_in_place(|| {
        let mut cases = proptest::test_runner::TestRunner::new(config);
        cases.run(&texts, |texts| {
            runtime.block_on(restart(texts));
            Ok(())
        })
    })
    .unwrap();
}

async fn a_page_of_the_log_has_a_bound_in_bytes(world: World) {
    let session = world.session().await;
    let (long, longest) = (text(&"x".repeat(1_000_000)), text(&"ü".repeat(3_000_000)));
    for body in [&long, &long, &long, &long, &long, &longest, &long] {
        let append = AppendEvents::new(std::slice::from_ref(body));
        world.commit(session, append).await.unwrap();
    }
    let mut after = 1;
    let mut pages = Vec::new();
    loop {
        let page = world.store.events(session, after, 5_000).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.seq;
        pages.push(page.len());
    }
    // An event that is longer than a page has one of its own.
    assert_eq!(pages, [4, 1, 1, 1]);
    assert_eq!(after, 8);
    let few = world.store.events(session, 0, 3).await.unwrap();
    assert_eq!(few.len(), 3);
}
