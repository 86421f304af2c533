//! The browser of a desktop, which is started again for the next verb if it has ended.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    StartDesktopError,
    programs::{self, Supervisor},
};
use crate::browser::{BrowseError, Browser, BrowserSettings, DEVTOOLS_FLAG};

/// The browser of a desktop. Clones share it.
#[derive(Clone)]
pub(super) struct BrowserSlot(Arc<SlotParts>);

struct SlotParts {
    supervisor: Supervisor,
    display: String,
    /// The program and its arguments.
    argv: Vec<String>,
    settings: BrowserSettings,
    browser: Mutex<Option<Browser>>,
}

impl std::fmt::Debug for BrowserSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrowserSlot").finish_non_exhaustive()
    }
}

impl BrowserSlot {
    /// Starts the browser, if there is one.
    pub(super) fn start(
        supervisor: Supervisor,
        display: String,
        argv: Vec<String>,
        settings: BrowserSettings,
    ) -> Result<Self, StartDesktopError> {
        let browser = programs::start_browser(&supervisor, &display, &argv, &settings)?;
        Ok(Self(Arc::new(SlotParts {
            supervisor,
            display,
            argv,
            settings,
            browser: Mutex::new(browser),
        })))
    }

    /// Returns the browser, as long as it can be asked.
    pub(super) fn running(&self) -> Option<Browser> {
        // No code under this lock panics halfway.
        let browser = self
            .0
            .browser
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        browser.clone().filter(|browser| !browser.is_gone())
    }

    /// Returns the browser. One that has ended is started again.
    pub(super) fn running_again(&self) -> Result<Browser, BrowseError> {
        if let Some(browser) = self.running() {
            return Ok(browser);
        }
        let SlotParts {
            supervisor,
            display,
            argv,
            settings,
            browser,
        } = &*self.0;
        if !argv.iter().any(|word| word == DEVTOOLS_FLAG) {
            return Err(BrowseError::NoBrowser);
        }
        let started = programs::start_browser(supervisor, display, argv, settings);
        let started = started.map_err(|error| BrowseError::Start(io::Error::other(error)))?;
        let started = started.ok_or(BrowseError::NoBrowser)?;
        started.note_restart();
        let mut browser = browser.lock().unwrap_or_else(PoisonError::into_inner);
        *browser = Some(started.clone());
        Ok(started)
    }
}
