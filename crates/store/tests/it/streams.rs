//! Streams: admission, moves by compare-and-set, and figures.

use std::time::Duration;

use deskhand_core::{
    id::SessionId,
    stream::StreamState::{self, Ended, Failed, Pending, Starting, Stopping, Streaming},
};
use deskhand_store::{MoveStream, NewStream, StreamAdmission};
use jiff::Timestamp;
use uuid::Uuid;

use crate::{World, on_both_databases};

on_both_databases! {
    a_stream_is_accepted_once_and_while_there_is_room,
    there_is_no_more_room_for_streams_that_are_asked_for_at_once,
    streams_that_ended_long_ago_are_removed,
    the_usual_start_is_that_of_the_last_streams,
    a_stream_moves_only_from_the_state_that_it_is_in,
    the_figures_are_those_of_the_rows,
    the_history_comes_in_pages_newest_first,
}

fn start() -> Timestamp {
    "2026-02-07T12:00:00Z".parse().unwrap()
}

fn new(id: Uuid) -> NewStream<'static> {
    NewStream {
        id,
        request: r#"{"url":"https://videos.example/"}"#,
        created_at: start(),
    }
}

/// Moves a stream at this many seconds after the start.
async fn go(world: &World, id: Uuid, from: StreamState, to: StreamState, seconds: u64) -> bool {
    let change = MoveStream {
        id,
        from,
        to,
        at: start() + Duration::from_secs(seconds),
        error: (to == Failed).then(|| ("ERR_UNKNOWN".to_owned(), "a reason".to_owned())),
    };
    world.store.move_stream(&change).await.unwrap()
}

async fn a_stream_is_accepted_once_and_while_there_is_room(world: World) {
    let store = &world.store;
    let (first, second) = (Uuid::now_v7(), Uuid::now_v7());
    let insert = async |id, most| store.insert_stream(new(id), most).await.unwrap();
    assert_eq!(insert(first, 1).await, StreamAdmission::Accepted);
    assert_eq!(insert(first, 1).await, StreamAdmission::Known);
    assert_eq!(insert(second, 1).await, StreamAdmission::Full);
    assert_eq!(insert(second, 2).await, StreamAdmission::Accepted);
    let open = store.open_streams().await.unwrap();
    let ids: Vec<_> = open.iter().map(|row| row.id).collect();
    assert_eq!(ids, [first, second]);

    assert!(go(&world, first, Pending, Failed, 1).await);
    assert_eq!(store.open_streams().await.unwrap().len(), 1);
    assert_eq!(insert(first, 9).await, StreamAdmission::Known);
    assert!(store.stream(Uuid::now_v7()).await.unwrap().is_none());
}

async fn there_is_no_more_room_for_streams_that_are_asked_for_at_once(world: World) {
    let ids: Vec<_> = (0..4).map(|_| Uuid::now_v7()).collect();
    // Each of them is asked for twice.
    let asked = ids.iter().chain(&ids);
    let inserts = asked.map(|id| world.store.insert_stream(new(*id), 2));
    let made = futures::future::join_all(inserts).await;
    let made: Vec<_> = made.into_iter().map(Result::unwrap).collect();
    let count = |wanted| made.iter().filter(|one| **one == wanted).count();
    assert_eq!(
        (
            count(StreamAdmission::Accepted),
            count(StreamAdmission::Known)
        ),
        (2, 2)
    );
}

async fn streams_that_ended_long_ago_are_removed(world: World) {
    let store = &world.store;
    let ids = [1_u128, 2, 3, 4].map(Uuid::from_u128);
    for (id, end) in ids.into_iter().zip([Some(10), Some(20), Some(90), None]) {
        store.insert_stream(new(id), 9).await.unwrap();
        if let Some(end) = end {
            assert!(go(&world, id, Pending, Failed, end).await);
        }
    }
    let before = start() + Duration::from_secs(60);
    let remove = async || store.remove_streams_ended_before(before, 1).await.unwrap();
    assert_eq!((remove().await, remove().await, remove().await), (1, 1, 0));
    let page = store.stream_history(None, 9).await.unwrap();
    let kept: Vec<_> = page.rows.iter().map(|row| row.id).collect();
    assert_eq!(kept, [ids[3], ids[2]]);
}

