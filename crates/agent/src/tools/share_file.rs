//! `share_file`: shares a file with the people in the session. It outlives the computer.

use async_trait::async_trait;
use deskhand_core::{
    event::{Artifact, EventBody},
    file::{FilePath, LARGEST_ARTIFACT_BYTES, media_type_of},
    policy::{CallSubject, Proposal, Risk},
    tool::ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    BadCall, Invocation, Tool, ToolContext, ToolFailure, ToolOutput, object_schema, read_as,
    words::{LONGEST_CODE, shorten},
};

const NAME: &str = "share_file";

#[derive(Debug)]
pub(super) struct ShareFileTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareFile {
    path: String,
}

/// A call with a valid path.
#[derive(Debug)]
struct Sharing {
    path: FilePath,
    name: String,
}

impl Tool for ShareFileTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: format!(
                "Hands a file to the people in this session: they see a preview and can download it, also later. Use \
                 it for every result that is a file, such as a report, a table or a picture. It takes one file of at \
                 most {} MiB; pack several into an archive first.",
                LARGEST_ARTIFACT_BYTES / (1024 * 1024)
            ),
            parameters: object_schema(
                &["path"],
                &json!({"path": {"type": "string", "description": "an absolute path, or one in the home folder"}}),
            ),
            native: None,
        }
    }

    fn read(&self, input: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        let call: ShareFile = read_as(NAME, input)?;
        let bad = |problem: String| BadCall::Input {
            tool: NAME.to_owned(),
            problem,
        };
        let is_whole = call.path.starts_with(['/', '~']);
        let path = if is_whole {
            call.path.parse::<FilePath>()
        } else {
            format!("~/{}", call.path).parse()
        };
        let path = path.map_err(|error| bad(error.to_string()))?;
        let name = path.name().map(str::to_owned);
        let name = name.ok_or_else(|| bad("the path names a folder".to_owned()))?;
        Ok(Box::new(Sharing { path, name }))
    }
}

#[async_trait]
impl Invocation for Sharing {
    fn describe(&self) -> String {
        format!("Shared {}", shorten(&self.name, LONGEST_CODE))
    }

    fn proposal(&self) -> Proposal {
        Proposal {
            tool: NAME.to_owned(),
            subject: CallSubject::text(self.path.as_str()),
            // Everybody who can see the shared file could also read the original.
            risk: Risk::Exempt,
            wish: format!(
                "The agent wants to share {}",
                shorten(&self.name, LONGEST_CODE)
            ),
        }
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(
        self: Box<Self>,
        context: &mut dyn ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let turn = context.turn().ok_or("only the agent shares files")?;
        let taken = context.take_file(self.path).await?;
        let size = u64::try_from(taken.bytes.len()).unwrap_or(u64::MAX);
        let blob = context.keep_file(taken.bytes).await?;
        let shared = Artifact {
            turn,
            media_type: media_type_of(&self.name).to_owned(),
            name: self.name,
            size,
            blob,
        };
        let text = format!(
            "People can see and download {} ({size} bytes).",
            shared.name
        );
        context.append(vec![EventBody::Artifact(shared)]).await?;
        Ok(ToolOutput::text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_be_relative_to_the_home_folder() {
        let described = |path: &str| {
            let read = ShareFileTool.read(&json!({ "path": path }));
            read.map(|call| (call.describe(), format!("{:?}", call.proposal().subject)))
        };
        let subject = |path: &str| format!("{:?}", CallSubject::text(path));
        for (path, whole) in [
            ("report.pdf", "~/report.pdf"),
            ("~/a/report.pdf", "~/a/report.pdf"),
            ("/tmp/report.pdf", "/tmp/report.pdf"),
        ] {
            let (sentence, found) = described(path).unwrap();
            assert_eq!(
                (sentence.as_str(), found),
                ("Shared report.pdf", subject(whole))
            );
        }
        for path in ["", "~", "/", "../report.pdf", "a//b"] {
            assert!(described(path).is_err(), "{path:?}");
        }
    }
}
