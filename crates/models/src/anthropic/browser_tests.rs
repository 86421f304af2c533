use deskhand_agent::tools;
use deskhand_core::{
    browser::{BrowserChange, DownloadState, TabNumber},
    model::{self, CallResult},
};

use super::*;
use crate::{
    anthropic::browser_results::{content, failure},
    testing::{self, PAGE, SCREEN},
};

/// The 31 members with a call of each, and our input for it.
#[expect(clippy::too_many_lines, reason = "a list of all members")]
fn members() -> Vec<(&'static str, Value, Value)> {
    let point = json!({"type": "coordinate", "x": 10, "y": 20});
    let reference = json!({"type": "ref", "ref": "ref_7"});
    vec![
        (
            "navigate",
            json!({"url": "back"}),
            json!({"action": "navigate", "url": "back", "look": true}),
        ),
        (
            "screenshot",
            json!({"tab_id": "t2"}),
            json!({"action": "screenshot", "tab": 2}),
        ),
        (
            "zoom",
            json!({"region": [0, 0, 100, 50]}),
            json!({"action": "zoom", "region": [0, 0, 200, 100]}),
        ),
        (
            "left_click",
            json!({"target": point, "modifiers": "ctrl+shift"}),
            json!({"action": "click", "x": 21, "y": 41, "modifiers": ["ctrl", "shift"], "look": true}),
        ),
        (
            "right_click",
            json!({"target": reference}),
            json!({"action": "right_click", "ref": "e7", "look": true}),
        ),
        (
            "middle_click",
            json!({"target": reference, "modifiers": ["alt"]}),
            json!({"action": "middle_click", "ref": "e7", "modifiers": ["alt"], "look": true}),
        ),
        (
            "double_click",
            json!({"target": reference}),
            json!({"action": "double_click", "ref": "e7", "look": true}),
        ),
        (
            "triple_click",
            json!({"target": reference}),
            json!({"action": "triple_click", "ref": "e7", "look": true}),
        ),
        (
            "hover",
            json!({"target": {"type": "ref", "ref": "[ref_f1e3]"}}),
            json!({"action": "hover", "ref": "f1e3", "look": true}),
        ),
        (
            "left_click_drag",
            json!({"from": point, "target": {"type": "coordinate", "x": "0", "y": 0}}),
            json!({"action": "drag", "x": 21, "y": 41, "to_x": 1, "to_y": 1, "look": true}),
        ),
        (
            "left_mouse_down",
            json!({"target": point}),
            json!({"action": "mouse_down", "x": 21, "y": 41, "look": true}),
        ),
        (
            "left_mouse_up",
            json!({"target": point}),
            json!({"action": "mouse_up", "x": 21, "y": 41, "look": true}),
        ),
        (
            "mouse_move",
            json!({"target": point}),
            json!({"action": "hover", "x": 21, "y": 41, "look": true}),
        ),
        (
            "scroll",
            json!({"target": point, "scroll_direction": "up"}),
            json!({"action": "scroll", "x": 21, "y": 41, "dx": 0.0, "dy": -300.0, "look": true}),
        ),
        (
            "scroll_to",
            json!({"target": reference}),
            json!({"action": "scroll_to", "ref": "e7", "look": true}),
        ),
        (
            "type",
            json!({"text": "fern"}),
            json!({"action": "type", "text": "fern", "look": true}),
        ),
        (
            "key",
            json!({"text": "Tab Return", "repeat": 3}),
            json!({"action": "press", "keys": "Tab Return", "repeat": 3, "look": true}),
        ),
        (
            "hold_key",
            json!({"text": "shift", "duration": 1.5}),
            json!({"action": "hold_key", "keys": "shift", "seconds": 1.5, "look": true}),
        ),
        (
            "wait",
            json!({"duration": 2}),
            json!({"action": "pause", "seconds": 2.0, "look": true}),
        ),
        (
            "read_page",
            json!({}),
            json!({"action": "read_page", "depth": 15}),
        ),
        (
            "find",
            json!({"query": "search"}),
            json!({"action": "find", "text": "search"}),
        ),
        ("get_page_text", json!({}), json!({"action": "page_text"})),
        (
            "form_input",
            json!({"target": reference, "value": true}),
            json!({"action": "fill", "ref": "e7", "value": true, "look": true}),
        ),
        (
            "file_upload",
            json!({"target": reference, "paths": ["a.txt"]}),
            json!({"action": "upload", "ref": "e7", "paths": ["a.txt"], "look": true}),
        ),
        ("read_console", json!({}), json!({"action": "console"})),
        ("read_network", json!({}), json!({"action": "network"})),
        (
            "javascript_exec",
            json!({"text": "1 + 1"}),
            json!({"action": "script", "text": "1 + 1"}),
        ),
        ("new_tab", json!({}), json!({"action": "new_tab"})),
        ("list_tabs", json!({}), json!({"action": "list_tabs"})),
        (
            "switch_tab",
            json!({"tab_id": "2"}),
            json!({"action": "select_tab", "tab": 2}),
        ),
        (
            "close_tab",
            json!({"tab_id": 2}),
            json!({"action": "close_tab", "tab": 2}),
        ),
    ]
}

