//! Refusals: the reasons why an operation was not done, the same for every interface.
//!
//! The error of an operation has a sentence for each variant (`#[error]`), and beside it `refusals!`
//! gives each a stable code, a kind and details. A face turns any refusal into its own shape with one
//! function: HTTP into a status and a problem, MCP into a tool error, a chat into a message.

mod codes;

use std::{error::Error, time::Duration};

use deskhand_core::{blob::BlobError, model::UnknownModel, vault::BadSecret};
use deskhand_store::StoreError;
use jiff::Timestamp;
use serde_json::Value;

pub use self::codes::codes;

/// An error that is reported to a caller.
pub trait Refusal: Error + Send + Sync + Sized + 'static {
    /// All codes that the error can have.
    const CODES: &'static [Code];

    /// Returns the facts for the caller.
    fn facts(&self) -> RefusalFacts;

    /// Returns the stable code, for programs.
    fn code(&self) -> &'static str {
        self.facts().code
    }

    fn kind(&self) -> RefusalKind {
        self.facts().kind
    }

    /// Returns the numbers behind the sentence, if they help.
    fn details(&self) -> Option<Value> {
        self.facts().details
    }
}

/// A code and its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    pub code: &'static str,
    pub kind: RefusalKind,
}

/// The sort of a refusal. A face decides by it what to do with one that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefusalKind {
    /// The request is wrong by itself.
    Invalid,
    /// The caller has to sign in first.
    SignedOut,
    /// The caller may not do this.
    Forbidden,
    NotFound,
    /// It existed, and will not exist again.
    Gone,
    /// The request conflicts with the current state.
    Conflict,
    /// The condition of the request no longer holds.
    Outdated,
    /// The request is for a part that does not exist.
    OutOfRange,
    TooLarge,
    /// The request is well-formed, but not what was asked for.
    Unfitting,
    /// A limit is reached.
    TooMany,
    /// The server is at fault. The cause goes to its log, and not to the caller.
    Internal,
    /// A part that the server needs is unavailable. A retry may help.
    Unavailable,
}

/// The facts about a refusal for the caller.
#[derive(Debug, Clone)]
pub struct RefusalFacts {
    /// Stable, for programs.
    pub code: &'static str,
    pub kind: RefusalKind,
    /// A sentence for people.
    pub message: String,
    pub details: Option<Value>,
    /// The time after which a retry is worthwhile, if it is known.
    pub retry_after: Option<Duration>,
}

/// The time at which a limit leaves room again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreesAt {
    pub at: Timestamp,
    pub wait: Duration,
}

/// A failure of the server itself, for instance of its database.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct InternalError(StoreError);

impl From<StoreError> for InternalError {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

impl RefusalFacts {
    pub(crate) fn new(
        error: &dyn Error,
        code: Code,
        details: Option<Value>,
        retry_after: Option<Duration>,
    ) -> Self {
        let Code { code, kind } = code;
        let message = match kind {
            RefusalKind::Internal => {
                "an internal error occurred; the server's log has the details".into()
            }
            RefusalKind::Invalid
            | RefusalKind::SignedOut
            | RefusalKind::Forbidden
            | RefusalKind::NotFound
            | RefusalKind::Gone
            | RefusalKind::Conflict
            | RefusalKind::Outdated
            | RefusalKind::OutOfRange
            | RefusalKind::TooLarge
            | RefusalKind::Unfitting
            | RefusalKind::TooMany
            | RefusalKind::Unavailable => error.to_string(),
        };
        Self {
            code,
            kind,
            message,
            details,
            retry_after,
        }
    }
}

impl FreesAt {
    /// Returns the time `at`, seen from `now`.
    pub(crate) fn new(at: Timestamp, now: Timestamp) -> Self {
        // If the time is over already, there is nothing to wait for.
        let wait = Duration::try_from(at.duration_since(now)).unwrap_or_default();
        Self { at, wait }
    }
}

/// Gives the variants of an error their codes, kinds and details.
///
/// ```text
/// refusals! {
///     SendPromptError passes on Find, Wake, Internal;
///     Self::Empty => Invalid("empty_message"),
///     Self::QueueFull { n_waiting, .. } => TooMany("queue_full", { "n_waiting": n_waiting }),
/// }
/// ```
///
/// The variants that are passed on hold another refusal, and are told as that one. With `retry` an arm
/// says when it is worth trying again. A variant `Internal` also takes errors of the store.
macro_rules! refusals {
    (
        $name:ident passes on $($inner:ident),*;
        $($pattern:pat => $kind:ident($code:literal $(, $details:tt)? $(; retry $after:expr)?)),* $(,)?
    ) => {
        impl $crate::refusal::Refusal for $name {
            const CODES: &'static [$crate::refusal::Code] = &[$(
                $crate::refusal::Code {
                    code: $code,
                    kind: $crate::refusal::RefusalKind::$kind,
                },
            )*];

            fn facts(&self) -> $crate::refusal::RefusalFacts {
                match self {
                    $(Self::$inner(inner) => $crate::refusal::Refusal::facts(inner),)*
                    $($pattern => {
                        let code = $crate::refusal::Code {
                            code: $code,
                            kind: $crate::refusal::RefusalKind::$kind,
                        };
                        let details = None $(.or(Some(::serde_json::json!($details))))?;
                        let retry_after = None $(.or($after))?;
                        $crate::refusal::RefusalFacts::new(self, code, details, retry_after)
                    })*
                }
            }
        }

        $($crate::refusal::refusals!(@from $name $inner);)*
    };
    (@from $name:ident Internal) => {
        impl From<::deskhand_store::StoreError> for $name {
            fn from(error: ::deskhand_store::StoreError) -> Self {
                Self::Internal(error.into())
            }
        }
    };
    (@from $name:ident $inner:ident) => {};
}

pub(crate) use refusals;

impl InternalError {
    const INTERNAL: Code = Code {
        code: "internal",
        kind: RefusalKind::Internal,
    };
    const NO_DATABASE: Code = Code {
        code: "no_database",
        kind: RefusalKind::Unavailable,
    };
}

impl Refusal for InternalError {
    const CODES: &'static [Code] = &[Self::INTERNAL, Self::NO_DATABASE];

    fn facts(&self) -> RefusalFacts {
        if !self.0.is_unreachable() {
            return RefusalFacts::new(self, Self::INTERNAL, None, None);
        }
        let wait = Some(Duration::from_secs(1));
        RefusalFacts {
            message: "the database is unavailable; try again in a moment".to_owned(),
            ..RefusalFacts::new(self, Self::NO_DATABASE, None, wait)
        }
    }
}

refusals! {
    UnknownModel passes on;
    Self { .. } => Invalid("unknown_model"),
}

refusals! {
    BlobError passes on;
    Self::Full(_) => Unavailable("storage_full"),
    Self::Missing(_) | Self::Io(_) => Internal("internal"),
}

refusals! {
    BadSecret passes on;
    Self::Name
        | Self::Origin(_)
        | Self::Origins(_)
        | Self::Value
        | Self::Header(_)
        | Self::Headers(_)
        | Self::Variable(_)
        | Self::HttpOrigin(_)
        | Self::HttpValue => Invalid("bad_secret"),
}
