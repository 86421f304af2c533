//! `shell_*`: the shell of a session's computer, which keeps its state from call to call.

use deskhand_core::shell::{LONGEST_TIMEOUT_MS, ShellRequest};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    AnyTool, Effect, SHELL,
    hand::{HandActs, HandTool},
};
use crate::refusal::CallError;

const SHELL_TOOL: &str = "bash";
const IN_GROUP: &[&str] = &[SHELL];
/// The timeout of a command, unless the client chooses. Many clients wait for no call longer than a minute.
const USUAL_TIMEOUT_SECONDS: f64 = 55.0;

pub(super) static TOOLS: &[&dyn AnyTool] = &[&RUN, &RESTART];

static RUN: HandTool<ShellRunInput> = HandTool {
    name: "shell_run",
    title: "Run a command",
    description: "Run a command in the shell of the computer and return its output and exit code. The shell keeps its \
        directory, variables and background jobs for the next command; nobody can type into it. Long output is cut in \
        the middle.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| {
        let run = ShellRequest::Run {
            timeout_ms: milliseconds(input.timeout_seconds)?,
            command: input.command,
        };
        shell(input.session_id, &run)
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ShellRunInput {
    session_id: String,
    command: String,
    /// Without it 55, at most 1800. The command is ended after that.
    #[serde(default)]
    timeout_seconds: Option<f64>,
}

static RESTART: HandTool<ShellRestartInput> = HandTool {
    name: "shell_restart",
    title: "Restart the shell",
    description: "End the shell and everything that was started from it, and begin a new one.",
    groups: IN_GROUP,
    effect: Effect::Acts,
    acts: |input| shell(input.session_id, &ShellRequest::Restart),
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ShellRestartInput {
    session_id: String,
}

fn shell(session: String, request: &ShellRequest) -> Result<HandActs, CallError> {
    let input = serde_json::to_value(request).map_err(CallError::malformed)?;
    Ok(HandActs::one(session, SHELL_TOOL, input))
}

fn milliseconds(seconds: Option<f64>) -> Result<u64, CallError> {
    let timeout = std::time::Duration::try_from_secs_f64(seconds.unwrap_or(USUAL_TIMEOUT_SECONDS));
    let timeout =
        timeout.map_err(|error| CallError::malformed(format!("timeoutSeconds: {error}")))?;
    let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    Ok(ms.clamp(1, LONGEST_TIMEOUT_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_has_bounds() {
        assert_eq!(milliseconds(None).unwrap(), 55_000);
        assert_eq!(milliseconds(Some(1.5)).unwrap(), 1_500);
        assert_eq!(milliseconds(Some(1e9)).unwrap(), LONGEST_TIMEOUT_MS);
        assert!(milliseconds(Some(-1.0)).is_err());
    }
}
