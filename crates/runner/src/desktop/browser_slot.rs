//! The browser of a computer, which is started again for the next verb if it has ended.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    StartDesktopError,
    programs::{self, Supervisor},
};
use crate::browser::{BrowseError, Browser, BrowserSettings, DEVTOOLS_FLAG};

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

    /// Returns the browser. It is started if it is not running.
    pub(crate) fn running_again(&self) -> Result<Browser, BrowseError> {
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
        programs::start_browser(
            &self.supervisor,
            &self.variables,
            &self.argv,
            &self.settings,
        )
    }
}
