//! One server uses a database at a time.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use deskhand_core::{
    clock::{Clock, SystemClock},
    id::{SessionId, TurnId},
    session::{SandboxState, Signal},
};
use deskhand_store::{NewServer, PhaseMove, Store, StoreError, TakePrompt, Transition};
use uuid::Uuid;

use crate::{World, log::prompt, on_both_databases};

on_both_databases! {
    a_second_server_is_refused_and_told_who_uses_the_database,
    a_busy_session_belongs_to_its_server,
    a_claim_is_renewed,
}

fn server(pid: u32) -> NewServer {
    NewServer {
        host: "tower".to_owned(),
        pid,
        data_dir: PathBuf::from("/var/lib/deskhand"),
    }
}

async fn a_second_server_is_refused_and_told_who_uses_the_database(world: World) {
    let claim = world
        .store
        .claim(&server(4711), &SystemClock)
        .await
        .unwrap();
    let second = Store::open(&world.url).await.unwrap();
    let refused = second.claim(&server(4712), &SystemClock).await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse(_)), "{refused:?}");
    let message = refused.to_string();
    for part in [
        "another server uses the database",
        "process 4711 on tower with the data folder /var/lib/deskhand, started at 20",
        "choose another database with --database",
    ] {
        assert!(message.contains(part), "{message}");
    }
    drop(claim);
    second.claim(&server(4712), &SystemClock).await.unwrap();
}

async fn a_busy_session_belongs_to_its_server(world: World) {
    let _claim = world.store.claim(&server(1), &SystemClock).await.unwrap();
    let session = world.session().await;
    assert_eq!(belongs(&world, session).await, (None, None));
    world.commit(session, prompt(&world, "go")).await.unwrap();
    assert_eq!(belongs(&world, session).await, (None, None));

    let take = TakePrompt {
        turn: TurnId::new(),
    };
    world.commit(session, take).await.unwrap();
    let (owner, epoch) = belongs(&world, session).await;
    assert!(owner.is_some());
    assert_eq!(epoch, Some(1));
    let finish = Transition {
        phase: PhaseMove::Must(Signal::TurnFinished),
        sandbox: Some(SandboxState::Ready),
        ..Transition::default()
    };
    world.commit(session, finish).await.unwrap();
    assert_eq!(belongs(&world, session).await, (owner, epoch));
    let sleep = |sandbox| Transition {
        sandbox: Some(sandbox),
        ..Transition::default()
    };
    world
        .commit(session, sleep(SandboxState::Stopped))
        .await
        .unwrap();
    assert_eq!(belongs(&world, session).await, (None, epoch));
    world
        .commit(session, sleep(SandboxState::Starting))
        .await
        .unwrap();
    assert_eq!(belongs(&world, session).await, (owner, Some(2)));
}

async fn a_claim_is_renewed(world: World) {
    let claim = world.store.claim(&server(1), &SystemClock).await.unwrap();
    let session = world.session().await;
    world.commit(session, prompt(&world, "go")).await.unwrap();
    let take = TakePrompt {
        turn: TurnId::new(),
    };
    world.commit(session, take).await.unwrap();
    let (_, _, before) = owner(&world, session).await;
    let hour = Duration::from_secs(3_600);
    let later = crate::At(SystemClock.now() + hour);
    let keeping = tokio::spawn(claim.keep(Arc::new(later)));
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let (_, _, after) = owner(&world, session).await;
        if after.unwrap() >= before.unwrap() + 3_500_000 {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "not renewed: {before:?} {after:?}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    keeping.abort();
}

/// A session's server, the number of servers it has had, and the time until which it belongs to this one.
type Owner = (Option<Uuid>, Option<i64>, Option<i64>);

async fn owner(world: &World, session: SessionId) -> Owner {
    let sql = "SELECT server_id, server_epoch, server_expires_at_ms FROM sessions WHERE id = $1";
    if let Some(path) = world.url.strip_prefix("sqlite://") {
        let database = rusqlite::Connection::open(path).unwrap();
        let id = session.0.as_bytes().as_slice();
        let row = database.query_row(sql, [id], |row| {
            let server: Option<[u8; 16]> = row.get(0)?;
            Ok((server.map(Uuid::from_bytes), row.get(1)?, row.get(2)?))
        });
        row.unwrap()
    } else {
        let client = connect(&world.url).await;
        let row = client.query_one(sql, &[&session.0]).await.unwrap();
        (row.get(0), row.get(1), row.get(2))
    }
}

/// A session's server and the number of servers it has had.
async fn belongs(world: &World, session: SessionId) -> (Option<Uuid>, Option<i64>) {
    let (server, epoch, expires_at) = owner(world, session).await;
    assert_eq!(server.is_some(), expires_at.is_some());
    (server, epoch)
}

#[tokio::test]
async fn one_sqlite_file_has_one_server_however_it_is_called() {
    let world = World::on_sqlite().await;
    let claim = world.store.claim(&server(1), &SystemClock).await.unwrap();
    let file = PathBuf::from(world.url.strip_prefix("sqlite://").unwrap());
    let elsewhere = tempfile::tempdir().unwrap();
    let alias = elsewhere.path().join("alias.db");
    std::os::unix::fs::symlink(file, &alias).unwrap();
    let second = Store::open(&format!("sqlite://{}", alias.display()))
        .await
        .unwrap();
    let refused = second.claim(&server(2), &SystemClock).await;
    assert!(matches!(refused, Err(StoreError::InUse(_))), "{refused:?}");
    drop(claim);
}

/// Ends the connection that holds the lock, as a restart of the database does.
async fn end_lock(url: &str) {
    let client = connect(url).await;
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND \
               database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    assert_eq!(client.query(sql, &[]).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_lost_connection_does_not_cost_the_claim() {
    let world = World::on_postgres().await;
    let claim = world.store.claim(&server(1), &SystemClock).await.unwrap();
    let keeping = tokio::spawn(claim.keep(Arc::new(SystemClock)));
    for _ in 0..2 {
        // Once the lock is there, it is ended.
        let deadline = Instant::now() + Duration::from_secs(60);
        let client = connect(&world.url).await;
        let sql = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND \
                   database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        while client.query(sql, &[]).await.unwrap().is_empty() {
            assert!(Instant::now() < deadline, "the lock was not taken again");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(!keeping.is_finished());
        end_lock(&world.url).await;
    }
    keeping.abort();
}

#[tokio::test]
async fn a_claim_that_another_server_took_ends() {
    let world = World::on_postgres().await;
    let claim = world.store.claim(&server(1), &SystemClock).await.unwrap();
    end_lock(&world.url).await;
    let second = Store::open(&world.url).await.unwrap();
    let _second = second.claim(&server(2), &SystemClock).await.unwrap();
    let lost = tokio::time::timeout(Duration::from_secs(60), claim.keep(Arc::new(SystemClock)));
    let lost = lost.await.unwrap();
    assert!(lost.to_string().contains("process 2 on tower"), "{lost}");
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let connected = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
    let (client, connection) = connected.unwrap();
    tokio::spawn(connection);
    client
}
