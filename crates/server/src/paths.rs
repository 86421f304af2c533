//! Path parameters, for the OpenAPI document. The extractors `Id`, `Ids` and `Name` read them.

#![expect(dead_code, reason = "these types only describe parameters")]

use utoipa::IntoParams;
use uuid::Uuid;

/// A waiting message, and its session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct WaitingPath {
    /// The session.
    id: Uuid,
    /// The message.
    message: Uuid,
}

/// A decision, and its session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct DecisionPath {
    /// The session.
    id: Uuid,
    /// The decision.
    decision: Uuid,
}

/// A person in a session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct PersonPath {
    /// The session.
    id: Uuid,
    /// The user, by id or name.
    user: String,
}

/// A link into a session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SharePath {
    /// The session.
    id: Uuid,
    /// The link.
    share: Uuid,
}

/// A watch link of a session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct WatchLinkPath {
    /// The session.
    id: Uuid,
    /// The link.
    link: Uuid,
}

/// An eval.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct EvalPath {
    /// The eval.
    id: Uuid,
}

/// A stream.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct StreamPath {
    /// The stream.
    id: Uuid,
}

/// The watch link that the path names by its token.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct WatchPath {
    /// The token of the link.
    token: String,
}

/// The user that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct UserPath {
    /// The user.
    id: Uuid,
}

/// The token that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct TokenPath {
    /// The token.
    id: Uuid,
}

/// The sign-in that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SignInPath {
    /// The sign-in.
    id: Uuid,
}

/// The offered session that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct OfferPath {
    /// The session that is offered.
    session: Uuid,
}

/// The secret that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SecretPath {
    /// The secret.
    #[param(pattern = "^[a-z0-9_-]{1,64}$")]
    name: String,
}

/// A terminal, and its session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct TerminalPath {
    /// The session.
    id: Uuid,
    /// The number of the terminal; 0 is the agent's shell.
    n: u32,
}

/// A file that the agent has shared.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct ArtifactPath {
    /// The session.
    id: Uuid,
    /// The number of the event that shares the file.
    #[param(minimum = 1)]
    seq: u64,
}

/// A file that a person has attached.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct AttachmentPath {
    /// The session.
    id: Uuid,
    /// The attachment.
    attachment: Uuid,
}

/// A file of a session.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct FileInSessionPath {
    /// The session.
    id: Uuid,
    /// The absolute path in the sandbox without its first slash, such as `tmp/a.txt`, or a path in the home folder,
    /// such as `~/a.txt`.
    path: String,
}

/// A port of a session's sandbox.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct PortPath {
    /// The session.
    id: Uuid,
    /// The port.
    #[param(minimum = 1)]
    port: u16,
}

/// The session that the path names.
#[derive(IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SessionPath {
    /// The session.
    id: Uuid,
}
