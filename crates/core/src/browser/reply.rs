//! Replies of the browser. Everything in them that a page controls is bounded, and is not to be trusted.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{PageMedia, TabNumber};
use crate::{
    action::ScreenSize,
    plain::is_deceptive,
    sandbox::{Frame, OperationReply},
};

/// The reply to a verb.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Browsed {
    /// The current tab. Absent if no tab is open.
    pub page: Option<PageState>,
    pub finding: BrowserFinding,
    /// Things that happened since the last verb, apart from the verb's own effect on the page.
    pub changes: Vec<BrowserChange>,
    pub tabs: Vec<TabEntry>,
    pub frame: Option<Frame>,
    /// The size of the visible part in CSS pixels, if the picture shows exactly that.
    pub viewport: Option<ScreenSize>,
}

/// The state of the current tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageState {
    pub tab: TabNumber,
    pub url: String,
    pub title: String,
    /// True if the page was still loading when the verb ended.
    pub is_loading: bool,
    /// The dialog that keeps the page from doing anything else.
    pub dialog: Option<OpenDialog>,
}

/// A dialog of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenDialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    pub message: String,
}

/// A fact that a verb found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrowserFinding {
    /// The verb has no result of its own.
    Done,
    /// A part of the page as text.
    Text {
        text: String,
        is_cut: bool,
    },
    Tabs(Vec<TabEntry>),
    Downloads(Vec<DownloadEntry>),
    Console(Vec<ConsoleEntry>),
    Network(Vec<NetworkEntry>),
    /// The value of a script, as JSON.
    Value(String),
    /// A file was written.
    File {
        path: String,
        n_bytes: u64,
    },
    /// The player of the page, after its wish.
    Media(PageMedia),
    Capabilities {
        viewport: ScreenSize,
        /// The pixels per CSS pixel, in hundredths.
        scale_percent: u16,
        is_headless: bool,
    },
}

/// A tab in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabEntry {
    pub tab: TabNumber,
    pub url: String,
    pub title: String,
    pub is_current: bool,
}

/// A file that the browser downloads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownloadEntry {
    pub url: String,
    /// The path of the file, which is complete only when the state says so.
    pub path: String,
    pub n_bytes: u64,
    pub state: DownloadState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DownloadState {
    Running,
    Complete,
    Cancelled,
}

/// A message on the console, or an error that no script caught.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleEntry {
    /// `log`, `warning`, `error` and so on.
    pub level: String,
    pub text: String,
}

/// A request of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkEntry {
    pub method: String,
    pub url: String,
    /// The status of the response. Absent while there is none.
    pub status: Option<u16>,
    /// The reason why there is no response.
    pub failure: Option<String>,
}

/// Something that happened in the browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrowserChange {
    TabOpened {
        tab: TabNumber,
        url: String,
    },
    TabClosed {
        tab: TabNumber,
    },
    TabCrashed {
        tab: TabNumber,
    },
    DownloadStarted {
        /// The number of the download in this browser.
        id: u32,
        url: String,
        path: String,
    },
    DownloadEnded {
        id: u32,
        url: String,
        path: String,
        state: DownloadState,
        n_bytes: u64,
    },
    /// The browser had ended and was started again: all tabs are new.
    BrowserRestarted,
}

impl OperationReply for Browsed {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        if let Some(page) = &mut self.page {
            visit(&mut page.url);
            visit(&mut page.title);
            if let Some(dialog) = &mut page.dialog {
                visit(&mut dialog.message);
            }
        }
        self.finding.for_each_text(visit);
        for tab in &mut self.tabs {
            visit(&mut tab.url);
            visit(&mut tab.title);
        }
        for change in &mut self.changes {
            match change {
                BrowserChange::TabOpened { url, .. } => visit(url),
                BrowserChange::DownloadStarted { url, path, .. }
                | BrowserChange::DownloadEnded { url, path, .. } => {
                    visit(url);
                    visit(path);
                }
                BrowserChange::TabClosed { .. }
                | BrowserChange::TabCrashed { .. }
                | BrowserChange::BrowserRestarted => {}
            }
        }
    }

    fn attachment(&mut self) -> Option<&mut Bytes> {
        self.frame.as_mut().map(|frame| &mut frame.bytes)
    }
}

impl BrowserFinding {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Done | Self::Media(_) | Self::Capabilities { .. } => {}
            Self::Text { text, .. } | Self::Value(text) | Self::File { path: text, .. } => {
                visit(text);
            }
            Self::Tabs(tabs) => {
                for tab in tabs {
                    visit(&mut tab.url);
                    visit(&mut tab.title);
                }
            }
            Self::Downloads(downloads) => {
                for download in downloads {
                    visit(&mut download.url);
                    visit(&mut download.path);
                }
            }
            Self::Console(entries) => entries.iter_mut().for_each(|entry| visit(&mut entry.text)),
            Self::Network(entries) => {
                for entry in entries {
                    visit(&mut entry.url);
                    entry.failure.iter_mut().for_each(&mut *visit);
                }
            }
        }
    }
}

/// Returns a text that a page controls on one line, without deceptive characters and with at most `most` characters.
pub fn page_label(text: &str, most: usize) -> String {
    let plain = text
        .chars()
        .map(|one| if one.is_whitespace() { ' ' } else { one });
    let mut label: String = plain
        .filter(|one| !is_deceptive(*one))
        .take(most + 1)
        .collect();
    if let Some((end, _)) = label.char_indices().nth(most) {
        label.truncate(end);
        label.push('…');
    }
    label
}
