//! `editor`: shows and changes files.

use async_trait::async_trait;
use deskhand_core::{
    edit::EditCommand,
    policy::{CallSubject, Proposal, Risk},
    tool::{NativeTool, ToolSpec},
};
use serde_json::{Value, json};

use super::{
    BadCall, Invocation, Tool, ToolContext, ToolFailure, ToolOutput, object_schema, read_as,
    words::{LONGEST_CODE, shorten},
};

const NAME: &str = "editor";

#[derive(Debug)]
pub(super) struct EditorTool;

#[derive(Debug)]
struct Edit(EditCommand);

impl Tool for EditorTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Shows and changes files. Paths are absolute.".to_owned(),
            parameters: object_schema(
                &["command", "path"],
                &json!({
                    "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert"]},
                    "path": {"type": "string"},
                    "view_range": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2, "description": "First and last line to view, counted from 1; -1 is the end."},
                    "file_text": {"type": "string", "description": "All of a file that is created."},
                    "old_str": {"type": "string", "description": "What is replaced. It must occur exactly once."},
                    "new_str": {"type": "string", "description": "What it is replaced by."},
                    "insert_line": {"type": "integer", "minimum": 0, "description": "The line after which text is inserted; 0 is before the first."},
                    "insert_text": {"type": "string"},
                }),
            ),
            native: Some(NativeTool::Editor),
        }
    }

    fn read(&self, input: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        Ok(Box::new(Edit(read_as(NAME, input)?)))
    }
}

#[async_trait]
impl Invocation for Edit {
    fn describe(&self) -> String {
        let (did, path) = match &self.0 {
            EditCommand::View { path, .. } => ("Read", path),
            EditCommand::Create { path, .. } => ("Wrote", path),
            EditCommand::StrReplace { path, .. } | EditCommand::Insert { path, .. } => {
                ("Edited", path)
            }
            EditCommand::UndoEdit { path } => ("Undid the last edit of", path),
        };
        format!("{did} {}", shorten(path, LONGEST_CODE))
    }

    fn proposal(&self) -> Proposal {
        let (subject, risk) = match &self.0 {
            EditCommand::View { path, .. } => (format!("view {path}"), Risk::Looks),
            EditCommand::Create { path, .. } => (format!("create {path}"), Risk::Harmless),
            EditCommand::StrReplace { path, .. } => (format!("str_replace {path}"), Risk::Harmless),
            EditCommand::Insert { path, .. } => (format!("insert {path}"), Risk::Harmless),
            EditCommand::UndoEdit { path } => (format!("undo_edit {path}"), Risk::Harmless),
        };
        Proposal {
            tool: NAME.to_owned(),
            subject: CallSubject::text(subject),
            risk,
            wish: "The agent wants to use the editor".to_owned(),
        }
    }

    fn by_hand(&self) -> Result<(), &'static str> {
        Ok(())
    }

    async fn run(
        self: Box<Self>,
        context: &mut dyn ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::text(context.edit(self.0).await?))
    }
}
