//! The browser of a computer: everything that can be asked of it, and its bounds.
//!
//! Points are CSS pixels from the top left corner of the visible part of a page. Elements are named by references
//! that a reading of the page returned.

mod capture;
mod check;
mod element_ref;
mod page_element;
mod player;
mod pointed_element;
mod reply;
mod state;
mod web_url;

use serde::{Deserialize, Serialize};

pub use self::{
    capture::{CAPTURED_TITLE, CaptureWish},
    check::BadVerb,
    element_ref::{BadElementRef, ElementRef},
    page_element::{PageElement, page_elements},
    player::{PageMedia, PlayerState, PlayerWish},
    pointed_element::{
        ActivatingKey, ElementAt, LONGEST_SURROUNDING_TEXT, PointedElement, plain_key_name,
        types_enter,
    },
    reply::{
        Browsed, BrowserChange, BrowserFinding, ConsoleEntry, DownloadEntry, DownloadState,
        NetworkEntry, OpenDialog, PageState, TabEntry, page_label,
    },
    state::{BrowserState, ShownPage},
    web_url::{BadWebUrl, WebUrl},
};
use crate::{
    action::{Button, Point, Region},
    blob::BlobFormat,
};

/// The most characters of a page's text, tree or log in a reply.
pub const LONGEST_PAGE_TEXT: usize = 50_000;
/// The most characters of a title, a name or another single text that a page controls.
pub const LONGEST_PAGE_LABEL: usize = 200;
/// The most characters of an address.
pub const LONGEST_WEB_URL: usize = 2_000;
/// The most tabs in a reply. No more are opened.
pub const MOST_TABS: usize = 50;
/// The most elements that a search returns.
pub const MOST_MATCHES: usize = 20;
/// The most entries of the console, of the network or of the downloads that are kept for a tab.
pub const MOST_LOG_ENTRIES: usize = 100;
/// The most bytes of a text that is typed or of a script.
pub const LONGEST_TYPED_BYTES: usize = 100_000;
/// The most files that are given to a page at once.
pub const MOST_UPLOADS: usize = 10;
/// The longest wait for something on a page.
pub const LONGEST_PAGE_WAIT_MS: u64 = 60_000;
/// The longest time that a key is held, or that nothing is done.
pub const LONGEST_PAGE_PAUSE_MS: u64 = 30_000;
/// The most points of a drag.
pub const MOST_DRAG_POINTS: usize = 200;
/// The longest side of an emulated viewport.
pub const LONGEST_VIEWPORT_SIDE: u16 = 2_000;

/// Carries out one verb in the browser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Browse {
    /// The tab. If absent, it is the current one.
    #[serde(default)]
    pub tab: Option<TabNumber>,
    pub verb: BrowserVerb,
    /// Sends a picture of the visible part of the page with the reply.
    #[serde(default)]
    pub look: Option<BlobFormat>,
}

/// The number of a tab. It is never used again in the same browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TabNumber(pub u32);

impl std::fmt::Display for TabNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A place on a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PagePlace {
    Element(ElementRef),
    Point(Point),
}

/// The part of a page that a picture shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageArea {
    Viewport,
    WholePage,
    Element(ElementRef),
    /// A part of the visible part, shown as large as fits.
    Region(Region),
}

/// The content of a form's field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldValue {
    Text(String),
    Checked(bool),
}

/// The condition that a wait is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageCondition {
    /// The page shows this text.
    Text(String),
    /// The page no longer shows this text.
    NoText(String),
    /// An element that this CSS selector matches is visible.
    Selector(String),
    /// The address contains this text.
    Url(String),
    /// The page has loaded, its requests have ended and it no longer changes.
    Quiet,
}

/// The elements that a reading of a page returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeFilter {
    #[default]
    All,
    /// Only elements that can be used, such as links, buttons and fields.
    Interactive,
}

/// The properties of the browser that a page is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Emulation {
    /// The size of the visible part of the page, and the number of pixels per CSS pixel in hundredths.
    pub viewport: Option<EmulatedViewport>,
    /// A language such as `de-DE`.
    pub locale: Option<String>,
    /// A time zone such as `Europe/Berlin`.
    pub time_zone: Option<String>,
}

/// The size of an emulated viewport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmulatedViewport {
    pub width: u16,
    pub height: u16,
    /// The pixels per CSS pixel, in hundredths.
    pub scale_percent: u16,
}

