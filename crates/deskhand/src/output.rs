//! Writing to the two standard streams.
//!
//! Answers go to standard output so that they can be piped; everything else goes to standard
//! error.

use std::io::{self, Write};

/// Writes a line to standard output. Fails if the reader has closed it.
pub(crate) fn answer(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

/// Writes a line to standard error.
pub(crate) fn say(line: &str) {
    // There is nowhere left to report that standard error is closed.
    let _ = writeln!(io::stderr().lock(), "{line}");
}
