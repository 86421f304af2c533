//! The pointer of the agent in a page: clicks, drags and scrolling.

use std::time::Duration;

use deskhand_core::{
    action::{Button, Point},
    browser::{ElementRef, PagePlace},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{BrowseError, Browser, HeldButton, HeldKeys, keys::modifier_bits, tab::Tab};

/// The longest wait until an element can be clicked.
const READY_MAX_MS: u64 = 3_000;
const READY_TIMEOUT: Duration = Duration::from_secs(6);
/// The number of moves of a drag. Pages notice a drag only after some.
const DRAG_STEPS: u32 = 8;
/// The wait for the browser to hand over a drag, which it does with the first moves or not at all.
const DRAG_TIMEOUT: Duration = Duration::from_millis(100);

/// The place of an element that can be clicked, or the reason why it cannot.
#[derive(Deserialize)]
struct ReadyAnswer {
    x: Option<f64>,
    y: Option<f64>,
    error: Option<String>,
    by: Option<String>,
}

/// The visible part of a page.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct VisiblePart {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) ratio: f64,
    pub(super) page_width: f64,
    pub(super) page_height: f64,
    pub(super) scroll_x: f64,
    pub(super) scroll_y: f64,
}

/// A click at a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Click {
    pub(super) button: Button,
    pub(super) count: u8,
    pub(super) modifiers: u8,
}

impl Click {
    pub(super) fn plain() -> Self {
        Self {
            button: Button::Left,
            count: 1,
            modifiers: 0,
        }
    }

    pub(super) fn new(
        button: Button,
        count: u8,
        modifiers: &[String],
    ) -> Result<Self, BrowseError> {
        Ok(Self {
            button,
            count,
            modifiers: modifier_bits(modifiers)?,
        })
    }
}

impl Tab {
    pub(super) async fn visible_part(&self) -> Result<VisiblePart, BrowseError> {
        self.script(&self.main_frame(), "viewport()").await
    }

    /// Returns a place as a point of the page, once an element there can be clicked.
    pub(super) async fn point(&self, place: &PagePlace) -> Result<(f64, f64), BrowseError> {
        match place {
            PagePlace::Element(element) => self.point_of(*element).await,
            PagePlace::Point(point) => self.check_point(*point).await,
        }
    }

    async fn check_point(&self, Point { x, y }: Point) -> Result<(f64, f64), BrowseError> {
        let part = self.visible_part().await?;
        let (at_x, at_y) = (f64::from(x), f64::from(y));
        if at_x < 0.0 || at_y < 0.0 || at_x >= part.width || at_y >= part.height {
            return Err(BrowseError::Outside {
                x,
                y,
                width: whole(part.width),
                height: whole(part.height),
            });
        }
        Ok((at_x, at_y))
    }

    async fn point_of(&self, element: ElementRef) -> Result<(f64, f64), BrowseError> {
        let frame = self.frame_of(element).await?;
        if frame.id != self.main {
            self.show_frame(&frame.id).await?;
        }
        let call = format!("ready({}, {READY_MAX_MS})", element.element);
        let answer: ReadyAnswer = self.script_within(READY_TIMEOUT, &frame, &call).await?;
        if let (Some(x), Some(y)) = (answer.x, answer.y) {
            let (left, top) = self.origin_of(&frame).await?;
            return Ok((left + x, top + y));
        }
        let by = answer.by.unwrap_or_default();
        Err(match answer.error.as_deref() {
            Some("stale") => BrowseError::Stale(element),
            Some("disabled") => BrowseError::Disabled(element),
            Some("moving") => BrowseError::Moving(element),
            Some("covered") => BrowseError::covered(element, &by),
            _ => BrowseError::Hidden(element),
        })
    }