/// Everything that can be asked of a browser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrowserVerb {
    Screenshot {
        area: PageArea,
        format: BlobFormat,
    },
    /// Clicks `count` times (1 to 3). An element is scrolled into view first, and must be visible, at rest and not
    /// covered.
    Click {
        at: PagePlace,
        button: Button,
        count: u8,
        modifiers: Vec<String>,
    },
    /// Moves the pointer.
    Hover {
        at: PagePlace,
    },
    /// Presses the left button at a place, and holds it until [`BrowserVerb::MouseUp`] or the end of the tab.
    MouseDown {
        at: PagePlace,
    },
    /// Moves the pointer and releases the left button.
    MouseUp {
        at: PagePlace,
    },
    /// Drags along a path of at least two places.
    Drag {
        path: Vec<PagePlace>,
        modifiers: Vec<String>,
    },
    /// Scrolls by CSS pixels. Positive `dy` is down, positive `dx` is right.
    Scroll {
        at: Option<PagePlace>,
        dx: i32,
        dy: i32,
        modifiers: Vec<String>,
    },
    ScrollTo {
        at: ElementRef,
    },
    /// Types into the focused element, or into the one at `at`, which is clicked first.
    Type {
        at: Option<PagePlace>,
        text: String,
        /// Presses Enter afterwards.
        submit: bool,
    },
    /// Presses a chord such as `ctrl+a`, or several separated by spaces.
    Press {
        keys: String,
        repeat: u8,
    },
    /// Holds a chord for a time.
    HoldKey {
        keys: String,
        ms: u64,
    },
    /// Replaces the content of a field. In a `select`, a text is the option to select.
    Fill {
        at: ElementRef,
        value: FieldValue,
    },
    /// Selects options of a `select`, by their values or labels.
    Select {
        at: ElementRef,
        options: Vec<String>,
    },
    /// Gives files to a file field, or to the element whose click opens a file chooser.
    Upload {
        at: ElementRef,
        paths: Vec<String>,
    },
    Wait {
        until: PageCondition,
        timeout_ms: u64,
    },
    /// Does nothing for a time.
    Pause {
        ms: u64,
    },
    Navigate {
        url: WebUrl,
    },
    Back,
    Forward,
    Reload,
    ListTabs,
    NewTab {
        url: Option<WebUrl>,
    },
    SelectTab,
    CloseTab,
    /// Accepts or dismisses the dialog that the page opened.
    AnswerDialog {
        accept: bool,
        text: Option<String>,
    },
    /// Reads the page as lines of text, in which elements that can be used have references.
    ReadPage {
        filter: TreeFilter,
        /// The element to begin with. If absent, it is the whole page.
        at: Option<ElementRef>,
        /// The number of levels to read. If absent, all are read.
        depth: Option<u16>,
    },
    ReadText,
    /// Finds elements whose line in the tree contains this text.
    Find {
        text: String,
    },
    Downloads,
    Console,
    Network,
    /// Evaluates an expression in the page. It is switched off unless the operator allows it.
    Script {
        text: String,
    },
    /// Prints the page to a PDF file.
    Pdf {
        path: Option<String>,
    },
    /// Changes what the tab's pages are shown. Absent properties become those of the browser again.
    Emulate(Emulation),
    /// Saves cookies and local storage to a file.
    SaveState {
        path: String,
    },
    /// Loads cookies and local storage from a file.
    LoadState {
        path: String,
    },
    /// Uses the player of the page. Neither models nor people are offered it: streams are started with it.
    Player(PlayerWish),
    /// Lets pages capture a tab. Neither models nor people are offered it: streams are shared with it.
    Capture(CaptureWish),
    /// Returns the address and the size of the visible part.
    Capabilities,
    /// Closes the browser with all its tabs. The next verb starts it again.
    Close,
}

impl Browse {
    /// Creates a request for the current tab, without a picture.
    pub fn new(verb: BrowserVerb) -> Self {
        Self {
            tab: None,
            verb,
            look: None,
        }
    }
}

impl BrowserVerb {
    /// Returns true if the verb changes nothing, neither the page nor the browser.
    pub fn is_look(&self) -> bool {
        matches!(
            self,
            Self::Screenshot { .. }
                | Self::Wait { .. }
                | Self::Pause { .. }
                | Self::ListTabs
                | Self::ReadPage { .. }
                | Self::ReadText
                | Self::Find { .. }
                | Self::Downloads
                | Self::Console
                | Self::Network
                | Self::Player(PlayerWish::Look)
                | Self::Capabilities
        )
    }
}
