//! People: their accounts, tokens and limits, and the people they let into their sessions.

pub(crate) mod access;
mod accounts;
mod approvals;
pub(crate) mod audience;
mod audit;
mod layouts;
pub(crate) mod limits;
pub(crate) mod offers;
pub(crate) mod sharing;
mod sign_ins;
pub(crate) mod tokens;
pub(crate) mod users;
pub(crate) mod watch_links;
pub(crate) mod watched;

pub use accounts::{ChangeUser, ChangeUserError, CreateUserError};
pub use approvals::SetApprovalsError;
pub use layouts::SetLayoutError;
pub use sign_ins::{EndSignInError, SignIn, SignInError, SignInRequest, SignedInBrowser};
pub use tokens::{MadeToken, MakeToken, MakeTokenError, RevokeTokenError};