async fn the_usual_start_is_that_of_the_last_streams(world: World) {
    let store = &world.store;
    assert_eq!(store.usual_start_seconds().await.unwrap(), None);
    // The first one took very long, and is too old to count.
    for n in 0..51_u64 {
        let (id, asked_at) = (Uuid::from_u128(n.into()), Duration::from_secs(n));
        let new = NewStream {
            created_at: start() + asked_at,
            ..new(id)
        };
        store.insert_stream(new, 99).await.unwrap();
        assert!(go(&world, id, Pending, Starting, n).await);
        let took = if n == 0 { 1000 } else { 8 };
        assert!(go(&world, id, Starting, Streaming, n + took).await);
    }
    let usual = store.usual_start_seconds().await.unwrap().unwrap();
    assert!((usual - 8.0).abs() < 0.01, "{usual}");
}

async fn a_stream_moves_only_from_the_state_that_it_is_in(world: World) {
    let (store, id) = (&world.store, Uuid::now_v7());
    store.insert_stream(new(id), 1).await.unwrap();
    assert!(
        !go(&world, id, Starting, Streaming, 1).await,
        "it is pending"
    );
    assert!(
        !go(&world, id, Pending, Ended, 1).await,
        "there is no such move"
    );
    assert!(go(&world, id, Pending, Starting, 1).await);
    assert!(!go(&world, id, Pending, Starting, 1).await, "only once");
    assert!(go(&world, id, Starting, Streaming, 9).await);

    let (session, link) = (SessionId::new(), Uuid::now_v7());
    store.set_stream_session(id, Some(session)).await.unwrap();
    store.set_stream_link(id, Some(link)).await.unwrap();
    let row = store.stream(id).await.unwrap().unwrap();
    assert_eq!((row.state, row.session), (Streaming, Some(session)));
    assert_eq!(row.watch_link, Some(link));
    assert_eq!(row.started_at, Some(start() + Duration::from_secs(9)));
    store.set_stream_link(id, None).await.unwrap();

    assert!(go(&world, id, Streaming, Failed, 20).await);
    assert!(!go(&world, id, Streaming, Stopping, 21).await);
    let row = store.stream(id).await.unwrap().unwrap();
    assert_eq!((row.state, row.watch_link), (Failed, None));
    assert_eq!(row.error_code.as_deref(), Some("ERR_UNKNOWN"));
    assert_eq!(row.error_message.as_deref(), Some("a reason"));
    assert_eq!(row.ended_at, Some(start() + Duration::from_secs(20)));
}

async fn the_figures_are_those_of_the_rows(world: World) {
    let store = &world.store;
    assert_eq!(store.stream_figures().await.unwrap().n_total, 0);
    for (at, end) in [(4, Some(Ended)), (8, Some(Failed)), (0, None)] {
        let id = Uuid::now_v7();
        store.insert_stream(new(id), 9).await.unwrap();
        store.add_stream_cost(id, 2, 0.25).await.unwrap();
        if let Some(end) = end {
            assert!(go(&world, id, Pending, Starting, 1).await);
            assert!(go(&world, id, Starting, Streaming, at).await);
            assert!(go(&world, id, Streaming, end, at + 60).await);
        }
    }
    let figures = store.stream_figures().await.unwrap();
    assert_eq!(
        (figures.n_total, figures.n_successful, figures.n_failed),
        (3, 1, 1)
    );
    assert!((figures.streaming_seconds - 120.0).abs() < 0.01);
    assert!((figures.cost_usd - 0.75).abs() < 1e-6);
    assert!((figures.average_start_seconds - 6.0).abs() < 0.01);
}

async fn the_history_comes_in_pages_newest_first(world: World) {
    let store = &world.store;
    let page = store.stream_history(None, 2).await.unwrap();
    assert_eq!((page.rows.len(), page.next), (0, None));
    // The last two were asked for in the same moment. Ids of callers say nothing about time.
    let ids = [9_u128, 3, 5, 4].map(Uuid::from_u128);
    for (id, seconds) in ids.into_iter().zip([0, 1, 2, 2]) {
        let new = NewStream {
            created_at: start() + Duration::from_secs(seconds),
            ..new(id)
        };
        store.insert_stream(new, 9).await.unwrap();
    }
    let read = async |before| {
        let page = store.stream_history(before, 2).await.unwrap();
        let ids: Vec<_> = page.rows.iter().map(|row| row.id).collect();
        (ids, page.next)
    };
    assert_eq!(read(None).await, (vec![ids[2], ids[3]], Some(ids[3])));
    assert_eq!(
        read(Some(ids[2])).await,
        (vec![ids[3], ids[1]], Some(ids[1]))
    );
    assert_eq!(read(Some(ids[3])).await, (vec![ids[1], ids[0]], None));
    assert_eq!(read(Some(Uuid::from_u128(77))).await, (vec![], None));
}
