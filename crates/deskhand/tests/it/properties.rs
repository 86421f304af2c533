//! Those correctness properties of the session engine that need real computers or the program's own log, each over a
//! few generated cases. `deskhand-world` tries the same laws, and the others, over many.

mod independence;
mod monitoring;
mod screens;
mod tools;

use std::{cell::RefCell, fmt::Debug};

use deskhand_testkit::ServerOptions;
use proptest::{
    strategy::Strategy,
    test_runner::{Config, TestRunner},
};

use crate::world::{setting, unlimited};

/// How many cases are tried. `LAW_CASES` sets another number.
const CASES: u64 = 4;
/// How long a case that failed is made smaller.
const SHRINK_MS: u32 = 40_000;

/// Tries a law. All cases share the server that `open` starts, so a law leaves it as it can be used by the next case,
/// also when it fails.
fn for_all<S, W>(
    cases: &S,
    open: &impl AsyncFn(ServerOptions) -> W,
    law: &impl AsyncFn(&mut W, S::Value),
) where
    S: Strategy,
    S::Value: Debug,
{
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = ServerOptions {
        variables: unlimited(),
        ..ServerOptions::default()
    };
    let world = RefCell::new(runtime.block_on(open(options)));
    let n_cases = setting("LAW_CASES").unwrap_or(CASES);
    let mut runner = TestRunner::new(Config {
        cases: u32::try_from(n_cases).unwrap(),
        failure_persistence: None,
        max_shrink_time: SHRINK_MS,
        ..Config::default()
    });
    let tried = runner.run(cases, |case| {
        runtime.block_on(law(&mut world.borrow_mut(), case));
        Ok(())
    });
    if let Err(broken) = tried {
        panic!("{broken}");
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
