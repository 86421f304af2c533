//! Writing, moving and removing files.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use deskhand_app::WriteFile;
use deskhand_core::{edit::EditCommand, file::WriteCondition};
use futures::stream;
use rmcp::model::ContentBlock;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{FileTool, IN_GROUP, line, path, text, user};
use crate::{
    call::{Call, session_id},
    refusal::CallError,
    tools::{
        Effect,
        hand::{HandActs, HandTool},
    },
};

pub(super) static WRITE: FileTool<FileWriteInput> = FileTool {
    name: "file_write",
    title: "Write a file",
    description: "Write a file on the computer, and its missing folders. An existing file is replaced.",
    effect: Effect::Acts,
    run: |input, call| Box::pin(write(input, call)),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FileWriteInput {
    session_id: String,
    /// The file, such as /tmp/a.txt or ~/a.txt.
    path: String,
    content: String,
    /// The content is in base64.
    #[serde(default)]
    base64: Option<bool>,
    #[serde(default)]
    executable: Option<bool>,
}

async fn write(input: FileWriteInput, call: &Call<'_>) -> Result<Vec<ContentBlock>, CallError> {
    let id = session_id(&input.session_id)?;
    let path = path(&input.path)?;
    let bytes = if input.base64 == Some(true) {
        let decoded = STANDARD.decode(input.content.trim());
        let decoded = decoded
            .map_err(|error| CallError::malformed(format!("content is not base64: {error}")))?;
        Bytes::from(decoded)
    } else {
        Bytes::from(input.content)
    };
    let file = WriteFile {
        path,
        length: u64::try_from(bytes.len()).ok(),
        condition: WriteCondition::Always,
        is_executable: input.executable == Some(true),
    };
    let body = stream::iter([Ok(bytes)]);
    let files = call.app.files();
    let (stat, is_new) = files.write(user(call), id, file, body).await?;
    let did = if is_new { "Wrote" } else { "Replaced" };
    Ok(text(format!("{did} {}.", line(&stat))))
}

pub(super) static EDIT: HandTool<FileEditInput> = HandTool {
    name: "file_edit",
    title: "Edit a file",
    description: "Replace a text in a file of the computer. It must occur exactly once.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let edit = EditCommand::StrReplace {
            path: input.path,
            old_str: input.old_text,
            new_str: input.new_text,
        };
        let edit = serde_json::to_value(edit).map_err(CallError::malformed)?;
        Ok(HandActs::one(input.session_id, "editor", edit))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FileEditInput {
    session_id: String,
    /// The absolute path of the file.
    path: String,
    old_text: String,
    new_text: String,
}

pub(super) static MAKE_FOLDER: FileTool<FileMakeFolderInput> = FileTool {
    name: "file_make_folder",
    title: "Make a folder",
    description: "Make a folder on the computer, and the missing ones above it.",
    effect: Effect::Acts,
    run: |input, call| Box::pin(make_folder(input, call)),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FileMakeFolderInput {
    session_id: String,
    path: String,
}

async fn make_folder(
    input: FileMakeFolderInput,
    call: &Call<'_>,
) -> Result<Vec<ContentBlock>, CallError> {
    let id = session_id(&input.session_id)?;
    let path = path(&input.path)?;
    let made = call.app.files().make_folder(user(call), id, path).await?;
    Ok(text(format!("Made {}.", line(&made))))
}

pub(super) static MOVE: FileTool<FileMoveInput> = FileTool {
    name: "file_move",
    title: "Move a file",
    description: "Move or rename a file or folder of the computer. Nothing is overwritten.",
    effect: Effect::Acts,
    run: |input, call| Box::pin(move_file(input, call)),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FileMoveInput {
    session_id: String,
    from: String,
    to: String,
}

async fn move_file(input: FileMoveInput, call: &Call<'_>) -> Result<Vec<ContentBlock>, CallError> {
    let id = session_id(&input.session_id)?;
    let (from, to) = (path(&input.from)?, path(&input.to)?);
    let moved = call.app.files().move_to(user(call), id, from, to).await?;
    Ok(text(format!("Moved it to {}.", line(&moved))))
}

pub(super) static DELETE: FileTool<FileDeleteInput> = FileTool {
    name: "file_delete",
    title: "Delete a file",
    description: "Delete a file or an empty folder of the computer, or a folder with everything in it.",
    effect: Effect::Ends,
    run: |input, call| Box::pin(delete(input, call)),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FileDeleteInput {
    session_id: String,
    path: String,
    /// Delete a folder with everything in it.
    #[serde(default)]
    recursive: Option<bool>,
}

async fn delete(input: FileDeleteInput, call: &Call<'_>) -> Result<Vec<ContentBlock>, CallError> {
    let id = session_id(&input.session_id)?;
    let path = path(&input.path)?;
    let is_recursive = input.recursive == Some(true);
    let files = call.app.files();
    files
        .remove(user(call), id, path, is_recursive, None)
        .await?;
    Ok(text(format!("Deleted {}.", input.path)))
}
