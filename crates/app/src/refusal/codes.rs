//! The list of all codes.

use std::collections::BTreeSet;

use deskhand_core::{blob::BlobError, model::UnknownModel, vault::BadSecret};

use super::{Code, InternalError, Refusal};
use crate::{
    ActByHandError, AdmitError, AnswerError, ArtifactError, AttachmentError, BadInstructions,
    BadMcpServers, BadNetwork, BadTitle, ChangeMessageError, ChangeSessionError, ChangeUserError,
    CheckModelError, ClipboardError, ControlError, CreateSessionError, CreateUserError,
    DeleteEvalError, EndSignInError, FileError, FindError, FindEvalError, IssuePassError,
    JoinError, ListenError, MakeTokenError, NoScreen, OfferError, OpenScreenError, PersonError,
    PutSecretError, RemoveSecretError, RevokeTokenError, ScreenshotError, SendPromptError,
    SetApprovalsError, SetLayoutError, SetLimitsError, SetNetworkListError, ShareError,
    SignInError, StartEvalError, StopTurnError, TerminalError, WakeError, WatchError,
    WatchLinkError, WatchVideoError,
};

/// The codes of every refusal. A missing code fails the tests that meet it.
const ALL: &[&[Code]] = &[
    ActByHandError::CODES,
    AdmitError::CODES,
    AnswerError::CODES,
    ArtifactError::CODES,
    AttachmentError::CODES,
    BadInstructions::CODES,
    BadMcpServers::CODES,
    BadNetwork::CODES,
    BadSecret::CODES,
    BadTitle::CODES,
    BlobError::CODES,
    ClipboardError::CODES,
    ChangeMessageError::CODES,
    ChangeSessionError::CODES,
    ChangeUserError::CODES,
    CheckModelError::CODES,
    ControlError::CODES,
    CreateSessionError::CODES,
    CreateUserError::CODES,
    DeleteEvalError::CODES,
    EndSignInError::CODES,
    FileError::CODES,
    FindError::CODES,
    FindEvalError::CODES,
    InternalError::CODES,
    IssuePassError::CODES,
    JoinError::CODES,
    ListenError::CODES,
    MakeTokenError::CODES,
    NoScreen::CODES,
    OfferError::CODES,
    OpenScreenError::CODES,
    PersonError::CODES,
    PutSecretError::CODES,
    RemoveSecretError::CODES,
    RevokeTokenError::CODES,
    ScreenshotError::CODES,
    SendPromptError::CODES,
    SetApprovalsError::CODES,
    SetLayoutError::CODES,
    SetLimitsError::CODES,
    SetNetworkListError::CODES,
    ShareError::CODES,
    SignInError::CODES,
    StartEvalError::CODES,
    StopTurnError::CODES,
    TerminalError::CODES,
    UnknownModel::CODES,
    WakeError::CODES,
    WatchError::CODES,
    WatchLinkError::CODES,
    WatchVideoError::CODES,
];

/// Returns all codes that operations refuse with, each once per kind.
pub fn codes() -> BTreeSet<Code> {
    ALL.iter().copied().flatten().copied().collect()
}
