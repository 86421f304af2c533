//! Pages, tabs, dialogs and the settings of the browser.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{IN_GROUP, and_read, browse};
use crate::tools::{Effect, hand::HandTool};

pub(super) static NAVIGATE: HandTool<BrowserNavigateInput> = HandTool {
    name: "browser_navigate",
    title: "Open a page",
    description: "Open an address in the browser and wait until the page has loaded. Returns its title and address; \
        browser_snapshot has its content.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let open = json!({ "action": "navigate", "url": input.url, "tab": input.tab });
        let acts = browse(input.session_id, open);
        Ok(and_read(acts, input.snapshot, input.tab))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserNavigateInput {
    session_id: String,
    /// An http or https address, or one of back, forward and reload.
    url: String,
    /// The number of the tab. Without it, the current one.
    #[serde(default)]
    tab: Option<u32>,
    /// Also return the page as `browser_snapshot` does.
    #[serde(default)]
    snapshot: Option<bool>,
}

pub(super) static TABS: HandTool<BrowserTabsInput> = HandTool {
    name: "browser_tabs",
    title: "Use tabs",
    description: "List the tabs of the browser with their numbers, open a new one, make another one the current one, or \
        close one. Returns the list.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let action = match input.action {
            TabAction::List => "list_tabs",
            TabAction::New => "new_tab",
            TabAction::Select => "select_tab",
            TabAction::Close => "close_tab",
        };
        let act = json!({ "action": action, "url": input.url, "tab": input.tab });
        Ok(browse(input.session_id, act))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserTabsInput {
    session_id: String,
    action: TabAction,
    /// The number of the tab, for select and close.
    #[serde(default)]
    tab: Option<u32>,
    /// The page of a new tab.
    #[serde(default)]
    url: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TabAction {
    List,
    New,
    Select,
    Close,
}

pub(super) static HANDLE_DIALOG: HandTool<BrowserHandleDialogInput> = HandTool {
    name: "browser_handle_dialog",
    title: "Answer a dialog",
    description: "Accept or dismiss the dialog that a page has opened: alert, confirm, prompt or the question if the \
        page may be left. Nothing else works on the page until then.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let act = json!({ "action": "dialog", "accept": input.accept, "text": input.text });
        Ok(browse(input.session_id, act))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserHandleDialogInput {
    session_id: String,
    accept: bool,
    /// The answer to a prompt.
    #[serde(default)]
    text: Option<String>,
}

pub(super) static DOWNLOADS: HandTool<BrowserDownloadsInput> = HandTool {
    name: "browser_downloads",
    title: "List downloads",
    description: "List the files that the browser has downloaded, with their paths on the computer. file_read reads them.",
    groups: IN_GROUP,
    effect: Effect::Reads,
    acts: |input| Ok(browse(input.session_id, json!({ "action": "downloads" }))),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserDownloadsInput {
    session_id: String,
}

pub(super) static RESIZE: HandTool<BrowserResizeInput> = HandTool {
    name: "browser_resize",
    title: "Change the viewport",
    description: "Show the current tab's pages in another size, language or time zone. What is absent becomes that of the \
        browser again.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let act = json!({
            "action": "emulate",
            "width": input.width,
            "height": input.height,
            "scale": input.scale,
            "locale": input.locale,
            "time_zone": input.time_zone,
        });
        Ok(browse(input.session_id, act))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserResizeInput {
    session_id: String,
    /// The width of the page in CSS pixels, with height.
    #[serde(default)]
    width: Option<u16>,
    #[serde(default)]
    height: Option<u16>,
    /// The pixels per CSS pixel, from 0.5 to 4.
    #[serde(default)]
    scale: Option<f64>,
    /// A language such as de-DE.
    #[serde(default)]
    locale: Option<String>,
    /// A time zone such as Europe/Berlin.
    #[serde(default)]
    time_zone: Option<String>,
}

pub(super) static STORAGE_STATE: HandTool<BrowserStorageStateInput> = HandTool {
    name: "browser_storage_state",
    title: "Save or load cookies",
    description: "Save the cookies and local storage of the browser to a file of the computer, or load them from one.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let action = match input.action {
            StorageAction::Save => "save_state",
            StorageAction::Load => "load_state",
        };
        let act = json!({ "action": action, "path": input.path });
        Ok(browse(input.session_id, act))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserStorageStateInput {
    session_id: String,
    action: StorageAction,
    /// The file on the computer.
    path: String,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StorageAction {
    Save,
    Load,
}
