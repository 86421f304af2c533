//! Follows the browser's events, and remembers as much of them as verbs need. Everything here is bounded.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::browser::{
    BrowserChange, DownloadEntry, DownloadState, LONGEST_WEB_URL, MOST_LOG_ENTRIES, TabNumber,
    page_label,
};
use serde::Deserialize;
use tokio::{sync::watch, time::Instant};

use super::{
    devtools::{EventSink, TargetInfo},
    tab_record::TabRecord,
};

/// The most changes that are remembered until the next verb.
const MOST_CHANGES: usize = 50;
/// The most tabs that are followed.
const MOST_FOLLOWED: usize = 200;

/// The state of the browser, as it reported it.
#[derive(Debug)]
pub(super) struct Observer {
    seen: Mutex<Observed>,
    /// Counts the events, so that tasks can wait for the next one.
    changed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Observed {
    /// True while events are kept. Nothing is remembered of the time of a person's control.
    pub(super) is_on: bool,
    pub(super) tabs: Vec<TabRecord>,
    pub(super) current: Option<TabNumber>,
    pub(super) downloads: Vec<DownloadRecord>,
    pub(super) changes: Vec<BrowserChange>,
    pub(super) folder: PathBuf,
    /// The script with which new documents get the local storage that was loaded.
    pub(super) storage_script: Option<String>,
    last_number: u32,
    n_downloads: u32,
}

#[derive(Debug)]
pub(super) struct DownloadRecord {
    id: u32,
    guid: String,
    pub(super) entry: DownloadEntry,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AboutTarget {
    pub(super) target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoneTarget {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttachedChild {
    session_id: String,
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detached {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WillDownload {
    guid: String,
    url: String,
    suggested_filename: String,
    frame_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Downloading {
    guid: String,
    received_bytes: f64,
    state: String,
    file_path: Option<String>,
}

impl Observer {
    pub(super) fn new(folder: PathBuf) -> Self {
        let seen = Observed {
            folder,
            ..Observed::default()
        };
        Self {
            seen: Mutex::new(seen),
            changed: watch::Sender::new(0),
        }
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Observed> {
        // No code under this lock panics halfway.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets everything but the numbers of tabs, and keeps nothing more until it is switched on again.
    pub(super) fn forget(&self) {
        let mut seen = self.seen();
        *seen = Observed {
            last_number: seen.last_number,
            n_downloads: seen.n_downloads,
            folder: std::mem::take(&mut seen.folder),
            storage_script: seen.storage_script.take(),
            ..Observed::default()
        };
    }

    /// Waits until a condition holds. Returns `None` after `most`.
    pub(super) async fn until<T>(
        &self,
        most: Duration,
        mut reached: impl FnMut(&mut Observed) -> Option<T>,
    ) -> Option<T> {
        let give_up_at = Instant::now() + most;
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            if let Some(found) = reached(&mut self.seen()) {
                return Some(found);
            }
            let next = tokio::time::timeout_at(give_up_at, changed.changed());
            if !matches!(next.await, Ok(Ok(()))) {
                return reached(&mut self.seen());
            }
        }
    }
}

impl EventSink for Observer {
    fn hear(&self, session: Option<&str>, method: &str, params: &str) {
        {
            let mut seen = self.seen();
            if !seen.is_on {
                return;
            }
            // An event that cannot be read is one that we do not know.
            let _ = seen.take_in(session, method, params);
        }
        self.changed.send_modify(|n_events| *n_events += 1);
    }
}

impl Observed {
    pub(super) fn tab(&mut self, number: TabNumber) -> Option<&mut TabRecord> {
        self.tabs.iter_mut().find(|tab| tab.number == number)
    }

    fn take_in(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &str,
    ) -> serde_json::Result<()> {
        match method {
            "Target.targetCreated" | "Target.targetInfoChanged" => {
                self.saw_target(serde_json::from_str::<AboutTarget>(params)?.target_info);
            }
            "Target.targetDestroyed" => {
                self.lost_target(&serde_json::from_str::<GoneTarget>(params)?.target_id);
            }
            "Target.targetCrashed" => {
                self.saw_crash(&serde_json::from_str::<GoneTarget>(params)?.target_id);
            }
            "Target.attachedToTarget" => {
                let child: AttachedChild = serde_json::from_str(params)?;
                // Those without a session were asked for by their id.
                if let Some(tab) = session.and_then(|session| self.tab_of(session)) {
                    tab.add_frame(child.session_id, &child.target_info);
                }
            }
            "Target.detachedFromTarget" => {
                let gone: Detached = serde_json::from_str(params)?;
                for tab in &mut self.tabs {
                    tab.remove_frame(&gone.session_id);
                }
            }
            "Browser.downloadWillBegin" => self.saw_download(serde_json::from_str(params)?),
            "Browser.downloadProgress" => self.saw_progress(&serde_json::from_str(params)?),
            _ => {
                if let Some(tab) = session.and_then(|session| self.tab_of(session)) {
                    tab.take_in(method, params)?;
                }
            }
        }
        Ok(())
    }

    fn tab_of(&mut self, session: &str) -> Option<&mut TabRecord> {
        self.tabs.iter_mut().find(|tab| tab.has_session(session))
    }

    fn saw_target(&mut self, info: TargetInfo) {
        if info.kind != "page" || info.url.starts_with("devtools:") {
            return;
        }
        let found = self
            .tabs
            .iter_mut()
            .find(|tab| tab.target == info.target_id);
        if let Some(tab) = found {
            tab.url = page_label(&info.url, LONGEST_WEB_URL);
            tab.title = info.title;
            return;
        }
        if self.tabs.len() >= MOST_FOLLOWED {
            return;
        }
        self.last_number += 1;
        let number = TabNumber(self.last_number);
        let opener = info.opener_id.as_ref();
        let opener = self.tabs.iter().find(|tab| Some(&tab.target) == opener);
        // A window that the current page opens comes to the front.
        if opener.is_some_and(|opener| Some(opener.number) == self.current) {
            self.current = Some(number);
        }
        let tab = TabRecord::new(number, info);
        let url = tab.url.clone();
        self.tabs.push(tab);
        self.note(BrowserChange::TabOpened { tab: number, url });
    }

    fn lost_target(&mut self, id: &str) {
        let Some(place) = self.tabs.iter().position(|tab| tab.target == id) else {
            return;
        };
        let tab = self.tabs.remove(place).number;
        if self.current == Some(tab) {
            self.current = self.tabs.last().map(|tab| tab.number);
        }
        self.note(BrowserChange::TabClosed { tab });
    }

    fn saw_crash(&mut self, id: &str) {
        let found = self.tabs.iter_mut().find(|tab| tab.target == id);
        let Some(tab) = found.filter(|tab| !tab.is_crashed) else {
            return;
        };
        tab.is_crashed = true;
        let tab = tab.number;
        self.note(BrowserChange::TabCrashed { tab });
    }

    fn saw_download(&mut self, download: WillDownload) {
        let mut tabs = self.tabs.iter_mut();
        if let Some(tab) = tabs.find(|tab| tab.target == download.frame_id) {
            tab.is_loading = false;
        }
        let name = Path::new(&download.suggested_filename).file_name();
        let path = self.folder.join(name.unwrap_or_default());
        let entry = DownloadEntry {
            url: page_label(&download.url, LONGEST_WEB_URL),
            path: path.to_string_lossy().into_owned(),
            n_bytes: 0,
            state: DownloadState::Running,
        };
        self.n_downloads += 1;
        let id = self.n_downloads;
        self.note(BrowserChange::DownloadStarted {
            id,
            url: entry.url.clone(),
            path: entry.path.clone(),
        });
        if self.downloads.len() >= MOST_LOG_ENTRIES {
            self.downloads.remove(0);
        }
        let guid = download.guid;
        self.downloads.push(DownloadRecord { id, guid, entry });
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and no file is that large"
    )]
    fn saw_progress(&mut self, progress: &Downloading) {
        let mut downloads = self.downloads.iter_mut();
        let Some(download) = downloads.find(|download| download.guid == progress.guid) else {
            return;
        };
        let entry = &mut download.entry;
        entry.n_bytes = progress.received_bytes as u64;
        entry.state = match &*progress.state {
            "completed" => DownloadState::Complete,
            "canceled" => DownloadState::Cancelled,
            _ => return,
        };
        if let Some(path) = &progress.file_path {
            entry.path.clone_from(path);
        }
        let change = BrowserChange::DownloadEnded {
            id: download.id,
            url: entry.url.clone(),
            path: entry.path.clone(),
            state: entry.state,
            n_bytes: entry.n_bytes,
        };
        self.note(change);
    }

    pub(super) fn note(&mut self, change: BrowserChange) {
        if self.changes.len() < MOST_CHANGES {
            self.changes.push(change);
        }
    }
}
