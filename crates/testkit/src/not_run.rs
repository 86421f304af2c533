//! Tests that cannot run here, and their reasons.

use std::{fs::OpenOptions, io::Write};

/// The file that `scripts/test` reads at the end.
const REPORT: &str = "DESKHAND_TEST_NOT_RUN";

/// Reports that the current test checks nothing on this machine, and why. The test then returns.
#[expect(clippy::print_stderr, reason = "a test run by hand says it too")]
pub fn not_run(why: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    eprint!("not run: {line}");
    if let Some(report) = std::env::var_os(REPORT) {
        // Tests run concurrently, and a short line is appended in one piece.
        let opened = OpenOptions::new().append(true).create(true).open(report);
        // A test that runs as another user may not reach the file. It has said so above.
        if let Ok(mut file) = opened {
            file.write_all(line.as_bytes()).unwrap();
        }
    }
}
