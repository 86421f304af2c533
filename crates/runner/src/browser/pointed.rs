//! Finds the element that a click or a key would be for, so that its consequences can be judged before.

use std::time::Duration;

use deskhand_core::{
    action::{Point, Region},
    browser::{ActivatingKey, ElementAt, ElementRef, PagePlace, PointedElement, TabNumber},
};
use futures::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Browser,
    devtools::{DevToolsError, Target},
    tab::Tab,
};

/// The most time that a look takes. A page that is too busy to answer is not waited for.
const LOOK_MAX: Duration = Duration::from_millis(300);
/// The most frames inside each other.
const MOST_LEVELS: usize = 6;

/// Our helpers, without those that a look does not need.
const SCRIPT: &str = concat!(
    include_str!("page/roles.js"),
    include_str!("page/pointed.js"),
);

/// An element, or the frame in which it is to be found.
#[derive(Deserialize)]
struct PointedAnswer {
    element: Option<PointedFacts>,
    /// The number of the element that shows the frame.
    frame: Option<u32>,
    x: Option<f64>,
    y: Option<f64>,
}

#[derive(Deserialize)]
struct PointedFacts {
    origin: String,
    title: String,
    role: String,
    name: String,
    is_submit: bool,
    has_password: bool,
    has_card: bool,
    is_checked: bool,
    surroundings: String,
}

impl From<PointedFacts> for PointedElement {
    fn from(facts: PointedFacts) -> Self {
        let element = Self {
            origin: facts.origin,
            title: facts.title,
            role: facts.role,
            name: facts.name,
            is_submit: facts.is_submit,
            has_password: facts.has_password,
            has_card: facts.has_card,
            is_checked: facts.is_checked,
            surroundings: facts.surroundings,
        };
        element.bounded()
    }
}

impl Browser {
    /// Returns the element at a point of the screen, where a window with this place is on top.
    pub(crate) async fn find_on_screen(
        &self,
        point: Point,
        window: Region,
    ) -> Option<PointedElement> {
        let Region { x0, y0, x1, y1 } = window;
        let call = format!(
            "onScreen({}, {}, [{x0}, {y0}, {x1}, {y1}])",
            point.x, point.y
        );
        let mut attached = Vec::new();
        let look = async {
            let targets = self.devtools.targets().await.ok()?;
            let pages = targets.iter().filter(|target| target.kind == "page");
            let pages = join_all(pages.map(|info| async {
                let page = self.devtools.attach(info).await.ok()?;
                Some((page, info.target_id.clone()))
            }));
            let pages: Vec<_> = pages.await.into_iter().flatten().collect();
            attached.extend(pages.iter().map(|(page, _)| page.clone()));
            for (page, frame) in pages {
                let found = self.descend(page, frame, call.clone(), &mut attached).await;
                if let Ok(Some(found)) = found {
                    return Some(found);
                }
            }
            None
        };
        let found = tokio::time::timeout(LOOK_MAX, look).await;
        leave(attached).await;
        found.ok().flatten()
    }

    /// Returns the element that a key is for, in the page that has the focus.
    pub(crate) async fn find_focused(&self, key: ActivatingKey) -> Option<PointedElement> {
        let mut attached = Vec::new();
        let look = async {
            let targets = self.devtools.targets().await.ok()?;
            let (page, _) = self.page_with_focus(&targets).await.ok()?;
            attached.push(page.clone());
            let frame = page.frames().await.ok()?.frame.id;
            let found = self.descend(page, frame, focused(key), &mut attached);
            found.await.ok().flatten()
        };
        let found = tokio::time::timeout(LOOK_MAX, look).await;
        leave(attached).await;
        found.ok().flatten()
    }

