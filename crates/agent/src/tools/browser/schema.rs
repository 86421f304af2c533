//! The schema of the tool's input.

use serde_json::{Value, json};

use crate::tools::{
    consequence::{CONSEQUENCE, WHY, consequence_schema, why_schema},
    object_schema,
};

const SCRIPT: &str = "script";

/// The actions, in the order in which models are offered them.
pub(super) const ACTIONS: &[&str] = &[
    "navigate",
    "read_page",
    "find",
    "click",
    "type",
    "fill",
    "select",
    "press",
    "screenshot",
    "page_text",
    "wait",
    "scroll",
    "scroll_to",
    "hover",
    "double_click",
    "triple_click",
    "right_click",
    "middle_click",
    "drag",
    "mouse_down",
    "mouse_up",
    "hold_key",
    "pause",
    "zoom",
    "back",
    "forward",
    "reload",
    "list_tabs",
    "new_tab",
    "select_tab",
    "close_tab",
    "dialog",
    "upload",
    "downloads",
    "console",
    "network",
    SCRIPT,
    "pdf",
    "emulate",
    "save_state",
    "load_state",
    "current_url",
    "capabilities",
    "close",
];

/// Returns the schema of the input.
pub(super) fn parameters(offers_scripts: bool) -> Value {
    let is_offered = |action: &&&str| offers_scripts || **action != SCRIPT;
    let actions: Vec<&&str> = ACTIONS.iter().filter(is_offered).collect();
    let text = |description: &str| json!({"type": "string", "description": description});
    let number = |description: &str| json!({"type": "number", "description": description});
    let texts = |description: &str| json!({"type": "array", "items": {"type": "string"}, "description": description});
    let flag = |description: &str| json!({"type": "boolean", "description": description});
    object_schema(
        &["action"],
        &json!({
            "action": {"type": "string", "enum": actions},
            "tab": {"type": "integer", "description": "The tab; the current one without it. Needed for select_tab."},
            "ref": text("An element, as read_page and find return it: e12."),
            "x": number("A point instead of ref."),
            "y": number("A point instead of ref."),
            "to_ref": text("Where a drag ends; or to_x and to_y."),
            "to_x": number("Where a drag ends."),
            "to_y": number("Where a drag ends."),
            "path_points": {
                "type": "array",
                "items": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                "description": "For drag: all its points as [x, y], instead of a beginning and an end.",
            },
            "region": {
                "type": "array",
                "items": {"type": "number"},
                "minItems": 4,
                "maxItems": 4,
                "description": "For zoom: the part of the picture to see closely, as [x0, y0, x1, y1].",
            },
            "url": text("For navigate and new_tab: http or https. For wait: a part of the address to wait for."),
            "text": text("For type, find, wait (text to wait for), dialog (answer to a prompt) and script."),
            "submit": flag("For type: press Enter afterwards."),
            "keys": text("For press: a chord such as ctrl+a, or several separated by spaces. For hold_key: one chord."),
            "seconds": number("For hold_key and pause: at most 30."),
            "repeat": {"type": "integer", "minimum": 1, "maximum": 100},
            "modifiers": texts("Keys held during a click, such as ctrl."),
            "value": {"type": ["string", "boolean", "number"], "description": "For fill: the new content, or true for a tick."},
            "options": texts("For select: values or labels."),
            "dx": number("For scroll: pixels to the right."),
            "dy": number("For scroll: pixels down."),
            "selector": text("For wait: a CSS selector that becomes visible."),
            "gone": flag("For wait: until the text is gone."),
            "timeout": number("For wait: seconds, at most 60. A wait for nothing waits until the page is quiet."),
            "accept": flag("For dialog: accept it, or dismiss it."),
            "filter": {"type": "string", "enum": ["all", "interactive"], "description": "For read_page."},
            "depth": {"type": "integer", "minimum": 1, "description": "For read_page: the levels to read."},
            "look": flag("Answer with a picture of the visible part of the page as well."),
            "full_page": flag("For screenshot: the whole page. With ref, that element."),
            "format": {"type": "string", "enum": ["jpeg", "png"]},
            "path": text("For pdf, save_state and load_state: a file on this computer."),
            "paths": texts("For upload: files on this computer."),
            "width": {"type": "integer", "description": "For emulate: the viewport, with height."},
            "height": {"type": "integer"},
            "scale": number("For emulate: pixels per CSS pixel."),
            "locale": text("For emulate: a language such as de-DE."),
            "time_zone": text("For emulate: such as Europe/Berlin."),
            (CONSEQUENCE): consequence_schema(),
            (WHY): why_schema(),
        }),
    )
}
