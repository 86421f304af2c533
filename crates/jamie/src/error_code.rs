//! The error codes of the streaming contract, as one table.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The cause of an error, and so who can do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// The person who asked can fix it.
    User,
    /// Another try may succeed.
    Transient,
    /// An administrator has to change a setting.
    Config,
    /// Somebody else's service failed.
    External,
    /// A bound was reached, or there is a bug.
    Internal,
}

impl Category {
    /// Returns the word for logs and the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Transient => "transient",
            Self::Config => "config",
            Self::External => "external",
            Self::Internal => "internal",
        }
    }
}

/// The automatic tries after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    Never,
    /// One more try after each of these times.
    After(&'static [Duration]),
    /// Up to this many retries, each after the delay that the other side asks for (`Retry-After`).
    WhenTold {
        at_most: usize,
    },
}

impl Retry {
    /// Returns the number of tries that follow the first one.
    pub const fn at_most(self) -> usize {
        match self {
            Self::Never => 0,
            Self::After(waits) => waits.len(),
            Self::WhenTold { at_most } => at_most,
        }
    }

    /// Returns the time before the next try, or nothing if there is none. `told` is the time that the other side asked
    /// for.
    pub fn wait(self, n_retries_before: usize, told: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::After(waits) => waits.get(n_retries_before).copied(),
            Self::WhenTold { at_most } => {
                (n_retries_before < at_most).then(|| told.unwrap_or(Duration::from_secs(1)))
            }
        }
    }
}

/// The row of one error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCodeRow {
    /// The name on the wire.
    pub name: &'static str,
    /// The number in logs. Codes that only the controller's API has are without one.
    pub number: Option<&'static str>,
    pub http_status: u16,
    pub category: Category,
    pub retry: Retry,
    /// The reason in a few words, as the contract has it.
    pub summary: &'static str,
    /// The message for the person who asked. Codes without one have the general message with the reason.
    pub user_message: Option<&'static str>,
}

const IN_A_MOMENT: Retry = Retry::After(&[
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
]);
const WITH_A_FRESH_SANDBOX: Retry =
    Retry::After(&[Duration::from_secs(5), Duration::from_secs(15)]);
const RECONNECT: Retry = Retry::After(&[Duration::from_secs(5); 3]);
const ONCE_AT_ONCE: Retry = Retry::After(&[Duration::ZERO]);

macro_rules! error_codes {
    ($($code:ident: $name:literal, $number:expr, $status:literal, $category:ident, $retry:expr, $summary:literal, $message:expr;)*) => {
        /// The reason a stream was not started, not stopped, or ended early.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($code,)*
        }

        impl ErrorCode {
            /// All codes, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$code,)*];

            /// Returns the code's row of the table.
            pub const fn row(self) -> &'static ErrorCodeRow {
                match self {
                    $(Self::$code => &ErrorCodeRow {
                        name: $name,
                        number: $number,
                        http_status: $status,
                        category: Category::$category,
                        retry: $retry,
                        summary: $summary,
                        user_message: $message,
                    },)*
                }
            }
        }
    };
}

