//! Commands for the sandbox's persistent shell, and their output.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The default timeout of a command.
pub const DEFAULT_TIMEOUT_MS: u64 = 120_000;
/// The longest timeout of a command.
pub const LONGEST_TIMEOUT_MS: u64 = 1_800_000;

/// A request to the shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "shell", rename_all = "snake_case", deny_unknown_fields)]
pub enum ShellRequest {
    /// Runs a command. The directory, variables, functions and background jobs stay for the next one.
    Run {
        command: String,
        #[serde(default = "default_timeout_ms")]
        #[schema(maximum = 1_800_000, default = 120_000)]
        timeout_ms: u64,
    },
    /// Ends the shell and everything started from it, and starts a new one.
    Restart,
}

fn default_timeout_ms() -> u64 {
    DEFAULT_TIMEOUT_MS
}

/// The output of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellOutput {
    /// Standard output and standard error, interleaved as they arrived. If they are too long, the middle is left out.
    pub output: String,
    /// The number of bytes that `output` leaves out.
    pub omitted_bytes: u64,
    /// The file in the sandbox with all of the output, if `output` leaves some out.
    #[serde(default)]
    pub file: Option<String>,
    pub ending: ShellEnding,
    /// The shell's current directory.
    pub cwd: String,
}

/// The way in which a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum ShellEnding {
    /// It ended by itself.
    Exited { code: i32 },
    /// It reached its timeout and was ended. The shell kept its state.
    TimedOut { after_ms: u64 },
    /// It reached its timeout, and the shell had to be ended with it. Variables and jobs are lost.
    TimedOutWithShell { after_ms: u64 },
    /// The command ended the shell itself. A new one is ready.
    ShellEnded { code: i32 },
    /// It was stopped from outside.
    Interrupted,
    /// The shell was restarted on request, and the new one is ready.
    Restarted,
}
