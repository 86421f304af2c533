//! The reasons why a request to Discord fails, and their codes.

use twilight_http::{api_error::ApiError, error::ErrorType};

use crate::error_code::ErrorCode;

/// Reasons a request to Discord did not succeed. None has the request's path, which may have a token in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::bot) enum RestError {
    #[error("Discord refused with status {status} and code {code}")]
    Refused { status: u16, code: u64 },
    #[error("Discord keeps limiting the rate of requests")]
    RateLimited {
        /// The limit has been waited for.
        is_over: bool,
    },
    #[error("Discord did not answer in time")]
    Timeout,
    #[error("Discord cannot be reached, or its answer cannot be read")]
    Unavailable,
    #[error("the request could not be made")]
    Request,
}

impl RestError {
    /// Returns true if Discord is in trouble, which may pass.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Refused { status, .. } => *status >= 500,
            Self::Timeout | Self::Unavailable => true,
            Self::RateLimited { .. } | Self::Request => false,
        }
    }

    /// Returns the code for the log.
    pub(in crate::bot) fn code(&self) -> ErrorCode {
        match self {
            Self::RateLimited { .. } => ErrorCode::DiscordRateLimit,
            Self::Timeout | Self::Unavailable => ErrorCode::DiscordDown,
            Self::Refused { status, .. } if *status >= 500 => ErrorCode::DiscordDown,
            Self::Refused { .. } | Self::Request => ErrorCode::Unknown,
        }
    }

    /// Returns true if the bot may not do it (missing access, cannot write to this person, missing permissions).
    pub(in crate::bot) fn is_forbidden(&self) -> bool {
        matches!(self, Self::Refused { status: 403, .. })
    }
}

/// Keeps what may be known of an error of the library, which names paths.
///
/// A request that Discord limits is cancelled when it would be sent again, perhaps once the limit is over.
pub(super) fn classify(error: &ErrorType, is_limit_over: bool) -> RestError {
    match error {
        ErrorType::Response { error, status, .. } => {
            let code = if let ApiError::General(error) = error {
                error.code
            } else {
                0
            };
            let status = status.get();
            RestError::Refused { status, code }
        }
        ErrorType::RequestCanceled => RestError::RateLimited {
            is_over: is_limit_over,
        },
        ErrorType::RequestTimedOut => RestError::Timeout,
        ErrorType::RequestError | ErrorType::Parsing { .. } => RestError::Unavailable,
        ErrorType::BuildingRequest
        | ErrorType::CreatingHeader { .. }
        | ErrorType::Json
        | ErrorType::Unauthorized
        | ErrorType::Validation
        | _ => RestError::Request,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_of_discord_has_its_code_and_only_what_may_pass_is_tried_again() {
        let refused = |status| RestError::Refused { status, code: 0 };
        for (error, code, is_transient) in [
            (
                RestError::RateLimited { is_over: true },
                ErrorCode::DiscordRateLimit,
                false,
            ),
            (RestError::Timeout, ErrorCode::DiscordDown, true),
            (RestError::Unavailable, ErrorCode::DiscordDown, true),
            (refused(502), ErrorCode::DiscordDown, true),
            (refused(403), ErrorCode::Unknown, false),
            (RestError::Request, ErrorCode::Unknown, false),
        ] {
            assert_eq!((error.code(), error.is_transient()), (code, is_transient));
        }
    }
}
