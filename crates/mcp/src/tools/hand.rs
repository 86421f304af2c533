//! Tools by which a client uses the computer of a session itself, as a person does by hand.
//!
//! Their results are texts and pictures, without facts for programs: those would repeat the text.

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_app::{ActByHand, ByHand};
use deskhand_core::user::Scope;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool as ToolView};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{AnyTool, Effect, read, schema_of};
use crate::{
    call::{Call, session_id},
    refusal::CallError,
};

/// A tool whose work is one or more actions by hand.
pub(super) struct HandTool<I> {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// The text for the model that chooses among tools.
    pub(super) description: &'static str,
    pub(super) groups: &'static [&'static str],
    pub(super) effect: Effect,
    /// Returns the actions of a call.
    pub(super) acts: fn(I) -> Result<HandActs, CallError>,
}

/// The actions of one call. They are carried out one after the other, until one fails.
#[derive(Debug)]
pub(super) struct HandActs {
    session: String,
    acts: Vec<ActByHand>,
}

impl HandActs {
    /// Creates one action.
    pub(super) fn one(session: String, tool: &str, input: Value) -> Self {
        let acts = Self {
            session,
            acts: Vec::new(),
        };
        acts.then(tool, input)
    }

    /// Adds another action.
    pub(super) fn then(mut self, tool: &str, input: Value) -> Self {
        self.acts.push(ActByHand {
            tool: tool.to_owned(),
            input,
            look: false,
        });
        self
    }

    /// Takes a picture of the screen after the last action, if it is wanted.
    pub(super) fn and_look(mut self, look: bool) -> Self {
        if let Some(last) = self.acts.last_mut() {
            last.look = look;
        }
        self
    }
}

#[async_trait]
impl<I: DeserializeOwned + JsonSchema + 'static> AnyTool for HandTool<I> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn groups(&self) -> &'static [&'static str] {
        self.groups
    }

    fn view(&self) -> ToolView {
        let mut view = ToolView::new(self.name, self.description, schema_of::<I>());
        view.annotations = Some(self.effect.annotations(self.title));
        view
    }

    async fn call(
        &self,
        input: JsonObject,
        call: &Call<'_>,
    ) -> Result<CallToolResponse, CallError> {
        // Even a look uses the computer, and starts it.
        call.require(Scope::Write)?;
        let wanted = (self.acts)(read(self.name, input)?)?;
        let id = session_id(&wanted.session)?;
        let computers = call.app.computers();
        let mut said = Said::default();
        for act in wanted.acts {
            let acting = computers.act_by_hand(call.user(), id, act);
            match call.until_done(acting).await {
                Ok(done) if done.is_error => return Ok(said.failed(done).into()),
                Ok(done) => said.add(done),
                Err(refused) if said.texts.is_empty() => return Err(refused.into()),
                // Some of it was done, and the model has to know.
                Err(refused) => return Ok(said.refused(&refused.into()).into()),
            }
        }
        Ok(said.done().into())
    }
}

/// The results of the actions so far.
#[derive(Debug, Default)]
struct Said {
    texts: Vec<String>,
    pictures: Vec<ContentBlock>,
}

impl Said {
    fn add(&mut self, done: ByHand) {
        self.texts.push(in_names_of_tools(&done.text));
        if let Some(frame) = done.frame {
            let bytes = STANDARD.encode(&frame.bytes);
            let picture = ContentBlock::image(bytes, frame.format.media_type());
            self.pictures.push(picture);
        }
    }

    fn done(self) -> CallToolResult {
        CallToolResult::success(self.content())
    }

    fn failed(mut self, done: ByHand) -> CallToolResult {
        self.add(done);
        CallToolResult::error(self.content())
    }

    fn refused(mut self, refused: &CallError) -> CallToolResult {
        self.texts.push(refused.to_string());
        CallToolResult::error(self.content())
    }

    fn content(self) -> Vec<ContentBlock> {
        let text = ContentBlock::text(self.texts.join("\n"));
        let mut content = vec![text];
        content.extend(self.pictures);
        content
    }
}

/// Replaces the names of the agent's own actions by those of the tools here.
fn in_names_of_tools(text: &str) -> String {
    text.replace("with the action dialog", "with browser_handle_dialog")
}
