//! Correctness properties of the session engine, each as one law over generated cases, through HTTP and WebSocket, on
//! SQLite and on PostgreSQL.

mod bad_ids;
mod independence;
mod messages;
mod monitoring;
mod restarts;
mod screens;
mod streams;
mod tools;

use std::{cell::RefCell, fmt::Debug};

use deskhand_world::{Database, WorldOptions};
use proptest::{
    strategy::Strategy,
    test_runner::{Config, TestRunner},
};

/// The variable with the number of cases on each database, instead of the usual ones.
const CASES: &str = "LAW_CASES";
/// How long a case that failed is made smaller.
const SHRINK_MS: u32 = 40_000;

/// How many cases are tried on a database. What differs between databases is tested in `store`.
fn n_cases(database: Database) -> u32 {
    match (std::env::var(CASES), database) {
        (Ok(cases), _) => {
            let cases = cases.parse();
            cases.unwrap_or_else(|_| panic!("{CASES} is not a number"))
        }
        (Err(_), Database::Sqlite) => 20,
        (Err(_), Database::Postgres) => 5,
    }
}

/// Tries a law on both databases. All cases share the world that `open` makes, so a law leaves it as it can be used by
/// the next case, also when it fails.
fn for_all<S, W>(
    cases: &S,
    open: &impl AsyncFn(WorldOptions) -> W,
    law: &impl AsyncFn(&mut W, S::Value),
) where
    S: Strategy,
    S::Value: Debug,
{
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for database in [Database::Sqlite, Database::Postgres] {
        let options = WorldOptions {
            database,
            ..WorldOptions::default()
        };
        let world = RefCell::new(runtime.block_on(open(options)));
        let mut runner = TestRunner::new(Config {
            cases: n_cases(database),
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
