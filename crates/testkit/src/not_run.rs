//! Tests that cannot run here say why.

use std::{fs::OpenOptions, io::Write};

/// The file that `scripts/test` reads at the end.
const REPORT: &str = "DESKHAND_TEST_NOT_RUN";

/// Reports that the current test shows nothing on this machine, and why. The test then returns.
#[expect(clippy::print_stderr, reason = "a test run by hand says it too")]
pub fn not_run(why: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    eprint!("not run: {line}");
    if let Some(report) = std::env::var_os(REPORT) {
        // Tests run at the same time, and a short line is appended whole.
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(report)
            .unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}