fn space() -> Space {
    Space::picture(SCREEN, SCREEN).over_page(Some(PAGE))
}

#[test]
fn every_member_of_the_browser_is_a_call_of_our_tool() {
    let members = members();
    assert_eq!(members.len(), 31);
    for (member, input, expected) in members {
        let read = read(member, &input, &space()).unwrap();
        assert_eq!(read, expected, "{member}");
        tools::all()
            .read("browser", &read)
            .unwrap_or_else(|error| panic!("{member}: {error}"));
    }
    let part = read(
        "read_page",
        &json!({"filter": "interactive", "depth": 2, "ref": "ref_4"}),
        &space(),
    );
    assert_eq!(
        part.unwrap(),
        json!({"action": "read_page", "depth": 2, "filter": "interactive", "ref": "e4"})
    );
}

#[test]
fn targets_of_the_wrong_kind_and_numbers_out_of_bounds_are_explained() {
    let point = json!({"type": "coordinate", "x": 10, "y": 20});
    let reference = json!({"type": "ref", "ref": "ref_7"});
    for (member, input, told) in [
        (
            "scroll",
            json!({"target": reference}),
            "target must be a coordinate target",
        ),
        (
            "mouse_move",
            json!({"target": reference}),
            "target must be a coordinate target",
        ),
        (
            "left_click_drag",
            json!({"from": reference, "target": point}),
            "from must be a coordinate target",
        ),
        (
            "form_input",
            json!({"target": point, "value": "a"}),
            "target must be a ref target",
        ),
        (
            "scroll_to",
            json!({"target": point}),
            "target must be a ref target",
        ),
        ("left_click", json!({}), "target is missing"),
        (
            "left_click",
            json!({"target": {"type": "coordinate", "x": 1000, "y": 0}}),
            "(1000, 0) is outside the 1000×500 picture",
        ),
        (
            "scroll",
            json!({"target": point, "scroll_direction": "down", "scroll_amount": 11}),
            "scroll_amount must be a number from 1 to 10, not 11",
        ),
        (
            "wait",
            json!({"duration": 31}),
            "duration must be a number from 0 to 30, not 31",
        ),
        ("switch_tab", json!({}), "tab_id is missing"),
        (
            "close_tab",
            json!({"tab_id": "main"}),
            "\"main\" is not a tab: list the tabs",
        ),
        (
            "file_upload",
            json!({"target": reference, "document_ids": ["a"]}),
            "files are given by paths on this computer",
        ),
        (
            "dance",
            json!({}),
            "there is no action \"dance\" in the browser",
        ),
    ] {
        let refused = read(member, &input, &space()).unwrap_err();
        assert!(refused.starts_with(told), "{member}: {refused}");
    }
}

#[test]
fn the_entry_has_its_type_and_the_members_that_our_tool_offers() {
    let browser = tools::all().specs(SCREEN);
    let browser = browser.iter().find(|tool| tool.name == "browser").unwrap();
    let on = json!({"enabled": true});
    let entry = entry(browser);
    assert_eq!(entry["type"], "browser_toolset_20260801");
    for member in ["file_upload", "read_console", "read_network"] {
        assert_eq!(entry["configs"][member], on, "{member}");
    }
    let fields: Vec<&String> = entry.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["configs", "type"]);
    let plain = ToolSpec {
        parameters: json!({"properties": {"action": {"enum": ["click"]}}}),
        ..browser.clone()
    };
    assert_eq!(
        super::entry(&plain),
        json!({"type": "browser_toolset_20260801"})
    );
}

fn reported(changes: Vec<BrowserChange>) -> CallResult {
    let mut state = testing::browser_state();
    state.changes = changes;
    CallResult {
        browser: Some(state),
        ..testing::result("a", "Clicked e7.")
    }
}

