use deskhand_core::{
    action::{Button, Point, Region},
    blob::BlobFormat,
    browser::{FieldValue, PageCondition},
};
use serde_json::json;

use super::*;

const TOOL: BrowserTool = BrowserTool {
    offers_scripts: false,
};

fn read(input: &Value) -> Result<Browse, String> {
    let call: BrowserInput = read_as(NAME, input).map_err(|error| error.to_string())?;
    call.into_browse()
}

fn verb(input: &Value) -> BrowserVerb {
    read(input).unwrap().verb
}

#[test]
fn a_flat_call_becomes_a_verb() {
    assert_eq!(
        verb(&json!({"action": "click", "ref": "f1e3"})),
        BrowserVerb::Click {
            at: PagePlace::Element("f1e3".parse().unwrap()),
            button: Button::Left,
            count: 1,
            modifiers: Vec::new(),
        }
    );
    assert_eq!(
        verb(&json!({"action": "fill", "ref": "e1", "value": true})),
        BrowserVerb::Fill {
            at: "e1".parse().unwrap(),
            value: FieldValue::Checked(true),
        }
    );
    assert_eq!(
        verb(&json!({"action": "wait", "text": "Done", "gone": true, "timeout": 1.5})),
        BrowserVerb::Wait {
            until: PageCondition::NoText("Done".to_owned()),
            timeout_ms: 1500,
        }
    );
    assert_eq!(
        verb(&json!({"action": "drag", "path_points": [[1, 2], [3, 4], [5, 6]]})),
        BrowserVerb::Drag {
            path: [(1, 2), (3, 4), (5, 6)]
                .map(|(x, y)| PagePlace::Point(Point { x, y }))
                .into(),
            modifiers: Vec::new(),
        }
    );
    assert_eq!(
        verb(&json!({"action": "zoom", "region": [1, 2, 3, 4]})),
        BrowserVerb::Screenshot {
            area: PageArea::Region(Region {
                x0: 1,
                y0: 2,
                x1: 3,
                y1: 4,
            }),
            format: BlobFormat::Jpeg,
        }
    );
    let looking = read(&json!({"action": "pause", "seconds": 0.5, "look": true})).unwrap();
    assert_eq!(looking.verb, BrowserVerb::Pause { ms: 500 });
    assert_eq!(looking.look, Some(BlobFormat::Jpeg));
    assert_eq!(
        verb(&json!({"action": "navigate", "url": "back"})),
        BrowserVerb::Back
    );
}

#[test]
fn a_bad_call_is_told_what_it_lacks() {
    for (input, problem) in [
        (json!({"action": "click"}), "click needs ref, or x and y"),
        (
            json!({"action": "click", "x": 1}),
            "a place is either ref, or x and y",
        ),
        (
            json!({"action": "click", "ref": "button"}),
            "\"button\" is not a reference",
        ),
        (json!({"action": "navigate"}), "navigate needs url"),
        (
            json!({"action": "navigate", "url": "file:///etc/passwd"}),
            "the browser opens addresses of http and https only, not of file:",
        ),
        (
            json!({"action": "new_tab", "url": "javascript:alert(1)"}),
            "not of javascript:",
        ),
        (json!({"action": "dance"}), "there is no action \"dance\""),
        (json!({"action": "select_tab"}), "select_tab needs tab"),
        (
            json!({"action": "fill", "ref": "e1", "value": []}),
            "value is a text",
        ),
    ] {
        let refused = read(&input).unwrap_err();
        assert!(refused.contains(problem), "{input}: {refused}");
    }
}

#[test]
fn every_action_that_is_offered_is_known() {
    let offered = schema::parameters(true)["properties"]["action"]["enum"].clone();
    for action in offered.as_array().unwrap() {
        let call = json!({
            "action": action, "ref": "e1", "to_ref": "e2", "url": "a.example", "keys": "Tab",
            "value": "v", "options": ["o"], "paths": ["p"], "path": "p", "accept": true, "tab": 1,
            "seconds": 1, "region": [0, 0, 9, 9],
        });
        let mut call = call;
        if action != "wait" {
            call["text"] = json!("t");
        }
        assert!(read(&call).is_ok(), "{action}: {:?}", read(&call));
    }
}

#[test]
fn looking_is_no_risk_and_scripts_are() {
    let risk = |input| TOOL.read(&input).unwrap().proposal().risk;
    assert_eq!(risk(json!({"action": "read_page"})), Risk::Looks);
    assert_eq!(
        risk(json!({"action": "click", "ref": "e1"})),
        Risk::Harmless
    );
    assert_eq!(
        risk(json!({"action": "script", "text": "1"})),
        Risk::Risky(None)
    );
}

#[test]
fn scripts_are_offered_only_where_they_are_allowed() {
    let offers = |allowed: bool| {
        let tools = crate::tools::all().with_browser_scripts(allowed);
        let offers = tools.offers();
        let browser = offers.iter().find(|offer| offer.name == NAME).unwrap();
        let actions = browser.parameters["properties"]["action"]["enum"].clone();
        actions.as_array().unwrap().contains(&json!("script"))
    };
    assert_eq!([offers(true), offers(false)], [true, false]);
}

#[test]
fn a_key_that_clicks_is_judged_by_its_element_and_gets_no_rule_of_its_own() {
    let proposal = |input| TOOL.read(&input).unwrap().proposal();
    let press = |keys: &str| proposal(json!({"action": "press", "keys": keys}));
    for keys in ["Enter", "KPEnter", "spacebar"] {
        assert_eq!(
            (press(keys).rule(), press(keys).risk),
            (None, Risk::Harmless),
            "{keys}"
        );
    }
    assert!(press("ctrl+s").rule().is_some());
    assert_eq!(press("Tab Enter").risk, Risk::Risky(None));
    let typed = |text: &str| proposal(json!({"action": "type", "text": text}));
    assert_eq!(typed("yes\n").rule(), None);
    assert!(typed("yes").rule().is_some());
}
