//! The browser over DevTools: its focused field, secrets shown on its pages, pending input, and the verbs of the agent.

mod capture;
mod devtools;
mod dialogs;
mod errors;
mod field;
mod forms;
mod frames;
mod keys;
mod navigation;
mod observer;
mod pace;
mod pictures;
mod player;
mod pointed;
mod pointer;
mod reading;
mod settings;
mod settle;
mod sight;
mod snapshot;
mod storage;
mod tab;
mod tab_record;
mod tabs;
mod verbs;

use std::{
    io,
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use deskhand_core::{action::ScreenSize, tasks::Tasks};

pub use self::{devtools::DevToolsError, errors::BrowseError, field::FillError};
use self::{
    devtools::{DevTools, Target},
    observer::Observer,
};
pub(crate) use self::{
    errors::browse_failed,
    sight::{Sight, Unclear, Until},
};

/// The flag that makes the browser speak DevTools with its parent over the descriptors 3 and 4.
pub(crate) const DEVTOOLS_FLAG: &str = "--remote-debugging-pipe";

/// The settings of a browser that carries out verbs.
#[derive(Debug, Clone, Default)]
pub struct BrowserSettings {
    /// The home folder. Downloads go to a folder in it, and paths may begin with `~/`.
    pub home: PathBuf,
    /// True if the agent may run scripts in pages.
    pub allows_scripts: bool,
    /// The size of a page where there is no screen. Absent on a desktop, where windows have sizes.
    pub viewport: Option<ScreenSize>,
}

/// A browser that was started with [`DEVTOOLS_FLAG`].
#[derive(Debug, Clone)]
pub(crate) struct Browser {
    devtools: DevTools,
    observer: Arc<Observer>,
    settings: Arc<BrowserSettings>,
    /// The page on which a verb holds a mouse button down, and the place.
    held: Arc<Mutex<Option<HeldButton>>>,
    /// The keys that a verb holds down.
    held_keys: Arc<Mutex<Option<HeldKeys>>>,
    /// The id of its main process.
    pub(crate) pid: u32,
}

/// A mouse button that a verb holds down.
#[derive(Debug)]
struct HeldButton {
    page: Target,
    x: f64,
    y: f64,
}

/// Keys that a verb holds down.
#[derive(Debug)]
struct HeldKeys {
    page: Target,
    /// The events that release them.
    releases: Vec<serde_json::Value>,
}

impl Browser {
    /// Connects to the browser that holds the other end of `socket`.
    pub(crate) fn new(
        pid: u32,
        socket: UnixStream,
        settings: BrowserSettings,
        tasks: &Tasks,
    ) -> io::Result<Self> {
        let observer = Arc::new(Observer::new(settings.home.join("Downloads")));
        let sink = Arc::clone(&observer);
        let devtools = DevTools::open(socket, sink, tasks)?;
        Ok(Self {
            devtools,
            observer,
            settings: Arc::new(settings),
            held: Arc::default(),
            held_keys: Arc::default(),
            pid,
        })
    }

    /// Returns true if the browser no longer answers.
    pub(crate) fn is_gone(&self) -> bool {
        self.devtools.is_closed()
    }

    /// Notes that this browser replaces one that ended, for the reply to the next verb.
    pub(crate) fn note_restart(&self) {
        let change = deskhand_core::browser::BrowserChange::BrowserRestarted;
        self.observer.seen().note(change);
    }

    /// Stops following the tabs, and forgets everything about them. The next verb begins anew.
    pub(crate) async fn leave(&self) {
        self.let_go().await;
        let sessions: Vec<String> = {
            let seen = self.observer.seen();
            let sessions = seen.tabs.iter().filter_map(|tab| tab.session.clone());
            sessions.collect()
        };
        self.observer.forget();
        let left = sessions
            .into_iter()
            .map(|session| self.devtools.target(session).detach());
        futures::future::join_all(left).await;
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<HeldButton>> {
        // No code under this lock panics halfway.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held_keys(&self) -> std::sync::MutexGuard<'_, Option<HeldKeys>> {
        // No code under this lock panics halfway.
        self.held_keys
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
