//! A tab that is attached to, with its frames and our scripts in them.

use std::time::Duration;

use deskhand_core::browser::{ElementRef, TabNumber};
use futures::future::join_all;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    BrowseError, Browser, DevToolsError,
    devtools::Target,
    frames::{Activation, FrameTree, Thing},
};

/// Our helpers in pages.
const PAGE_SCRIPT: &str = concat!(
    include_str!("page/roles.js"),
    include_str!("page/tree.js"),
    include_str!("page/player.js"),
    include_str!("page/pointed.js"),
    include_str!("page.js"),
);
/// The value of a call where the helpers are not installed yet.
const MISSING: &str = "deskhand: missing";
/// The timeout of a call that is not said to take longer.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(20);
/// The most frames of a page that are read.
const MOST_FRAMES: usize = 40;
/// The longest verb. Nothing waits longer for an interruption.
const LONGEST_VERB: Duration = Duration::from_secs(120);

/// A tab that is attached to.
#[derive(Debug, Clone)]
pub(super) struct Tab {
    pub(super) browser: Browser,
    pub(super) number: TabNumber,
    pub(super) page: Target,
    /// The id of its main frame.
    pub(super) main: String,
}

/// A frame of a tab.
#[derive(Debug, Clone)]
pub(super) struct FrameHandle {
    pub(super) target: Target,
    pub(super) id: String,
    /// The id of the frame around it.
    pub(super) parent: Option<String>,
    /// The number in references.
    pub(super) number: u32,
    /// True if its target shows nothing above it.
    pub(super) is_root: bool,
}

/// A reason to stop waiting for an answer.
enum Interruption {
    Dialog,
    Crash,
    Closed,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameOwner {
    backend_node_id: i64,
}

#[derive(Deserialize)]
struct ContentBox {
    model: ContentModel,
}

#[derive(Deserialize)]
struct ContentModel {
    content: Vec<f64>,
}

impl Tab {
    pub(super) fn main_frame(&self) -> FrameHandle {
        FrameHandle {
            target: self.page.clone(),
            id: self.main.clone(),
            parent: None,
            number: 0,
            is_root: true,
        }
    }

    /// Calls a helper in a frame, such as `viewport()`.
    pub(super) async fn script<T: DeserializeOwned>(
        &self,
        frame: &FrameHandle,
        call: &str,
    ) -> Result<T, BrowseError> {
        self.script_within(SCRIPT_TIMEOUT, frame, call).await
    }

    /// Like [`Self::script`], for a page that may do what follows a click.
    pub(super) async fn script_after_click<T: DeserializeOwned>(
        &self,
        frame: &FrameHandle,
        call: &str,
    ) -> Result<T, BrowseError> {
        self.run_script(SCRIPT_TIMEOUT, frame, call, Activation::Click)
            .await
    }

    pub(super) async fn script_within<T: DeserializeOwned>(
        &self,
        timeout: Duration,
        frame: &FrameHandle,
        call: &str,
    ) -> Result<T, BrowseError> {
        self.run_script(timeout, frame, call, Activation::None)
            .await
    }

    async fn run_script<T: DeserializeOwned>(
        &self,
        timeout: Duration,
        frame: &FrameHandle,
        call: &str,
        activation: Activation,
    ) -> Result<T, BrowseError> {
        let asked = format!(
            "typeof deskhandPage === 'object' ? deskhandPage.{call} : {}",
            json!(MISSING)
        );
        let (target, id) = (&frame.target, &*frame.id);
        let answered = target.evaluate_within::<Value>(timeout, id, &asked, activation);
        let mut value = self.unless_interrupted(answered).await?;
        if value == MISSING {
            let installed = format!("{PAGE_SCRIPT}\ndeskhandPage.{call}");
            let answered = target.evaluate_within(timeout, id, &installed, activation);
            value = self.unless_interrupted(answered).await?;
        }
        let read = serde_json::from_value(value);
        // The JSON error could quote content of the page.
        read.map_err(|_words| DevToolsError::Strange("Runtime.evaluate").into())
    }

