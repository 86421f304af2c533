//! The eight correctness properties of the session engine, each as one law over generated cases,
//! through HTTP and WebSocket, on SQLite and on PostgreSQL.

mod bad_ids;
mod independence;
mod messages;
mod monitoring;
mod restarts;
mod screens;
mod streams;
mod tools;

use std::{cell::RefCell, fmt::Debug};

use deskhand_core::id::SessionId;
use deskhand_testkit::{ServerOptions, new_postgres_database};
use proptest::{
    strategy::Strategy,
    test_runner::{Config, TestRunner},
};

use crate::world::unlimited;

/// How many cases are tried on each database.
const CASES: u32 = 100;
/// How long a case that failed is made smaller.
const SHRINK_MS: u32 = 40_000;

#[derive(Debug, Clone, Copy)]
enum Database {
    Sqlite,
    Postgres,
}

impl Database {
    /// What a server needs to use a new one.
    async fn options(self) -> ServerOptions {
        let mut options = ServerOptions {
            variables: unlimited(),
            ..ServerOptions::default()
        };
        if let Self::Postgres = self {
            let name = format!("law_{}", SessionId::new()).replace('-', "_");
            let url = new_postgres_database(&name).await;
            options
                .variables
                .push(("DESKHAND_DATABASE".to_owned(), url));
        }
        options
    }
}

/// Tries a law on both databases. All cases share the world that `open` makes, so a law leaves it
/// as it can be used by the next case, also when it fails.
fn for_all<S, W>(
    cases: &S,
    open: &impl AsyncFn(ServerOptions) -> W,
    law: &impl AsyncFn(&mut W, S::Value),
) where
    S: Strategy,
    S::Value: Debug,
{
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for database in [Database::Sqlite, Database::Postgres] {
        let world = runtime.block_on(async { open(database.options().await).await });
        let world = RefCell::new(world);
        let mut runner = TestRunner::new(Config {
            cases: CASES,
            failure_persistence: None,
            max_shrink_time: SHRINK_MS,
            ..Config::default()
        });
        let tried = runner.run(cases, |case| {
            runtime.block_on(law(&mut world.borrow_mut(), case));
            Ok(())
        });
        if let Err(broken) = tried {
            panic!("on {database:?}: {broken}");
        }
    }
}

/// The same options for a server that knows these scenarios, as name and YAML.
fn knowing(mut options: ServerOptions, scenarios: &[(&str, &str)]) -> ServerOptions {
    let owned = |(name, yaml): &(&str, &str)| ((*name).to_owned(), (*yaml).to_owned());
    options.scenarios.extend(scenarios.iter().map(owned));
    options
}

/// The same options for a server without computers, for laws that are not about them: a session
/// then costs nothing, and is told at once that there is no desktop.
fn without_computers(mut options: ServerOptions) -> ServerOptions {
    let bubblewrap = "DESKHAND_SANDBOX_BUBBLEWRAP".to_owned();
    options.variables.push((bubblewrap, "/nowhere".to_owned()));
    options
}