#[test]
fn results_report_tabs_and_changes_within_their_rules() {
    let (url, path) = (
        "https://shop.example/list.csv".to_owned(),
        "/home/agent/Downloads/list.csv".to_owned(),
    );
    let changes = vec![
        BrowserChange::TabOpened {
            tab: TabNumber(2),
            url: url.clone(),
        },
        BrowserChange::TabClosed { tab: TabNumber(3) },
        BrowserChange::DownloadStarted {
            id: 1,
            url: url.clone(),
            path: path.clone(),
        },
        BrowserChange::DownloadEnded {
            id: 1,
            url: url.clone(),
            path: path.clone(),
            state: DownloadState::Complete,
            n_bytes: 12,
        },
        BrowserChange::DownloadEnded {
            id: 2,
            url: url.clone(),
            path: path.clone(),
            state: DownloadState::Cancelled,
            n_bytes: 0,
        },
    ];
    let told = content(
        "left_click",
        &reported(changes),
        Some(json!({"type": "image"})),
    )
    .unwrap();
    let tabs = json!([
        {"tab_id": "1", "title": "Shop 1", "url": "https://shop.example/1", "active": false},
        {"tab_id": "2", "title": "Shop 2", "url": "https://shop.example/2", "active": true},
    ]);
    assert_eq!(
        told,
        [
            json!({"type": "text", "text": "Clicked e7."}),
            json!({"type": "image"}),
            json!({
                "type": "browser_state",
                "tabs": tabs,
                "state_changes": [
                    {"type": "tab_opened", "tab_id": "2"},
                    {"type": "download_started", "download_id": "d1", "url": url},
                    {"type": "download_completed", "download_id": "d1", "url": url, "path": path, "size_bytes": 12},
                    {"type": "download_failed", "download_id": "d2", "url": url, "error": "the download was cancelled"},
                ],
            }),
        ]
    );
    // An operation on tabs has nothing but the state, and a new tab says that it was opened.
    let quiet = reported(Vec::new());
    let state = json!({"type": "browser_state", "tabs": tabs});
    assert_eq!(
        content("list_tabs", &quiet, None),
        Some(vec![state.clone()])
    );
    let mut opened = state;
    opened["state_changes"] = json!([{"type": "tab_opened", "tab_id": "2"}]);
    assert_eq!(content("new_tab", &quiet, None), Some(vec![opened]));
    assert_eq!(
        content("list_tabs", &testing::result("a", "Tabs"), None),
        None
    );
}

#[test]
fn words_of_pages_are_bounded_and_have_no_control_characters() {
    let mut result = reported(Vec::new());
    let state = result.browser.as_mut().unwrap();
    state.tabs[1].title = format!("a\u{1b}[31m\nb\u{202e}{}", "x".repeat(9_000));
    let tab = state.tabs[0].clone();
    state
        .tabs
        .extend((3..200).map(|number| deskhand_core::browser::TabEntry {
            tab: TabNumber(number),
            ..tab.clone()
        }));
    let told = content("list_tabs", &result, None).unwrap();
    let tabs = told[0]["tabs"].as_array().unwrap();
    assert_eq!(tabs.len(), 100);
    let title = tabs[1]["title"].as_str().unwrap();
    assert_eq!(title.chars().count(), 4_096);
    assert!(title.starts_with("a[31m bx"), "{}", &title[..20]);
    assert!(!title.contains(char::is_control));
}

#[test]
fn failures_have_the_vendors_words() {
    assert_eq!(
        failure(model::HALTED),
        "Not executed: an earlier action in this turn failed."
    );
    assert_eq!(
        failure("f1e3 is no longer on the page: read the page again"),
        "ref_f1e3 is no longer on the page: read the page again"
    );
}

#[test]
fn references_in_a_tree_are_spelled_as_the_vendor_does() {
    let tree =
        "<page>\n [button \"Take \\\"e1\\\" e2\" e7 disabled] or [a f1e3]\n| e9 | [x]\n</page>";
    let told = content("read_page", &testing::result("a", tree), None).unwrap();
    assert_eq!(
        told[0]["text"],
        "<page>\n [button \"Take \\\"e1\\\" e2\" ref_7 disabled] or [a ref_f1e3]\n| e9 | [x]\n</page>"
    );
    let text = content("get_page_text", &testing::result("a", "vitamin e7"), None).unwrap();
    assert_eq!(text[0]["text"], "vitamin e7");
}

#[test]
fn a_page_is_told_in_at_most_fifty_thousand_characters() {
    let tree = format!("<page>\n{}</page>", "[button ü e1]\n".repeat(4_000));
    let told = content("read_page", &testing::result("a", &tree), None).unwrap();
    let text = told[0]["text"].as_str().unwrap();
    assert_eq!(text.chars().count(), 50_000);
    assert!(text.ends_with("\n</page>\n[The rest was left out.]"));
}
