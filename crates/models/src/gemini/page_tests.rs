//! Gemini's computer as a browser.

use deskhand_agent::tools;
use deskhand_core::model::{CallResult, Item, ModelRequest, RequestOptions};
use serde_json::{Value, json};

use super::{VENDOR, calls, offer::MOST, request};
use crate::{
    space::Space,
    surface::Surface,
    testing::{self, PAGE, SCREEN, prompt},
};

fn inputs(name: &str, args: &Value) -> Vec<Value> {
    let space = Space::thousandths(SCREEN).over_page(Some(PAGE));
    let call = json!({"name": name, "args": args});
    let calls = calls::read("c", &call, &space, Surface::Page);
    let read = calls.into_iter().map(|call| {
        assert_eq!(call.problem, None, "{name}");
        assert_eq!(call.tool, "browser");
        assert_eq!(call.input["look"], true);
        tools::all().read("browser", &call.input).unwrap();
        let mut input = call.input;
        input.as_object_mut().unwrap().remove("look");
        input
    });
    read.collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of all actions")]
fn both_sets_of_actions_are_calls_of_the_browser() {
    let at = json!({"x": 10, "y": 20});
    // The middle of the thousandth, on a page of 2000×1000.
    let click = |action: &str| vec![json!({"action": action, "x": 21, "y": 20})];
    for (name, action) in [
        ("click", "click"),
        ("click_at", "click"),
        ("double_click", "double_click"),
        ("triple_click", "triple_click"),
        ("middle_click", "middle_click"),
        ("right_click", "right_click"),
        ("mouse_down", "mouse_down"),
        ("mouse_up", "mouse_up"),
        ("move", "hover"),
        ("hover_at", "hover"),
    ] {
        assert_eq!(inputs(name, &at), click(action), "{name}");
    }
    for (name, args, expected) in [
        (
            "open_web_browser",
            json!({}),
            json!({"action": "screenshot"}),
        ),
        (
            "take_screenshot",
            json!({}),
            json!({"action": "screenshot"}),
        ),
        (
            "wait_5_seconds",
            json!({}),
            json!({"action": "pause", "seconds": 5}),
        ),
        (
            "wait",
            json!({"seconds": 2}),
            json!({"action": "pause", "seconds": 2.0}),
        ),
        ("go_back", json!({}), json!({"action": "back"})),
        ("go_forward", json!({}), json!({"action": "forward"})),
        (
            "search",
            json!({}),
            json!({"action": "navigate", "url": "https://www.google.com"}),
        ),
        (
            "navigate",
            json!({"url": "a.example"}),
            json!({"action": "navigate", "url": "a.example"}),
        ),
        (
            "press_key",
            json!({"key": "Enter"}),
            json!({"action": "press", "keys": "Enter"}),
        ),
        (
            "key_combination",
            json!({"keys": "Control+A"}),
            json!({"action": "press", "keys": "Control+A"}),
        ),
        (
            "hotkey",
            json!({"keys": ["control", "a"]}),
            json!({"action": "press", "keys": "control+a"}),
        ),
        (
            "type",
            json!({"text": "fern"}),
            json!({"action": "type", "text": "fern", "submit": false}),
        ),
        (
            "scroll_document",
            json!({"direction": "down"}),
            json!({"action": "scroll", "dx": 0.0, "dy": 800.0}),
        ),
        (
            "scroll_at",
            json!({"x": 10, "y": 20, "direction": "left", "magnitude": 500}),
            json!({"action": "scroll", "x": 21, "y": 20, "dx": -1000.0, "dy": -0.0}),
        ),
        (
            "scroll",
            json!({"x": 10, "y": 20, "direction": "up", "magnitude_in_pixels": 120}),
            json!({"action": "scroll", "x": 21, "y": 20, "dx": 0.0, "dy": -120.0}),
        ),
        (
            "drag_and_drop",
            json!({"start_x": 0, "start_y": 0, "end_x": 10, "end_y": 20}),
            json!({"action": "drag", "x": 1, "y": 0, "to_x": 21, "to_y": 20}),
        ),
        (
            "drag_and_drop",
            json!({"x": 0, "y": 0, "destination_x": 10, "destination_y": 20}),
            json!({"action": "drag", "x": 1, "y": 0, "to_x": 21, "to_y": 20}),
        ),
    ] {
        assert_eq!(inputs(name, &args), [expected], "{name}");
    }
    assert_eq!(
        inputs("type_text_at", &json!({"x": 10, "y": 20, "text": "fern"})),
        [
            json!({"action": "click", "x": 21, "y": 20}),
            json!({"action": "press", "keys": "ctrl+a Delete"}),
            json!({"action": "type", "text": "fern", "submit": true}),
        ]
    );
}

#[test]
fn every_response_has_the_address_of_the_page() {
    let part = json!({"functionCall": {"name": "click_at", "args": {"x": 1, "y": 2}}});
    let answer = testing::answer(VENDOR, &json!({"parts": [part], "calls": ["c"]}));
    let seen = CallResult {
        browser: Some(testing::browser_state()),
        ..testing::shown("c", "Clicked the point.")
    };
    let body = |model: &str| {
        let items = vec![
            prompt("go"),
            answer.clone(),
            Item::Results(vec![seen.clone()]),
        ];
        let request = ModelRequest {
            tools: testing::browser_tools(),
            page: Some(PAGE),
            options: RequestOptions::default(),
            ..testing::request(items)
        };
        request::body(model, MOST, &request)
    };
    for model in [
        "gemini-2.5-computer-use-preview-10-2025",
        "gemini-3.6-flash",
    ] {
        let body = body(model);
        let environment = &body["tools"][0]["computerUse"]["environment"];
        assert_eq!(environment, "ENVIRONMENT_BROWSER", "{model}");
        let response = &body["contents"][2]["parts"][0]["functionResponse"];
        assert_eq!(response["response"]["url"], "https://shop.example/2");
        assert_eq!(response["parts"][0]["inlineData"]["data"], "cG5n");
    }
}
