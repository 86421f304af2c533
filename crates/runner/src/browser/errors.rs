//! Errors of verbs. Their texts are for the model.

use std::{io, path::PathBuf};

use deskhand_core::browser::{BadVerb, ElementRef, LONGEST_PAGE_LABEL, TabNumber, page_label};

use super::DevToolsError;
use crate::desktop::{PictureError, UnknownKey};

/// Reasons why a verb was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum BrowseError {
    #[error(transparent)]
    Bad(#[from] BadVerb),
    #[error(transparent)]
    Key(#[from] UnknownKey),
    #[error("this computer has no browser that can be driven")]
    NoBrowser,
    #[error("no page is open yet: open one with the tool browser")]
    NotStarted,
    #[error("could not start the browser")]
    Start(#[source] io::Error),
    #[error("there is no tab {0}: list the tabs")]
    NoTab(TabNumber),
    #[error("there are too many tabs: close some first")]
    TooManyTabs,
    #[error("tab {0} crashed: reload it, or open another one")]
    Crashed(TabNumber),
    #[error(
        "the page shows a dialog ({kind}: “{message}”): answer it first, with the action dialog, or press Enter to \
         accept it or Escape to dismiss it"
    )]
    Dialog { kind: String, message: String },
    #[error("no dialog is open")]
    NoDialog,
    #[error("{0} is no longer on the page: read the page again")]
    Stale(ElementRef),
    #[error("{0} is not visible: scroll or open what contains it, or read the page again")]
    Hidden(ElementRef),
    #[error("{0} is disabled")]
    Disabled(ElementRef),
    #[error("{element} is covered by {by}: close or move that first")]
    Covered { element: ElementRef, by: String },
    #[error("{0} does not stop moving")]
    Moving(ElementRef),
    #[error(
        "the point ({x}, {y}) is outside the visible part of the page, which is {width}×{height}"
    )]
    Outside {
        x: i32,
        y: i32,
        width: i32,
        height: i32,
    },
    #[error("{0} is read-only or disabled")]
    Locked(ElementRef),
    #[error("{0} cannot be filled in like this: click it, then type or choose")]
    NoField(ElementRef),
    #[error("{0} did not accept the value: check its format")]
    Refused(ElementRef),
    #[error("{0} has no such option: read the page to see its options")]
    NoOption(ElementRef),
    #[error("{0} takes one option only")]
    SingleOption(ElementRef),
    #[error("a click on {0} opened no file chooser")]
    NoChooser(ElementRef),
    #[error("cannot use the file {path}")]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{0} is not a saved state of a browser")]
    BadState(PathBuf),
    #[error("could not open the page: {0}")]
    Navigation(String),
    #[error("the page did not answer within {0} s, and loading was stopped")]
    NoResponse(u64),
    #[error("there is no page to go to")]
    NoHistory,
    #[error("the page did not get there within {0} ms")]
    WaitedInVain(u64),
    #[error(
        "scripts are switched off here: use the other actions, or ask the operator for sandbox.browser_scripts"
    )]
    ScriptsOff,
    #[error("the script failed: {0}")]
    Script(String),
    #[error("no picture was taken: a secret may be visible, and its place on the page is unclear")]
    Unclear,
    #[error("could not make the picture")]
    Picture(#[from] PictureError),
    #[error("the browser sent a picture that cannot be read")]
    BadPicture,
    #[error("{0}")]
    DevTools(#[from] DevToolsError),
    #[error("the action was cancelled")]
    Cancelled,
}

impl BrowseError {
    pub(super) fn covered(element: ElementRef, by: &str) -> Self {
        let by = page_label(by, LONGEST_PAGE_LABEL);
        Self::Covered { element, by }
    }
}

/// Wraps an error of a file.
pub(crate) fn browse_failed(path: PathBuf) -> impl FnOnce(io::Error) -> BrowseError {
    move |source| BrowseError::File { path, source }
}