error_codes! {
    NotInVoice: "ERR_NOT_IN_VOICE", Some("E4001"), 400, User, Retry::Never, "User not in a voice channel",
        Some("❌ You're not in any voice channel I can see.\nJoin a voice channel in a server we share, then try again.");
    InvalidUrl: "ERR_INVALID_URL", Some("E4002"), 400, User, Retry::Never, "URL format not recognized",
        Some("❌ I couldn't find a valid URL in your message.\nSend me a YouTube, Twitch, or Vimeo link to stream!");
    Busy: "ERR_BUSY", Some("E4003"), 409, User, Retry::Never, "Stream already in progress",
        Some("⏳ I'm already streaming somewhere else.\nDM `stop` to end that stream first.");
    NotRequester: "ERR_NOT_REQUESTER", Some("E4004"), 403, User, Retry::Never, "Only requester can stop",
        Some("❌ Only the person who started the stream can stop it.");
    NotFound: "ERR_NOT_FOUND", None, 404, User, Retry::Never, "Session not found",
        Some("ℹ️ Nothing is streaming right now.");
    ChannelNotFound: "ERR_CHANNEL_NOT_FOUND", None, 404, Config, Retry::Never, "Voice channel not accessible", None;

    SandboxTimeout: "ERR_SANDBOX_TIMEOUT", Some("E5001"), 504, Transient, WITH_A_FRESH_SANDBOX, "Sandbox operation timed out",
        Some("❌ Stream setup timed out.\nPlease try again.");
    DiscordRateLimit: "ERR_DISCORD_RATE_LIMIT", Some("E5002"), 503, Transient, Retry::WhenTold { at_most: 3 },
        "Discord rate limited", None;
    StreamDropped: "ERR_STREAM_DROPPED", Some("E5003"), 502, Transient, RECONNECT, "Stream unexpectedly ended", None;
    AgentStuck: "ERR_AGENT_STUCK", Some("E5004"), 500, Transient, ONCE_AT_ONCE, "Agent loop not progressing", None;
    SandboxFailed: "ERR_SANDBOX_FAILED", None, 503, Transient, IN_A_MOMENT, "Sandbox won't start", None;
    ShareFailed: "ERR_SHARE_FAILED", None, 500, Transient, IN_A_MOMENT, "Screen share didn't work", None;
    Timeout: "ERR_TIMEOUT", None, 504, Transient, Retry::Never, "Operation timed out", None;

    NoBotToken: "ERR_NO_BOT_TOKEN", Some("E6001"), 503, Config, Retry::Never, "Bot token not configured", None;
    InvalidCreds: "ERR_INVALID_CREDS", Some("E6002"), 401, Config, Retry::Never, "Discord credentials invalid", None;
    TwoFactorRequired: "ERR_2FA_REQUIRED", Some("E6003"), 401, Config, Retry::Never, "Account requires 2FA", None;
    NoApiKey: "ERR_NO_API_KEY", Some("E6004"), 503, Config, Retry::Never, "API key of the model missing", None;
    LoginFailed: "ERR_LOGIN_FAILED", None, 401, Config, Retry::Never, "Discord login failed", None;

    DiscordDown: "ERR_DISCORD_DOWN", Some("E7001"), 503, External, Retry::Never, "Discord services unavailable", None;
    AnthropicDown: "ERR_ANTHROPIC_DOWN", Some("E7002"), 503, External, Retry::Never, "API of the model unavailable", None;
    UrlUnreachable: "ERR_URL_UNREACHABLE", Some("E7003"), 502, External, Retry::Never, "Streaming URL not accessible",
        Some("❌ I couldn't load that URL.\nIt might be geoblocked or require a login.");
    Captcha: "ERR_CAPTCHA", Some("E7004"), 401, External, Retry::Never, "CAPTCHA challenge required", None;

    BudgetExceeded: "ERR_BUDGET_EXCEEDED", Some("E8001"), 402, Internal, Retry::Never, "Cost budget exceeded",
        Some("❌ This session got too expensive.\nTry again with a simpler request.");
    MaxIterations: "ERR_MAX_ITERATIONS", Some("E8002"), 500, Internal, Retry::Never, "Max iterations exceeded", None;
    Unknown: "ERR_UNKNOWN", Some("E9999"), 500, Internal, Retry::Never, "Unexpected error", None;
}

impl ErrorCode {
    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Finds a code by its name on the wire.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }

    /// Returns true if another try may succeed.
    pub fn is_retryable(self) -> bool {
        self.row().category == Category::Transient
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A name that a newer controller sends is [`ErrorCode::Unknown`].
impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(Self::by_name(&name).unwrap_or(Self::Unknown))
    }
}

#[cfg(test)]
#[path = "error_code_tests.rs"]
mod tests;
