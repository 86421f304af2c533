//! The browser of a sandbox and its command line.
//!
//! Chromium keeps its own sandbox around web pages: bubblewrap lets it create user namespaces inside, which costs
//! no measurable time.

use std::path::{Path, PathBuf};

use deskhand_core::computer::ComputerKind;

/// The paths of browsers, best first.
///
/// Debian's `/usr/bin/chromium` is a script that adds its own flags, so the program behind it comes first.
const PROGRAMS: [&str; 4] = [
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome-stable",
];

/// The path of the start page in every sandbox.
pub(crate) const START_PAGE: &str = "/run/deskhand/start.html";

const FLAGS: [&str; 25] = [
    "--user-data-dir=/home/agent/.config/chromium",
    // The runner asks for the focused field before it types a secret. It is a pipe and not a port, so that other
    // programs in the sandbox cannot reach it. It also makes Chromium tell pages that a program drives it
    // (`navigator.webdriver`), which is true and stays so.
    "--remote-debugging-pipe",
    // No welcome page, no questions, no bubbles.
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-default-apps",
    "--disable-search-engine-choice-screen",
    "--disable-session-crashed-bubble",
    "--hide-crash-restore-bubble",
    "--disable-infobars",
    "--password-store=basic",
    // With RenderDocument, a page drops all input until it is painted, even if it comes from the same site as the
    // page before it. With the two for the omnibox, each window loads two pages for the suggestions below its address,
    // which take longer than the rest of the browser's start and 60 MB; there are suggestions without them, too.
    "--disable-features=Translate,MediaRouter,OptimizationHints,GlobalMediaControls,RenderDocument,\
     WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    // Disable everything that calls home: each attempt costs time, and is listed among the hosts that the agent
    // contacted.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-sync",
    "--disable-quic",
    "--no-pings",
    "--disable-extensions",
    // The updater and the browser's own sign-in ask even when they are switched off. Nothing listens here. Pages that
    // people sign in to are not affected.
    "--component-updater=url-source=http://127.0.0.1:9",
    "--gaia-url=http://127.0.0.1:9",
    "--disable-breakpad",
    // There is no graphics card.
    "--disable-gpu",
    // The timers of a page in the background should not slow the agent down.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
];

/// The flag of a desktop's browser.
const ON_DESKTOP: [&str; 1] = ["--start-maximized"];

/// The flag of a browser without a screen. It is the same program as on a desktop, and not the smaller one that only has
/// this mode, so that pages behave alike.
const HEADLESS: [&str; 1] = ["--headless=new"];

/// The folders in which the browser looks for settings of the toolkit, such as modules to load. They are in a part of
/// the sandbox that nobody can write to, and not in the home.
const ENVIRONMENT: [&str; 2] = [
    "XDG_CONFIG_HOME=/run/deskhand/browser",
    "XDG_DATA_HOME=/run/deskhand/browser",
];

/// Returns the browser's program and arguments on a computer of this kind, or nothing if there is no browser.
pub(crate) fn command_line(computer: ComputerKind) -> Vec<String> {
    let Some(program) = program() else {
        return Vec::new();
    };
    let mut command_line = vec!["/usr/bin/env".to_owned()];
    command_line.extend(ENVIRONMENT.map(str::to_owned));
    command_line.push(program.display().to_string());
    command_line.extend(FLAGS.map(str::to_owned));
    match computer {
        ComputerKind::Desktop => {
            command_line.extend(ON_DESKTOP.map(str::to_owned));
            command_line.push(format!("file://{START_PAGE}"));
        }
        ComputerKind::Browser => {
            command_line.extend(HEADLESS.map(str::to_owned));
            command_line.push("about:blank".to_owned());
        }
    }
    command_line
}

/// Returns the browser that sandboxes get, if one is installed.
pub(crate) fn program() -> Option<PathBuf> {
    PROGRAMS
        .iter()
        .map(Path::new)
        .find(|program| program.is_file())
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_from_sites_that_an_agent_drives() {
        for flag in FLAGS.into_iter().chain(ON_DESKTOP).chain(HEADLESS) {
            let hides = ["AutomationControlled", "--user-agent", "--no-sandbox"];
            assert!(hides.iter().all(|hide| !flag.contains(hide)), "{flag}");
        }
        assert!(FLAGS.contains(&"--remote-debugging-pipe"));
    }

    #[test]
    fn the_browser_reads_no_settings_of_the_toolkit_from_the_home() {
        if program().is_none() {
            return deskhand_testkit::not_run("Chromium is not installed");
        }
        for computer in [ComputerKind::Desktop, ComputerKind::Browser] {
            assert_eq!(
                command_line(computer)[..3],
                [
                    "/usr/bin/env",
                    "XDG_CONFIG_HOME=/run/deskhand/browser",
                    "XDG_DATA_HOME=/run/deskhand/browser",
                ]
            );
        }
    }
}
