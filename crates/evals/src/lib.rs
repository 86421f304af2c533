//! Suites of tasks that measure models: their format, the built-in ones, and the figures of their results.
//!
//! A suite is data. `deskhand_app` carries out its tasks in sessions; here is everything about them that needs no
//! session, and the server of their pages inside a sandbox.

mod builtin;
mod double;
mod figures;
mod pages;
mod place;
mod suite;

pub use builtin::{BUILT_IN, BuiltIn};
pub use double::Double;
pub use figures::{Rate, median};
pub use pages::{ServePagesError, serve_pages};
pub use place::{ANSWER, CHECK, FOLDER, PAGES, PAGES_PORT, SETUP, SUBMISSIONS, script};
pub use suite::{EvalTask, LARGEST_SUITE_BYTES, ReadSuiteError, Suite, SuiteNetwork, TaskLimits};
