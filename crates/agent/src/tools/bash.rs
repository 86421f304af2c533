//! `bash`: a shell that keeps its state from call to call.

use async_trait::async_trait;
use deskhand_core::{
    policy::{CallSubject, Proposal, Risk},
    shell::{LONGEST_TIMEOUT_MS, ShellEnding, ShellOutput, ShellRequest},
    tool::{NativeTool, ToolSpec},
};
use serde_json::{Value, json};

use super::{
    BadCall, Invocation, Tool, ToolContext, ToolFailure, ToolOutput, object_schema, read_as,
    shell_text::shell_text,
    words::{LONGEST_CODE, shorten},
};

const NAME: &str = "bash";

#[derive(Debug)]
pub(super) struct BashTool;

#[derive(Debug)]
struct Shell(ShellRequest);

impl Tool for BashTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Runs a command in a shell that keeps its directory, variables and background jobs from one \
                          call to the next. Nobody can type into it."
                .to_owned(),
            parameters: object_schema(
                &[],
                &json!({
                    "command": {"type": "string"},
                    "timeout_s": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": LONGEST_TIMEOUT_MS / 1000,
                        "description": "The seconds after which the command is ended; 120 when absent.",
                    },
                    "restart": {"type": "boolean", "description": "Ends the shell and begins a new one."},
                }),
            ),
            native: Some(NativeTool::Shell),
        }
    }

    fn read(&self, input: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        Ok(Box::new(Shell(read_as(NAME, input)?)))
    }
}

#[async_trait]
impl Invocation for Shell {
    fn describe(&self) -> String {
        match &self.0 {
            ShellRequest::Run { command, .. } => format!("Ran {}", shorten(command, LONGEST_CODE)),
            ShellRequest::Restart => "Restarted the shell".to_owned(),
        }
    }

    fn proposal(&self) -> Proposal {
        let (subject, wish) = match &self.0 {
            ShellRequest::Run { command, .. } => (
                CallSubject::shell(command),
                "The agent wants to run a command",
            ),
            ShellRequest::Restart => (
                CallSubject::text("restart"),
                "The agent wants to start a new shell",
            ),
        };
        Proposal {
            tool: NAME.to_owned(),
            subject,
            risk: Risk::ByCommand,
            wish: wish.to_owned(),
        }
    }

    fn by_hand(&self) -> Result<(), &'static str> {
        Ok(())
    }

    async fn run(
        self: Box<Self>,
        context: &mut dyn ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let output = context.shell(self.0).await?;
        let (text, is_error) = shell_text(&output);
        Ok(ToolOutput {
            is_error,
            state: Some(state(&output)),
            ..ToolOutput::text(text)
        })
    }
}

fn state(output: &ShellOutput) -> Value {
    let mut state = json!({"cwd": output.cwd});
    if let ShellEnding::Exited { code } | ShellEnding::ShellEnded { code } = output.ending {
        state["exit_code"] = code.into();
    }
    state
}
