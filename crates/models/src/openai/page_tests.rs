//! OpenAI's computer as a browser.

use deskhand_agent::tools;
use deskhand_core::{
    browser::OpenDialog,
    model::{CallResult, Item, ModelRequest, RequestOptions},
};
use serde_json::{Value, json};

use super::{VENDOR, calls, offer::OpenAiOffer, page, request};
use crate::{
    settings::BrowserTool,
    space::Space,
    surface::Surface,
    testing::{self, PAGE, SCREEN, prompt},
};

fn space() -> Space {
    Space::picture(SCREEN, SCREEN).over_page(Some(PAGE))
}

#[test]
fn every_action_of_the_computer_is_a_call_of_the_browser() {
    for (sent, mut expected) in [
        (
            json!({"type": "click", "button": "left", "x": 10, "y": 20, "keys": ["SHIFT"]}),
            json!({"action": "click", "x": 21, "y": 41, "modifiers": ["SHIFT"]}),
        ),
        (
            json!({"type": "click", "button": "wheel", "x": 10, "y": 20}),
            json!({"action": "middle_click", "x": 21, "y": 41}),
        ),
        (
            json!({"type": "click", "button": "back", "x": 0, "y": 0}),
            json!({"action": "back"}),
        ),
        (
            json!({"type": "double_click", "x": 10, "y": 20}),
            json!({"action": "double_click", "x": 21, "y": 41}),
        ),
        (
            json!({"type": "move", "x": 10, "y": 20}),
            json!({"action": "hover", "x": 21, "y": 41}),
        ),
        (
            json!({"type": "drag", "path": [{"x": 0, "y": 0}, [10, 20], {"x": 1, "y": 1}]}),
            json!({"action": "drag", "path_points": [[1, 1], [21, 41], [3, 3]], "modifiers": []}),
        ),
        (
            json!({"type": "scroll", "x": 10, "y": 20, "scroll_x": 0, "scroll_y": -250}),
            json!({"action": "scroll", "x": 21, "y": 41, "dx": 0.0, "dy": -250.0}),
        ),
        (
            json!({"type": "type", "text": "fern"}),
            json!({"action": "type", "text": "fern"}),
        ),
        (
            json!({"type": "keypress", "keys": ["CTRL", "A"]}),
            json!({"action": "press", "keys": "CTRL+A"}),
        ),
        (
            json!({"type": "wait"}),
            json!({"action": "pause", "seconds": 2.0}),
        ),
        (
            json!({"type": "screenshot"}),
            json!({"action": "screenshot"}),
        ),
    ] {
        expected["look"] = true.into();
        let read = page::action(&sent, &space()).unwrap();
        assert_eq!(read, expected);
        tools::all().read("browser", &read).unwrap();
    }
    let far = json!({"type": "scroll", "x": 0, "y": 0, "scroll_y": 20_000});
    assert!(page::action(&far, &space()).is_err());
}

fn body(model: &str, surface: Surface, items: Vec<Item>) -> Value {
    let request = ModelRequest {
        tools: testing::browser_tools(),
        page: Some(PAGE),
        options: RequestOptions::default(),
        ..testing::request(items)
    };
    request::body(model, OpenAiOffer::to(model), surface, &request)
}

fn answered(output: &Value, result: CallResult) -> Vec<Item> {
    let answer = testing::answer(VENDOR, &json!({"output": output}));
    vec![prompt("go"), answer, Item::Results(vec![result])]
}

fn seen(call: &str) -> CallResult {
    CallResult {
        browser: Some(testing::browser_state()),
        ..testing::shown(call, "Clicked the point.")
    }
}

