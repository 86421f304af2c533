//! The state of the browser after a call, as the browser tools of vendors report it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Browsed, BrowserChange, DownloadState, OpenDialog, TabEntry};
use crate::action::ScreenSize;

/// The state of the browser after a call. It is stored with the call's result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BrowserState {
    pub tabs: Vec<TabEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<BrowserChange>,
    /// The dialog that keeps the page from doing anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<OpenDialog>,
    /// The sizes of the page and of its picture, if the result has a picture of the visible part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<ShownPage>,
}

/// The visible part of a page, and the picture of it that a model is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPage {
    /// The size of the visible part in CSS pixels.
    pub viewport: ScreenSize,
    /// The size of the picture.
    pub shown: ScreenSize,
}

impl BrowserState {
    /// Returns the state that a reply reports. Its picture has the size that the model is shown.
    pub fn of(browsed: &Browsed) -> Self {
        let page = browsed.viewport.zip(browsed.frame.as_ref());
        Self {
            tabs: browsed.tabs.clone(),
            changes: browsed.changes.clone(),
            dialog: browsed.page.as_ref().and_then(|page| page.dialog.clone()),
            page: page.map(|(viewport, frame)| ShownPage {
                viewport,
                shown: frame.size,
            }),
        }
    }

    /// Returns the current tab.
    pub fn current(&self) -> Option<&TabEntry> {
        self.tabs.iter().find(|tab| tab.is_current)
    }

    /// Returns the address of the current tab.
    pub fn url(&self) -> Option<&str> {
        self.current().map(|tab| &*tab.url)
    }

    /// Returns a sentence about everything that no picture shows. Words of the page are in quotes.
    pub fn news(&self) -> Vec<String> {
        let dialog = self.dialog.as_ref().map(|OpenDialog { kind, message }| {
            format!(
                "The page shows a dialog ({kind}): {message:?}. Answer it with the action dialog, or press Enter to \
                 accept it or Escape to dismiss it."
            )
        });
        let changes = self.changes.iter().map(BrowserChange::to_string);
        dialog.into_iter().chain(changes).collect()
    }
}

impl fmt::Display for BrowserChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TabOpened { tab, url } => write!(f, "Tab {tab} opened: {url}"),
            Self::TabClosed { tab } => write!(f, "Tab {tab} was closed."),
            Self::TabCrashed { tab } => {
                write!(f, "Tab {tab} crashed. Reload it, or open another one.")
            }
            Self::DownloadStarted { path, .. } => write!(f, "A download started: {path}"),
            Self::DownloadEnded {
                path,
                state,
                n_bytes,
                ..
            } => write!(f, "A download {state}: {path} ({n_bytes} bytes)"),
            Self::BrowserRestarted => {
                f.write_str("The browser had ended and was started again. All tabs are new.")
            }
        }
    }
}

impl fmt::Display for DownloadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "is running",
            Self::Complete => "is complete",
            Self::Cancelled => "was cancelled",
        })
    }
}
