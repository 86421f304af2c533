//! The pointer on a page: clicks, hovering, dragging and scrolling.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{IN_GROUP, and_read, browse};
use crate::{
    refusal::CallError,
    tools::{Effect, hand::HandTool},
};

pub(super) static CLICK: HandTool<BrowserClickInput> = HandTool {
    name: "browser_click",
    title: "Click on a page",
    description: "Click an element, given by the ref of browser_snapshot, or a point of a screenshot. It is scrolled \
        into view, and the page has settled when this returns.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let action = match (input.button, input.double_click) {
            (None | Some(PageButton::Left), None | Some(false)) => "click",
            (None | Some(PageButton::Left), Some(true)) => "double_click",
            (Some(PageButton::Right), None | Some(false)) => "right_click",
            (Some(PageButton::Right), Some(true)) => {
                return Err(CallError::malformed(
                    "a double click is made with the left button",
                ));
            }
        };
        let click = json!({
            "action": action,
            "ref": input.element,
            "x": input.x,
            "y": input.y,
            "modifiers": input.modifiers,
            "tab": input.tab,
        });
        let acts = browse(input.session_id, click);
        Ok(and_read(acts, input.snapshot, input.tab))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserClickInput {
    session_id: String,
    /// The element, such as e12.
    #[serde(default, rename = "ref")]
    element: Option<String>,
    /// A point instead of ref, with y.
    #[serde(default)]
    x: Option<f64>,
    #[serde(default)]
    y: Option<f64>,
    #[serde(default)]
    button: Option<PageButton>,
    #[serde(default)]
    double_click: Option<bool>,
    /// Keys held during the click, such as ctrl or shift.
    #[serde(default)]
    modifiers: Option<Vec<String>>,
    #[serde(default)]
    tab: Option<u32>,
    /// Also return the page as `browser_snapshot` does.
    #[serde(default)]
    snapshot: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PageButton {
    Left,
    Right,
}

pub(super) static HOVER: HandTool<BrowserHoverInput> = HandTool {
    name: "browser_hover",
    title: "Point at something",
    description: "Move the pointer over an element, given by its ref, or to a point of a screenshot.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let hover = json!({
            "action": "hover",
            "ref": input.element,
            "x": input.x,
            "y": input.y,
        });
        let acts = browse(input.session_id, hover);
        Ok(and_read(acts, input.snapshot, None))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserHoverInput {
    session_id: String,
    #[serde(default, rename = "ref")]
    element: Option<String>,
    #[serde(default)]
    x: Option<f64>,
    #[serde(default)]
    y: Option<f64>,
    /// Also return the page as `browser_snapshot` does.
    #[serde(default)]
    snapshot: Option<bool>,
}

pub(super) static DRAG: HandTool<BrowserDragInput> = HandTool {
    name: "browser_drag",
    title: "Drag on a page",
    description: "Drag from one element or point to another.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let drag = json!({
            "action": "drag",
            "ref": input.element,
            "x": input.x,
            "y": input.y,
            "to_ref": input.to_ref,
            "to_x": input.to_x,
            "to_y": input.to_y,
        });
        Ok(browse(input.session_id, drag))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserDragInput {
    session_id: String,
    /// The element to begin at, or x and y.
    #[serde(default, rename = "ref")]
    element: Option<String>,
    #[serde(default)]
    x: Option<f64>,
    #[serde(default)]
    y: Option<f64>,
    /// The element to end at, or toX and toY.
    #[serde(default)]
    to_ref: Option<String>,
    #[serde(default)]
    to_x: Option<f64>,
    #[serde(default)]
    to_y: Option<f64>,
}

pub(super) static SCROLL: HandTool<BrowserScrollInput> = HandTool {
    name: "browser_scroll",
    title: "Scroll a page",
    description: "Scroll the page, or the part of it at an element or point. With ref alone, that element is scrolled \
        into view.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let is_into_view = input.element.is_some() && input.dx.is_none() && input.dy.is_none();
        let action = if is_into_view { "scroll_to" } else { "scroll" };
        let scroll = json!({
            "action": action,
            "ref": input.element,
            "x": input.x,
            "y": input.y,
            "dx": input.dx,
            "dy": input.dy,
        });
        let acts = browse(input.session_id, scroll);
        Ok(and_read(acts, input.snapshot, None))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BrowserScrollInput {
    session_id: String,
    #[serde(default, rename = "ref")]
    element: Option<String>,
    #[serde(default)]
    x: Option<f64>,
    #[serde(default)]
    y: Option<f64>,
    /// Pixels to the right.
    #[serde(default)]
    dx: Option<f64>,
    /// Pixels down. Without dx and dy it is 600.
    #[serde(default)]
    dy: Option<f64>,
    /// Also return the page as `browser_snapshot` does.
    #[serde(default)]
    snapshot: Option<bool>,
}