#[test]
fn the_computer_is_the_browser_where_there_is_no_screen() {
    let call = json!([{"type": "computer_call", "call_id": "c", "action": {"type": "click", "x": 1, "y": 2}}]);
    let preview = body(
        "computer-use-preview",
        Surface::Page,
        answered(&call, seen("c")),
    );
    assert_eq!(
        preview["tools"][1],
        json!({"type": "computer_use_preview", "display_width": 1000, "display_height": 500, "environment": "browser"})
    );
    assert_eq!(preview["truncation"], "auto");
    assert_eq!(
        preview["input"][2]["output"],
        json!({
            "type": "computer_screenshot",
            "image_url": "data:image/png;base64,cG5n",
            "current_url": "https://shop.example/2",
        })
    );
    let newer = body("gpt-6-sol", Surface::Page, answered(&call, seen("c")));
    assert_eq!(newer["tools"][1], json!({"type": "computer"}));
    assert_eq!(newer["input"][2]["output"]["current_url"], Value::Null);
    let calls = calls::read(&call[0], &space(), Surface::Page);
    assert_eq!((calls.len(), &*calls[0].tool), (1, "browser"));
}

#[test]
fn a_dialog_that_no_picture_shows_is_told() {
    let call = json!([{"type": "computer_call", "call_id": "c", "action": {"type": "click", "x": 1, "y": 2}}]);
    let mut result = seen("c");
    result.browser.as_mut().unwrap().dialog = Some(OpenDialog {
        kind: "alert".to_owned(),
        message: "Saved".to_owned(),
    });
    let told = body("gpt-6-sol", Surface::Page, answered(&call, result));
    let note = told["input"][3]["content"][0]["text"].as_str().unwrap();
    assert!(
        note.starts_with("[The browser reports: The page shows a dialog (alert): \"Saved\"."),
        "{note}"
    );
}

#[test]
fn the_browser_can_be_a_function_called_computer() {
    let surface = Surface::of(&testing::browser_tools(), BrowserTool::ComputerFunction);
    assert_eq!(surface, Surface::PageFunction);
    let arguments = r#"{"action":{"type":"click","x":10,"y":20}}"#;
    let call = json!([{"type": "function_call", "call_id": "c", "name": "computer", "arguments": arguments}]);
    let told = body("gpt-6-sol", surface, answered(&call, seen("c")));
    let function = &told["tools"][1];
    assert_eq!(
        (&function["type"], &function["name"]),
        (&json!("function"), &json!("computer"))
    );
    let types = &function["parameters"]["properties"]["action"]["properties"]["type"]["enum"];
    assert_eq!(
        *types,
        json!([
            "click",
            "type",
            "navigate",
            "press",
            "scroll",
            "doubleClick",
            "wait",
            "move",
            "drag"
        ])
    );
    assert_eq!(told["truncation"], "auto");
    assert_eq!(
        told["input"][2],
        json!({
            "type": "function_call_output",
            "call_id": "c",
            "output": r#"{"browser":{"current_url":"https://shop.example/2","screenshot":"cG5n"}}"#,
        })
    );
    assert_eq!(told["input"].as_array().unwrap().len(), 3);
    let read = calls::read(&call[0], &space(), surface);
    assert_eq!(
        read[0].input,
        json!({"action": "click", "x": 21, "y": 41, "look": true})
    );
    // Endpoints of the same kind may also use this form of a call, and then get this form of a result.
    let call = json!([{"type": "tool_call", "id": "c", "function": {"name": "computer", "arguments": arguments}}]);
    assert_eq!(calls::read(&call[0], &space(), surface)[0].tool, "browser");
    let told = body("gpt-6-sol", surface, answered(&call, seen("c")));
    assert_eq!(told["input"][2]["type"], "tool_result");
    assert_eq!(told["input"][2]["tool_call_id"], "c");
}

#[test]
fn with_a_screen_the_browser_is_a_function_and_its_pictures_follow() {
    let all = tools::all().specs(SCREEN);
    for wanted in [BrowserTool::Vendor, BrowserTool::ComputerFunction] {
        assert_eq!(Surface::of(&all, wanted), Surface::Screen);
    }
    let call =
        json!([{"type": "function_call", "call_id": "c", "name": "browser", "arguments": "{}"}]);
    let told = body("gpt-6-sol", Surface::Screen, answered(&call, seen("c")));
    assert_eq!(told["tools"][1]["name"], "browser");
    assert_eq!(told["input"][2]["output"], "Clicked the point.");
    assert_eq!(told["input"][3]["content"][1]["type"], "input_image");
}