    /// Waits for an answer, but no longer than until the page opens a dialog, crashes or is closed.
    pub(super) async fn unless_interrupted<T>(
        &self,
        answered: impl Future<Output = Result<T, DevToolsError>>,
    ) -> Result<T, BrowseError> {
        let number = self.number;
        let interrupted = self.browser.observer.until(LONGEST_VERB, |seen| {
            let Some(tab) = seen.tab(number) else {
                return Some(Interruption::Closed);
            };
            let has_dialog = tab.dialog.is_some();
            tab.is_crashed
                .then_some(Interruption::Crash)
                .or(has_dialog.then_some(Interruption::Dialog))
        });
        tokio::select! {
            biased;
            answer = answered => Ok(answer?),
            interruption = interrupted => Err(match interruption {
                Some(Interruption::Dialog) => self.dialog_error(),
                Some(Interruption::Crash) => BrowseError::Crashed(number),
                Some(Interruption::Closed) => BrowseError::NoTab(number),
                None => DevToolsError::Late.into(),
            }),
        }
    }

    /// Sends input to the page. A dialog that it opens is an effect, not a failure.
    pub(super) async fn input(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<(), BrowseError> {
        let answered = self
            .page
            .call_within::<Value>(SCRIPT_TIMEOUT, method, params);
        match self.unless_interrupted(answered).await {
            Ok(_) | Err(BrowseError::Dialog { .. } | BrowseError::NoTab(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn dialog_error(&self) -> BrowseError {
        let mut seen = self.browser.observer.seen();
        let dialog = seen.tab(self.number).and_then(|tab| tab.dialog.clone());
        match dialog {
            Some(dialog) => BrowseError::Dialog {
                kind: dialog.kind,
                message: dialog.message,
            },
            None => DevToolsError::Late.into(),
        }
    }

    /// Returns all frames of the tab, parents first.
    pub(super) async fn frames(&self) -> Result<Vec<FrameHandle>, BrowseError> {
        self.frames_within(SCRIPT_TIMEOUT).await
    }

    /// Like [`Self::frames`], with another timeout for frames that other processes show. Those that do not answer are
    /// left out.
    pub(super) async fn frames_within(
        &self,
        timeout: Duration,
    ) -> Result<Vec<FrameHandle>, BrowseError> {
        let tree = self
            .unless_interrupted(self.page.frames_within(SCRIPT_TIMEOUT))
            .await?;
        let mut found = Vec::new();
        self.collect(&self.page, &tree, true, &mut found);
        // Frames that another process shows may contain further ones of that kind.
        let mut n_seen = 0;
        loop {
            let records = {
                let mut seen = self.browser.observer.seen();
                seen.tab(self.number).map(|tab| tab.frames.clone())
            };
            let records = records.unwrap_or_default();
            if n_seen >= records.len() || found.len() >= MOST_FRAMES {
                break;
            }
            let asked = records[n_seen..].iter().map(|record| {
                let target = self.browser.devtools.target(record.session.clone());
                self.tree_of(target, record.is_prepared, timeout)
            });
            for (target, tree) in join_all(asked).await.into_iter().flatten() {
                self.collect(&target, &tree, true, &mut found);
            }
            n_seen = records.len();
        }
        found.truncate(MOST_FRAMES);
        let mut seen = self.browser.observer.seen();
        if let Some(tab) = seen.tab(self.number) {
            for frame in &mut found {
                frame.number = tab.frame_number(&frame.id);
            }
        }
        Ok(found)
    }

    /// Returns the frames that another process shows. If it does not answer or is gone, there is nothing to read.
    async fn tree_of(
        &self,
        target: Target,
        is_prepared: bool,
        timeout: Duration,
    ) -> Option<(Target, FrameTree)> {
        let asked = async {
            if !is_prepared {
                self.prepare_frame(&target).await;
            }
            target.frames_within(timeout).await.ok()
        };
        let tree = tokio::time::timeout(timeout, asked).await.ok()??;
        Some((target, tree))
    }

    async fn prepare_frame(&self, target: &Target) {
        // A frame that is gone needs no preparation.
        let _: Result<Value, _> = target.call("Target.setAutoAttach", auto_attach()).await;
        let _: Result<Value, _> = target.call("Page.enable", json!({})).await;
        let mut seen = self.browser.observer.seen();
        let tab = seen.tab(self.number);
        let frames = tab.map(|tab| tab.frames.iter_mut());
        for frame in frames.into_iter().flatten() {
            if frame.session == target.session() {
                frame.is_prepared = true;
            }
        }
    }

    fn collect(
        &self,
        target: &Target,
        tree: &FrameTree,
        is_root: bool,
        found: &mut Vec<FrameHandle>,
    ) {
        if found.len() >= MOST_FRAMES || found.iter().any(|known| known.id == tree.frame.id) {
            return;
        }
        found.push(FrameHandle {
            target: target.clone(),
            id: tree.frame.id.clone(),
            parent: tree.frame.parent_id.clone(),
            number: 0,
            is_root,
        });
        for child in &tree.child_frames {
            self.collect(target, child, false, found);
        }
    }

    /// Returns the frame of a reference.
    pub(super) async fn frame_of(&self, element: ElementRef) -> Result<FrameHandle, BrowseError> {
        if element.frame == 0 {
            return Ok(self.main_frame());
        }
        let mut frames = self.frames().await?.into_iter();
        let frame = frames.find(|frame| frame.number == element.frame);
        frame.ok_or(BrowseError::Stale(element))
    }

    /// Returns an element of a frame.
    pub(super) async fn element(
        &self,
        frame: &FrameHandle,
        element: ElementRef,
    ) -> Result<Thing, BrowseError> {
        let found = format!("globalThis.deskhandPage?.find({})", element.element);
        let found = self
            .unless_interrupted(frame.target.find(&frame.id, &found))
            .await?;
        found.ok_or(BrowseError::Stale(element))
    }

    /// Returns the place of a frame's top left corner on the page.
    pub(super) async fn origin_of(&self, frame: &FrameHandle) -> Result<(f64, f64), BrowseError> {
        if frame.id == self.main {
            return Ok((0.0, 0.0));
        }
        let frames = self.frames().await?;
        let (mut x, mut y) = (0.0, 0.0);
        let mut frame = frame.clone();
        while frame.id != self.main {
            let parent = frames
                .iter()
                .find(|one| Some(&one.id) == frame.parent.as_ref());
            let parent = parent.ok_or(BrowseError::DevTools(DevToolsError::Strange("frames")))?;
            let (left, top) = self.corner(&parent.target, &frame.id).await?;
            (x, y) = (x + left, y + top);
            // Places are those in the target of the parent, so the next step is from that target's root.
            let root = frames
                .iter()
                .find(|one| one.is_root && one.target.session() == parent.target.session());
            frame = root.unwrap_or(parent).clone();
        }
        Ok((x, y))
    }

    async fn corner(&self, parent: &Target, frame: &str) -> Result<(f64, f64), BrowseError> {
        let owner = parent.call("DOM.getFrameOwner", json!({"frameId": frame}));
        let owner: FrameOwner = self.unless_interrupted(owner).await?;
        let params = json!({"backendNodeId": owner.backend_node_id});
        let boxed: ContentBox = self
            .unless_interrupted(parent.call("DOM.getBoxModel", params))
            .await?;
        match boxed.model.content[..] {
            [x, y, ..] => Ok((x, y)),
            _ => Err(DevToolsError::Strange("DOM.getBoxModel").into()),
        }
    }
}

/// Returns the settings with which frames of other processes are attached to as they appear.
pub(super) fn auto_attach() -> Value {
    json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true})
}
