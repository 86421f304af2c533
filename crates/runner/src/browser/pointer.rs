//! The pointer of the agent in a page: clicks, drags and scrolling.

use std::time::Duration;

use deskhand_core::{
    action::{Button, Point},
    browser::{ElementRef, PagePlace},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{BrowseError, Browser, HeldButton, keys::modifier_bits, tab::Tab};

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

    pub(super) async fn move_to(&self, (x, y): (f64, f64)) -> Result<(), BrowseError> {
        self.mouse("mouseMoved", (x, y), json!({})).await
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

    /// Drags from one point to another, with the mouse or, if the page offers data, by dropping it.
    pub(super) async fn drag(&self, from: (f64, f64), to: (f64, f64)) -> Result<(), BrowseError> {
        let intercept =
            |enabled: bool| self.input("Input.setInterceptDrags", json!({"enabled": enabled}));
        intercept(true).await?;
        let dragged = self.drag_intercepted(from, to).await;
        self.browser.held().take();
        intercept(false).await?;
        dragged
    }

    async fn drag_intercepted(&self, from: (f64, f64), to: (f64, f64)) -> Result<(), BrowseError> {
        let left = json!({"button": "left", "buttons": 1, "clickCount": 1});
        self.take_drag();
        self.move_to(from).await?;
        self.mouse("mousePressed", from, left.clone()).await?;
        self.hold(to);
        let step = |n: u32| {
            let part = f64::from(n) / f64::from(DRAG_STEPS);
            (
                from.0 + (to.0 - from.0) * part,
                from.1 + (to.1 - from.1) * part,
            )
        };
        let mut data = None;
        for n in 1..=DRAG_STEPS {
            self.mouse("mouseMoved", step(n), left.clone()).await?;
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
        self.mouse("mouseReleased", to, left).await
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
        dx: i32,
        dy: i32,
    ) -> Result<(), BrowseError> {
        let at = match at {
            Some(place) => self.point(place).await?,
            None => {
                let part = self.visible_part().await?;
                (part.width / 2.0, part.height / 2.0)
            }
        };
        self.mouse("mouseWheel", at, json!({"deltaX": dx, "deltaY": dy}))
            .await
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
    /// Releases the mouse button that a verb was holding when it was cut short.
    pub(crate) async fn let_go(&self) {
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
