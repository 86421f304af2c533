//! Results of Anthropic's browser toolset, and the state of the browser that they report.

use deskhand_core::{
    browser::{
        BrowserChange, BrowserState, DownloadState, ElementRef, LONGEST_PAGE_TEXT, PageElement,
        TabEntry, page_elements, page_label,
    },
    model::{self, CallResult},
};
use serde_json::{Value, json};

use crate::retell;

/// The text of a call after one that failed, exactly as the vendor requires it. It differs from that of the computer.
const HALTED: &str = "Not executed: an earlier action in this turn failed.";
/// The text of a result without one. The vendor would reject an empty one.
const DONE: &str = "OK";
/// The end of a text that is too long.
const CUT: &str = "\n</page>\n[The rest was left out.]";
/// The bounds of a report of the browser's state.
const MOST_TABS: usize = 100;
const MOST_CHANGES: usize = 200;
const LONGEST_TEXT: usize = 4_096;

/// Writes the content of a member's result. Returns `None` if the result can only be an error.
pub(super) fn content(
    member: &str,
    result: &CallResult,
    picture: Option<Value>,
) -> Option<Vec<Value>> {
    let state = result
        .browser
        .as_ref()
        .and_then(|state| state_block(member, state));
    if matches!(member, "new_tab" | "list_tabs" | "switch_tab" | "close_tab") {
        return state.map(|state| vec![state]);
    }
    let text = match member {
        "read_page" | "find" => bounded(tree_in_vendor_refs(&result.text)),
        _ => bounded(result.text.clone()),
    };
    let text = if retell::is_something(&text) {
        &text
    } else {
        DONE
    };
    let text = json!({"type": "text", "text": text});
    Some([Some(text), picture, state].into_iter().flatten().collect())
}

/// Returns a text with as many characters as the vendor accepts. The mark around the content of the page stays closed.
fn bounded(text: String) -> String {
    if text.chars().count() <= LONGEST_PAGE_TEXT {
        return text;
    }
    let n_kept = LONGEST_PAGE_TEXT - CUT.chars().count();
    let kept: String = text.chars().take(n_kept).collect();
    format!("{kept}{CUT}")
}

/// Returns the text of a call that failed.
pub(super) fn failure(text: &str) -> String {
    if text == model::HALTED {
        HALTED.to_owned()
    } else {
        // Errors begin with the reference that they are about.
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        match vendor_ref(first) {
            Some(reference) => format!("{reference} {rest}"),
            None => text.to_owned(),
        }
    }
}

/// Converts the references of a tree to the vendor's spelling: `[button Buy e7]` is `[button Buy ref_7]`.
fn tree_in_vendor_refs(text: &str) -> String {
    let mut converted = String::with_capacity(text.len());
    let mut start = 0;
    for PageElement { reference, at, .. } in page_elements(text) {
        converted.push_str(&text[start..at.start]);
        converted.push_str(&in_vendor_spelling(reference));
        start = at.end;
    }
    converted.push_str(&text[start..]);
    converted
}

fn vendor_ref(word: &str) -> Option<String> {
    let reference: ElementRef = word.parse().ok()?;
    // Other spellings of a reference are words of the page.
    (reference.to_string() == word).then(|| in_vendor_spelling(reference))
}

fn in_vendor_spelling(reference: ElementRef) -> String {
    match reference.frame {
        0 => format!("ref_{}", reference.element),
        _ => format!("ref_{reference}"),
    }
}

/// Writes the state of the browser. Returns `None` if it would break a rule: exactly one tab is active.
fn state_block(member: &str, state: &BrowserState) -> Option<Value> {
    let current = state.current()?;
    let tab = |tab: &TabEntry| {
        json!({
            "tab_id": tab.tab.to_string(),
            "title": clean(&tab.title),
            "url": clean(&tab.url),
            "active": tab.tab == current.tab,
        })
    };
    // The active tab is there, however many there are.
    let others = state.tabs.iter().filter(|other| other.tab != current.tab);
    let kept: Vec<_> = others.take(MOST_TABS - 1).map(|other| other.tab).collect();
    let tabs = state.tabs.iter();
    let tabs = tabs.filter(|other| other.tab == current.tab || kept.contains(&other.tab));
    let mut block = json!({"type": "browser_state", "tabs": tabs.map(tab).collect::<Vec<_>>()});
    let mut changes: Vec<Value> = state.changes.iter().filter_map(change).collect();
    if member == "new_tab" {
        let opened = json!({"type": "tab_opened", "tab_id": current.tab.to_string()});
        changes.retain(|change| change["type"] != "tab_opened");
        changes.insert(0, opened);
    }
    changes.truncate(MOST_CHANGES);
    if !changes.is_empty() {
        block["state_changes"] = changes.into();
    }
    Some(block)
}

fn change(change: &BrowserChange) -> Option<Value> {
    let download = |id: &u32| format!("d{id}");
    match change {
        BrowserChange::TabOpened { tab, .. } => {
            Some(json!({"type": "tab_opened", "tab_id": tab.to_string()}))
        }
        BrowserChange::DownloadStarted { id, url, .. } => Some(json!({
            "type": "download_started",
            "download_id": download(id),
            "url": clean(url),
        })),
        BrowserChange::DownloadEnded {
            id,
            url,
            path,
            state: DownloadState::Complete,
            n_bytes,
        } => Some(json!({
            "type": "download_completed",
            "download_id": download(id),
            "url": clean(url),
            "path": clean(path),
            "size_bytes": n_bytes,
        })),
        BrowserChange::DownloadEnded { id, url, .. } => Some(json!({
            "type": "download_failed",
            "download_id": download(id),
            "url": clean(url),
            "error": "the download was cancelled",
        })),
        // The vendor has no words for these. The text of the result tells them.
        BrowserChange::TabClosed { .. }
        | BrowserChange::TabCrashed { .. }
        | BrowserChange::BrowserRestarted => None,
    }
}

/// Returns a text that a page controls, bounded and without control characters.
fn clean(text: &str) -> String {
    page_label(text, LONGEST_TEXT - 1)
}
