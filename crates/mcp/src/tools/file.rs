//! `file_*`: the files of a session's computer.

mod change;
mod read;

use async_trait::async_trait;
use deskhand_app::FileUser;
use deskhand_core::{
    file::{FileKind, FilePath, FileStat},
    user::Scope,
};
use futures::future::BoxFuture;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool as ToolView};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{AnyTool, Effect, FILE, schema_of};
use crate::{call::Call, refusal::CallError};

const IN_GROUP: &[&str] = &[FILE];

/// All of them, in the order in which clients see them.
pub(super) static TOOLS: &[&dyn AnyTool] = &[
    &read::LIST,
    &read::READ,
    &change::WRITE,
    &change::EDIT,
    &change::MAKE_FOLDER,
    &change::MOVE,
    &change::DELETE,
];

/// The work of a tool.
type Work<'a> = BoxFuture<'a, Result<Vec<ContentBlock>, CallError>>;

/// A tool for files. Its result is a text, or the file itself.
struct FileTool<I> {
    name: &'static str,
    title: &'static str,
    /// The text for the model that chooses among tools.
    description: &'static str,
    effect: Effect,
    run: for<'a> fn(I, &'a Call<'a>) -> Work<'a>,
}

#[async_trait]
impl<I: DeserializeOwned + JsonSchema + Send + 'static> AnyTool for FileTool<I> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn groups(&self) -> &'static [&'static str] {
        IN_GROUP
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
        call.require(self.effect.needed())?;
        let input = super::read(self.name, input)?;
        let content = call.until_done((self.run)(input, call)).await?;
        Ok(CallToolResult::success(content).into())
    }
}

/// Returns the caller as a user of files. Only a token that may write starts a computer.
fn user(call: &Call<'_>) -> FileUser {
    FileUser {
        user: call.user(),
        may_wake: call.identity.scope >= Scope::Write,
    }
}

fn path(text: &str) -> Result<FilePath, CallError> {
    text.to_owned()
        .try_into()
        .map_err(|error: deskhand_core::file::BadFilePath| CallError::malformed(error))
}

fn text(text: impl Into<String>) -> Vec<ContentBlock> {
    vec![ContentBlock::text(text)]
}

/// Describes a file in one line.
fn line(file: &FileStat) -> String {
    match file.kind {
        FileKind::File => format!("{} ({} bytes)", file.path, file.size),
        FileKind::Folder => format!("{}/", file.path),
        FileKind::Link => {
            let target = file.target.as_deref().unwrap_or("nothing");
            format!("{} -> {target}", file.path)
        }
        FileKind::Other => format!("{} (not a file)", file.path),
    }
}