    /// Scrolls the page so that a frame in it is visible.
    async fn show_frame(&self, id: &str) -> Result<(), BrowseError> {
        let frames = self.frames().await?;
        let mut wanted = frames.iter().find(|frame| frame.id == id);
        while let Some(frame) = wanted {
            let parent = frames
                .iter()
                .find(|one| Some(&one.id) == frame.parent.as_ref());
            let Some(parent) = parent else {
                return Ok(());
            };
            let owner = parent
                .target
                .call::<Value>("DOM.getFrameOwner", json!({"frameId": frame.id}));
            let owner = self.unless_interrupted(owner).await?;
            let params = json!({"backendNodeId": owner["backendNodeId"]});
            let shown = parent
                .target
                .call::<Value>("DOM.scrollIntoViewIfNeeded", params);
            // A frame without a place is reported when its element is not visible.
            let _ = self.unless_interrupted(shown).await;
            wanted = Some(parent);
        }
        Ok(())
    }

    /// Moves the pointer. A button that is held down stays so.
    pub(super) async fn move_to(&self, at: (f64, f64)) -> Result<(), BrowseError> {
        let is_held = self.browser.held().is_some();
        let about = if is_held { pressed(0) } else { json!({}) };
        self.mouse("mouseMoved", at, about).await
    }

    /// Presses the left button at a point, and holds it.
    pub(super) async fn mouse_down(&self, at: (f64, f64)) -> Result<(), BrowseError> {
        self.move_to(at).await?;
        self.mouse("mousePressed", at, pressed(0)).await?;
        self.hold(at);
        Ok(())
    }

    /// Moves the pointer to a point and releases the left button there.
    pub(super) async fn mouse_up(&self, at: (f64, f64)) -> Result<(), BrowseError> {
        self.move_to(at).await?;
        self.browser.held().take();
        self.mouse("mouseReleased", at, pressed(0)).await
    }

    async fn mouse(&self, kind: &str, (x, y): (f64, f64), more: Value) -> Result<(), BrowseError> {
        let mut params = more;
        params["type"] = json!(kind);
        params["x"] = json!(x);
        params["y"] = json!(y);
        self.input("Input.dispatchMouseEvent", params).await
    }

    /// Moves the pointer to a point and clicks there.
    pub(super) async fn click(&self, at: (f64, f64), click: Click) -> Result<(), BrowseError> {
        self.mouse("mouseMoved", at, json!({"modifiers": click.modifiers}))
            .await?;
        for count in 1..=click.count {
            let about = json!({
                "button": button_name(click.button),
                "clickCount": count,
                "modifiers": click.modifiers,
            });
            // Both are sent at once: the second waits for nothing that the first has to bring about.
            let (pressed, released) = tokio::join!(
                self.mouse("mousePressed", at, about.clone()),
                self.mouse("mouseReleased", at, about),
            );
            pressed?;
            released?;
        }
        Ok(())
    }

    /// Drags along a path, with the mouse or, if the page offers data, by dropping it at the end.
    pub(super) async fn drag(
        &self,
        path: &[PagePlace],
        modifiers: &[String],
    ) -> Result<(), BrowseError> {
        let left = pressed(modifier_bits(modifiers)?);
        // The end may have to be scrolled into view, and the beginning with it.
        if let Some(last) = path.last() {
            self.point(last).await?;
        }
        let mut points = Vec::new();
        for place in path {
            points.push(self.point(place).await?);
        }
        let intercept =
            |enabled: bool| self.input("Input.setInterceptDrags", json!({"enabled": enabled}));
        intercept(true).await?;
        let dragged = self.drag_intercepted(&points, &left).await;
        self.browser.held().take();
        intercept(false).await?;
        dragged
    }

