//! The frames of a page, and our scripts in them, which the page's own scripts can neither see nor change.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::devtools::{DevToolsError, Target};

/// The isolated world in which our scripts run. It shares only the document with the page.
const WORLD: &str = "deskhand";

/// The party for whom a script runs, as the page sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    /// Nobody: the page may do no more than before.
    None,
    /// Somebody who has just clicked: the page may play sound and fill the screen.
    Click,
}

/// A frame, with those of its descendants that the same process shows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameTree {
    pub(super) frame: Frame,
    #[serde(default)]
    pub(super) child_frames: Vec<FrameTree>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    pub(super) id: String,
    pub(super) parent_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TreeAnswer {
    frame_tree: FrameTree,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorldAnswer {
    execution_context_id: i64,
}

/// The result of a script.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    result: Outcome,
    exception_details: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    object_id: Option<String>,
    #[serde(default)]
    value: Value,
}

/// A reference to an object in a page on which our scripts can be called.
#[derive(Debug)]
pub(super) struct Thing(pub(super) String);

impl FrameTree {
    pub(super) fn contains(&self, id: &str) -> bool {
        self.frame.id == id || self.child_frames.iter().any(|child| child.contains(id))
    }
}

impl Target {
    pub(super) async fn frames(&self) -> Result<FrameTree, DevToolsError> {
        let answer: TreeAnswer = self.call("Page.getFrameTree", json!({})).await?;
        Ok(answer.frame_tree)
    }

    /// Evaluates an expression in a frame and returns its value.
    pub(super) async fn evaluate<T: serde::de::DeserializeOwned>(
        &self,
        frame: &str,
        expression: &str,
    ) -> Result<T, DevToolsError> {
        let method = "Runtime.evaluate";
        let params = json!({
            "contextId": self.world(frame).await?,
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
        });
        read(method, self.call(method, params).await?)
    }

    /// Like [`Self::frames`], with another timeout.
    pub(super) async fn frames_within(
        &self,
        timeout: Duration,
    ) -> Result<FrameTree, DevToolsError> {
        let asked = self.call_within(timeout, "Page.getFrameTree", json!({}));
        let answer: TreeAnswer = asked.await?;
        Ok(answer.frame_tree)
    }

    /// Like [`Self::evaluate`], with another timeout and activation.
    pub(super) async fn evaluate_within<T: serde::de::DeserializeOwned>(
        &self,
        timeout: Duration,
        frame: &str,
        expression: &str,
        activation: Activation,
    ) -> Result<T, DevToolsError> {
        let params = json!({"frameId": frame, "worldName": WORLD});
        let world = self.call_within(timeout, "Page.createIsolatedWorld", params);
        let world: WorldAnswer = world.await?;
        let method = "Runtime.evaluate";
        let params = json!({
            "contextId": world.execution_context_id,
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
            "userGesture": activation == Activation::Click,
        });
        read(method, self.call_within(timeout, method, params).await?)
    }

    /// Evaluates an expression in a frame and returns a reference to the resulting object, if it is one.
    pub(super) async fn find(
        &self,
        frame: &str,
        expression: &str,
    ) -> Result<Option<Thing>, DevToolsError> {
        let params = json!({"contextId": self.world(frame).await?, "expression": expression});
        let found: Evaluated = self.call("Runtime.evaluate", params).await?;
        Ok(found.result.object_id.map(Thing))
    }

    /// Calls a function on an object, in the world in which the object was found.
    pub(super) async fn call_on<T: serde::de::DeserializeOwned>(
        &self,
        thing: &Thing,
        function: &str,
        arguments: &[&str],
    ) -> Result<T, DevToolsError> {
        let method = "Runtime.callFunctionOn";
        let arguments: Vec<_> = arguments
            .iter()
            .map(|text| json!({"value": text}))
            .collect();
        let params = json!({
            "objectId": thing.0,
            "functionDeclaration": function,
            "arguments": arguments,
            "returnByValue": true,
        });
        read(method, self.call(method, params).await?)
    }

    pub(super) async fn world(&self, frame: &str) -> Result<i64, DevToolsError> {
        let params = json!({"frameId": frame, "worldName": WORLD});
        let world: WorldAnswer = self.call("Page.createIsolatedWorld", params).await?;
        Ok(world.execution_context_id)
    }
}

fn read<T: serde::de::DeserializeOwned>(
    method: &'static str,
    evaluated: Evaluated,
) -> Result<T, DevToolsError> {
    if evaluated.exception_details.is_some() {
        return Err(DevToolsError::Refused(method));
    }
    // The JSON error could quote content of the page.
    serde_json::from_value(evaluated.result.value).map_err(|_words| DevToolsError::Strange(method))
}
