//! Commands for the sandbox's persistent shell, and what came of them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How long a command may take when nobody says otherwise.
pub const DEFAULT_TIMEOUT_MS: u64 = 120_000;
/// The most a command may ask for.
pub const LONGEST_TIMEOUT_MS: u64 = 1_800_000;

/// One thing asked of the shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "shell", rename_all = "snake_case", deny_unknown_fields)]
pub enum ShellRequest {
    /// Runs a command; directory, variables, functions and background jobs stay for the next one.
    Run {
        command: String,
        #[serde(default = "default_timeout_ms")]
        #[schema(maximum = 1_800_000, default = 120_000)]
        timeout_ms: u64,
    },
    /// Ends the shell and everything started from it, and begins a new one.
    Restart,
}

fn default_timeout_ms() -> u64 {
    DEFAULT_TIMEOUT_MS
}

/// How a command went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellOutput {
    /// Standard output and standard error as they came, with the middle left out when too long.
    pub output: String,
    /// Bytes of output that `output` leaves out.
    pub omitted_bytes: u64,
    pub ending: ShellEnding,
    /// The directory the shell is in now.
    pub cwd: String,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum ShellEnding {
    /// It ended by itself.
    Exited { code: i32 },
    /// It took too long and was ended. The shell kept its state.
    TimedOut { after_ms: u64 },
    /// It took too long and the shell had to be ended with it: variables and jobs are gone.
    TimedOutWithShell { after_ms: u64 },
    /// The command ended the shell itself. A new one stands ready.
    ShellEnded { code: i32 },
    /// A stop came from outside.
    Interrupted,
    /// A new shell was asked for and stands ready.
    Restarted,
}