    async fn drag_intercepted(&self, path: &[(f64, f64)], left: &Value) -> Result<(), BrowseError> {
        let (Some(from), Some(to)) = (path.first(), path.last()) else {
            return Ok(());
        };
        self.take_drag();
        self.move_to(*from).await?;
        self.mouse("mousePressed", *from, left.clone()).await?;
        self.hold(*to);
        let mut data = None;
        for at in steps(path) {
            self.mouse("mouseMoved", at, left.clone()).await?;
            data = data.or_else(|| self.take_drag());
            if data.is_some() {
                break;
            }
        }
        if data.is_none() {
            let number = self.number;
            let handed = self.browser.observer.until(DRAG_TIMEOUT, |seen| {
                seen.tab(number).and_then(|tab| tab.drag.take())
            });
            data = handed.await;
        }
        if let Some(data) = data {
            for kind in ["dragEnter", "dragOver", "drop"] {
                let params = json!({"type": kind, "x": to.0, "y": to.1, "data": data});
                self.input("Input.dispatchDragEvent", params).await?;
            }
        }
        self.mouse("mouseReleased", *to, left.clone()).await
    }

    fn take_drag(&self) -> Option<Value> {
        let mut seen = self.browser.observer.seen();
        seen.tab(self.number).and_then(|tab| tab.drag.take())
    }

    fn hold(&self, (x, y): (f64, f64)) {
        let page = self.page.clone();
        *self.browser.held() = Some(HeldButton { page, x, y });
    }

    /// Turns the wheel at a point, or in the middle of the page.
    pub(super) async fn scroll(
        &self,
        at: Option<&PagePlace>,
        (dx, dy): (i32, i32),
        modifiers: &[String],
    ) -> Result<(), BrowseError> {
        let at = match at {
            Some(place) => self.point(place).await?,
            None => {
                let part = self.visible_part().await?;
                (part.width / 2.0, part.height / 2.0)
            }
        };
        let modifiers = modifier_bits(modifiers)?;
        let about = json!({"deltaX": dx, "deltaY": dy, "modifiers": modifiers});
        self.mouse("mouseWheel", at, about).await
    }

    pub(super) async fn scroll_to(&self, element: ElementRef) -> Result<(), BrowseError> {
        let frame = self.frame_of(element).await?;
        if frame.id != self.main {
            self.show_frame(&frame.id).await?;
        }
        let call = format!("scrollTo({})", element.element);
        if self.script(&frame, &call).await? {
            Ok(())
        } else {
            Err(BrowseError::Stale(element))
        }
    }
}

impl Browser {
    /// Releases the mouse button and the keys that a verb was holding when it was cut short.
    pub(crate) async fn let_go(&self) {
        let keys = self.held_keys().take();
        if let Some(HeldKeys { page, releases }) = keys {
            for event in releases {
                // A page that is gone holds nothing.
                let _: Result<Value, _> = page.call("Input.dispatchKeyEvent", event).await;
            }
        }
        let held = self.held().take();
        if let Some(HeldButton { page, x, y }) = held {
            let params = json!({"type": "mouseReleased", "x": x, "y": y, "button": "left"});
            // A page that is gone holds nothing.
            let _: Result<Value, _> = page.call("Input.dispatchMouseEvent", params).await;
            let params = json!({"enabled": false});
            let _: Result<Value, _> = page.call("Input.setInterceptDrags", params).await;
        }
    }
}

/// Returns the fields of an event with the left button down.
fn pressed(modifiers: u8) -> Value {
    json!({"button": "left", "buttons": 1, "clickCount": 1, "modifiers": modifiers})
}

/// Returns the points through which a drag moves. Each part of its path has several.
fn steps(path: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let n_steps = if path.len() > 2 { 2 } else { DRAG_STEPS };
    path.windows(2).flat_map(move |ends| {
        let (from, to) = (ends[0], ends[1]);
        (1..=n_steps).map(move |n| {
            let part = f64::from(n) / f64::from(n_steps);
            (
                from.0 + (to.0 - from.0) * part,
                from.1 + (to.1 - from.1) * part,
            )
        })
    })
}

fn button_name(button: Button) -> &'static str {
    match button {
        Button::Left => "left",
        Button::Middle => "middle",
        Button::Right => "right",
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and no page is that large"
)]
pub(super) fn whole(length: f64) -> i32 {
    length.round() as i32
}
