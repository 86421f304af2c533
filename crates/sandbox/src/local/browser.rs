//! The browser of a sandbox: which one, and how it is started.
//!
//! Chromium keeps its own sandbox around web pages: bubblewrap leaves it the right to make
//! user namespaces inside, and that costs no measurable time.

use std::path::{Path, PathBuf};

/// Where browsers are, best first. Debian's `/usr/bin/chromium` is a script that adds flags of
/// its own, so the program behind it comes first.
const PROGRAMS: [&str; 4] = [
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome-stable",
];

/// Where the start page is in every sandbox.
pub(crate) const START_PAGE: &str = "/run/deskhand/start.html";

const FLAGS: [&str; 24] = [
    "--user-data-dir=/home/agent/.config/chromium",
    "--start-maximized",
    // The runner asks which field has the focus before it types a secret. A pipe and no port: other
    // programs in the sandbox cannot reach it.
    "--remote-debugging-pipe",
    // Pages are used with mouse and keyboard. The pipe alone would have them told otherwise.
    "--disable-blink-features=AutomationControlled",
    // No welcome, no questions, no bubbles.
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-default-apps",
    "--disable-search-engine-choice-screen",
    "--disable-session-crashed-bubble",
    "--hide-crash-restore-bubble",
    "--disable-infobars",
    "--password-store=basic",
    "--disable-features=Translate,MediaRouter,OptimizationHints,GlobalMediaControls",
    // Nothing that calls home: there is no network, and each attempt costs time.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--disable-quic",
    "--no-pings",
    "--disable-breakpad",
    // There is no graphics card.
    "--disable-gpu",
    // The clock of a page that nobody looks at should not slow the agent down.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
];

/// The browser's program and arguments; empty if there is no browser.
pub(crate) fn command_line() -> Vec<String> {
    let Some(program) = program() else {
        return Vec::new();
    };
    let mut command_line = vec![program.display().to_string()];
    command_line.extend(FLAGS.map(str::to_owned));
    command_line.push(format!("file://{START_PAGE}"));
    command_line
}

/// The browser that sandboxes get.
pub(crate) fn program() -> Option<PathBuf> {
    PROGRAMS
        .iter()
        .map(Path::new)
        .find(|program| program.is_file())
        .map(Path::to_owned)
}
