//! The browser of a computer, which is started again for the next verb if it has ended.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use deskhand_core::browser::{BrowserVerb, CAPTURED_TITLE, CaptureWish};

use super::{
    StartDesktopError,
    programs::{self, Supervisor},
};
use crate::browser::{BrowseError, Browser, BrowserSettings, DEVTOOLS_FLAG};

/// The flag with which the browser gives pages that ask for a screen the tab with this title, and asks nobody.
const CAPTURE_FLAG: &str = "--auto-select-tab-capture-source-by-title";

/// The browser of a computer, started or not. Clones share it.
#[derive(Clone)]
pub(crate) struct BrowserSlot(Arc<SlotParts>);

struct SlotParts {
    supervisor: Supervisor,
    /// Its environment variables, in addition to the runner's own.
    variables: BTreeMap<String, String>,
    /// The program and its arguments.
    argv: Vec<String>,
    settings: BrowserSettings,
    /// True once pages may capture the marked tab.
    allows_capture: AtomicBool,
    /// Absent until it is started for the first time, and if it cannot be driven.
    browser: Mutex<Option<Browser>>,
}

impl std::fmt::Debug for BrowserSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrowserSlot").finish_non_exhaustive()
    }
}

impl BrowserSlot {
    /// Creates the slot of a browser. Nothing is started yet.
    pub(crate) fn new(
        supervisor: Supervisor,
        variables: BTreeMap<String, String>,
        argv: Vec<String>,
        settings: BrowserSettings,
    ) -> Self {
        Self(Arc::new(SlotParts {
            supervisor,
            variables,
            argv,
            settings,
            allows_capture: AtomicBool::new(false),
            browser: Mutex::default(),
        }))
    }

    /// Starts the browser, if there is one.
    pub(super) fn start(&self) -> Result<(), StartDesktopError> {
        let started = self.0.start()?;
        *self.browser() = started;
        Ok(())
    }

    /// Returns the browser, as long as it can be asked.
    pub(crate) fn running(&self) -> Option<Browser> {
        let browser = self.browser().clone();
        browser.filter(|browser| !browser.is_gone())
    }

    /// Returns the browser for a verb. It is started if it is not running, or if it has to be another one.
    pub(crate) async fn ready_for(&self, verb: &BrowserVerb) -> Result<Browser, BrowseError> {
        if *verb == BrowserVerb::Capture(CaptureWish::Allow)
            && !self.0.allows_capture.swap(true, Ordering::Relaxed)
            && let Some(browser) = self.running()
        {
            browser.close().await?;
        }
        self.running_again()
    }

    fn running_again(&self) -> Result<Browser, BrowseError> {
        if let Some(browser) = self.running() {
            return Ok(browser);
        }
        if !self.0.argv.iter().any(|word| word == DEVTOOLS_FLAG) {
            return Err(BrowseError::NoBrowser);
        }
        let started = self.0.start();
        let started = started.map_err(|error| BrowseError::Start(io::Error::other(error)))?;
        let started = started.ok_or(BrowseError::NoBrowser)?;
        if self.browser().replace(started.clone()).is_some() {
            started.note_restart();
        }
        Ok(started)
    }

    fn browser(&self) -> MutexGuard<'_, Option<Browser>> {
        // No code under this lock panics halfway.
        let browser = self.0.browser.lock();
        browser.unwrap_or_else(PoisonError::into_inner)
    }
}

impl SlotParts {
    fn start(&self) -> Result<Option<Browser>, StartDesktopError> {
        let mut argv = self.argv.clone();
        if !argv.is_empty() && self.allows_capture.load(Ordering::Relaxed) {
            argv.push(format!("{CAPTURE_FLAG}={CAPTURED_TITLE}"));
        }
        programs::start_browser(&self.supervisor, &self.variables, &argv, &self.settings)
    }
}
