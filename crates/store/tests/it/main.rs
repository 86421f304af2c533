//! The store as the app uses it, on a real database.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a surprise here is a failed test"
)]

mod audit;
mod blobs;
mod briefing;
mod budgets;
mod commit;
mod decisions;
mod edit;
mod evals;
mod figures;
mod gateway;
mod lease;
mod limits;
mod log;
mod offers;
mod people;
mod queue;
mod rights;
mod secrets;
mod servers;
mod sign_ins;
mod streams;
mod tls;
mod tokens;

use deskhand_core::{
    audit::{AuditStamp, Requester},
    budget::Budget,
    clock::{Clock, SystemClock},
    computer::{ComputerKind, DrivingTools},
    id::{SessionId, UserId},
    network::policy::NetworkPolicy,
    policy::Policy,
    user::UserRole,
};
use deskhand_store::{Change, Committed, NewSession, NewUser, Store};
use jiff::Timestamp;

/// Makes each of the named functions a test on SQLite and one on PostgreSQL.
macro_rules! on_both_databases {
    ($($name:ident,)*) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::World::on_sqlite().await).await;
            })*
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::World::on_postgres().await).await;
            })*
        }
    };
}
use on_both_databases;

/// A store of its own, with one user.
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) user: UserId,
    pub(crate) url: String,
    _dir: tempfile::TempDir,
}

impl World {
    pub(crate) async fn on_sqlite() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/test.db", dir.path().display());
        Self::at(url, dir).await
    }

    /// In a database of its own on the server that `scripts/with-postgres` has started.
    pub(crate) async fn on_postgres() -> Self {
        Self::at(new_postgres_database().await, tempfile::tempdir().unwrap()).await
    }

    async fn at(url: String, dir: tempfile::TempDir) -> Self {
        let store = Store::open(&url).await.unwrap();
        let user = UserId::new();
        let new = NewUser {
            id: user,
            name: "ada",
            role: UserRole::Admin,
            created_at: SystemClock.now(),
        };
        let stamp = Requester::SERVER.at(new.created_at);
        assert!(store.insert_user(new, stamp).await.unwrap());
        Self {
            store,
            user,
            url,
            _dir: dir,
        }
    }

    /// Another user.
    pub(crate) async fn user_named(&self, name: &str, role: UserRole) -> UserId {
        let new = NewUser {
            id: UserId::new(),
            name,
            role,
            created_at: SystemClock.now(),
        };
        let id = new.id;
        assert!(self.store.insert_user(new, self.stamp()).await.unwrap());
        id
    }

    /// The first user, now.
    pub(crate) fn stamp(&self) -> AuditStamp {
        Requester::from(self.user).at(SystemClock.now())
    }

    /// Makes a change now.
    pub(crate) async fn commit<C: Change>(
        &self,
        session: SessionId,
        change: C,
    ) -> Result<Committed<C::Output>, C::Refusal> {
        commit_at(&self.store, SystemClock.now(), session, change).await
    }

    pub(crate) async fn session(&self) -> SessionId {
        self.session_of(self.user).await
    }

    pub(crate) async fn session_of(&self, owner: UserId) -> SessionId {
        let id = SessionId::new();
        let new = NewSession {
            id,
            owner,
            title: "",
            model: "scripted/demo",
            effort: None,
            computer: ComputerKind::Desktop,
            tools: &DrivingTools::default(),
            instructions: "",
            metadata: &serde_json::json!({"team": "x"}),
            approvals: &Policy::default(),
            network: &NetworkPolicy::default(),
            mcp_servers: &[],
            budget: Budget::default(),
            is_counted: true,
            created_at: SystemClock.now(),
        };
        self.store.insert_session(new).await.unwrap();
        id
    }
}

/// A clock that stands still.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At(pub(crate) Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Makes a change at this time.
pub(crate) async fn commit_at<C: Change>(
    store: &Store,
    at: Timestamp,
    session: SessionId,
    change: C,
) -> Result<Committed<C::Output>, C::Refusal> {
    let committed = store.commit(session, change, &At(at)).await.unwrap();
    committed.map_err(|refused| refused.refusal)
}

/// The address of a new, empty database.
pub(crate) async fn new_postgres_database() -> String {
    let server = std::env::var("DESKHAND_TEST_POSTGRES")
        .expect("tests on PostgreSQL need a server: run them with scripts/with-postgres");
    let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let name = format!("test_{}", uuid::Uuid::now_v7().simple());
    client
        .batch_execute(&format!("CREATE DATABASE {name}"))
        .await
        .unwrap();
    let (address, _) = server.rsplit_once('/').unwrap();
    format!("{address}/{name}?sslmode=disable")
}