    /// Returns the element at a place of a page, or the one that a key or the answer to a dialog is for.
    pub(crate) async fn find_on_page(&self, at: &ElementAt) -> Option<PointedElement> {
        let number = match at {
            ElementAt::Page { tab, .. }
            | ElementAt::PageFocus { tab, .. }
            | ElementAt::PageField { tab, .. }
            | ElementAt::PageDialog { tab } => *tab,
            ElementAt::Screen(_) | ElementAt::Pointer | ElementAt::ScreenFocus(_) => return None,
        };
        // A browser whose tabs nobody follows has not been read yet.
        if !self.observer.seen().is_on {
            return None;
        }
        let mut attached = Vec::new();
        let look = async {
            let tab = self.tab(number).await.ok()?;
            let call = match at {
                ElementAt::Page {
                    place: PagePlace::Element(element),
                    ..
                } => return tab.referred("element", *element).await,
                ElementAt::PageField { field, .. } => return tab.referred("field", *field).await,
                ElementAt::Page {
                    place: PagePlace::Point(point),
                    ..
                } => format!("at({}, {})", point.x, point.y),
                ElementAt::PageFocus { key, .. } if !tab.has_dialog() => focused(*key),
                ElementAt::PageFocus { .. } | ElementAt::PageDialog { .. } => {
                    return self.dialog_of(tab.number);
                }
                ElementAt::Screen(_) | ElementAt::Pointer | ElementAt::ScreenFocus(_) => {
                    return None;
                }
            };
            let found = self.descend(tab.page.clone(), tab.main.clone(), call, &mut attached);
            found.await.ok().flatten()
        };
        let found = tokio::time::timeout(LOOK_MAX, look).await;
        leave(attached).await;
        found.ok().flatten()
    }

    /// Returns the button that accepts the dialog of a tab.
    fn dialog_of(&self, number: TabNumber) -> Option<PointedElement> {
        let mut seen = self.observer.seen();
        let tab = seen.tab(number)?;
        let dialog = tab.dialog.as_ref()?;
        let mut parts = tab.url.splitn(4, '/');
        let origin: Vec<&str> = parts.by_ref().take(3).collect();
        let element = PointedElement {
            origin: origin.join("/"),
            title: tab.title.clone(),
            role: "button".to_owned(),
            name: "OK".to_owned(),
            surroundings: dialog.message.clone(),
            ..PointedElement::default()
        };
        Some(element.bounded())
    }

    /// Looks in a frame, and in those inside it at the same place.
    async fn descend(
        &self,
        target: Target,
        frame: String,
        call: String,
        attached: &mut Vec<Target>,
    ) -> Result<Option<PointedElement>, DevToolsError> {
        let (mut target, mut frame, mut call) = (target, frame, call);
        for _ in 0..MOST_LEVELS {
            let script = format!("{SCRIPT}\ndeskhandPointed.{call}");
            let answer: PointedAnswer = target.evaluate(&frame, &script).await?;
            let Some(number) = answer.frame else {
                return Ok(answer.element.map(PointedElement::from));
            };
            let shown = format!("deskhandRoles.find({number})");
            let Some(thing) = target.find(&frame, &shown).await? else {
                return Ok(None);
            };
            let params = json!({"objectId": thing.0});
            let described: Value = target.call("DOM.describeNode", params).await?;
            let inside = described["node"]["frameId"].as_str();
            let Some(inside) = inside.map(str::to_owned) else {
                return Ok(None);
            };
            if !target.frames().await?.contains(&inside) {
                // Another process shows this frame.
                target = self.devtools.attach_to(&inside).await?;
                attached.push(target.clone());
            }
            frame = inside;
            if let (Some(x), Some(y)) = (answer.x, answer.y) {
                call = format!("at({x}, {y})");
            }
        }
        Ok(None)
    }
}

impl Tab {
    /// Returns what a helper finds for an element with a reference.
    async fn referred(&self, helper: &str, element: ElementRef) -> Option<PointedElement> {
        let frame = self.frame_of(element).await.ok()?;
        let call = format!("pointed.{helper}({})", element.element);
        let answer: PointedAnswer = self.script_within(LOOK_MAX, &frame, &call).await.ok()?;
        answer.element.map(PointedElement::from)
    }
}

fn focused(key: ActivatingKey) -> String {
    format!("focused({})", json!(key))
}

/// Detaches from targets. A browser that does not answer is not waited for.
async fn leave(attached: Vec<Target>) {
    let left = join_all(attached.into_iter().map(Target::detach));
    // What is still attached is let go with the browser.
    let _ = tokio::time::timeout(LOOK_MAX, left).await;
}
