//! People: their accounts, tokens and limits, and the people they let into their sessions.

pub(crate) mod access;
mod accounts;
mod approvals;
pub(crate) mod limits;
pub(crate) mod sharing;
pub(crate) mod tokens;
pub(crate) mod users;

pub use accounts::{ChangeUser, ChangeUserError, CreateUserError};
pub use approvals::SetApprovalsError;
pub use tokens::{MadeToken, MakeToken, MakeTokenError, RevokeTokenError};
