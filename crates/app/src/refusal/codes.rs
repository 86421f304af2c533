//! The list of all codes.

use std::collections::BTreeSet;

use deskhand_core::{blob::BlobError, model::UnknownModel, vault::BadSecret};

use super::{Code, InternalError, Refusal};
use crate::{
    ActByHandError, AdmitError, AnswerError, BadInstructions, BadTitle, ChangeMessageError,
    ChangeSessionError, ChangeUserError, ControlError, CreateSessionError, CreateUserError,
    EndSignInError, FindError, JoinError, MakeTokenError, OfferError, OpenScreenError, PersonError,
    PutSecretError, RemoveSecretError, RevokeTokenError, ScreenshotError, SendPromptError,
    SetApprovalsError, SetLimitsError, ShareError, SignInError, StopTurnError, WakeError,
};

/// The codes of every refusal. A missing code fails the tests that meet it.
const ALL: &[&[Code]] = &[
    ActByHandError::CODES,
    AdmitError::CODES,
    AnswerError::CODES,
    BadInstructions::CODES,
    BadSecret::CODES,
    BadTitle::CODES,
    BlobError::CODES,
    ChangeMessageError::CODES,
    ChangeSessionError::CODES,
    ChangeUserError::CODES,
    ControlError::CODES,
    CreateSessionError::CODES,
    CreateUserError::CODES,
    EndSignInError::CODES,
    FindError::CODES,
    InternalError::CODES,
    JoinError::CODES,
    MakeTokenError::CODES,
    OfferError::CODES,
    OpenScreenError::CODES,
    PersonError::CODES,
    PutSecretError::CODES,
    RemoveSecretError::CODES,
    RevokeTokenError::CODES,
    ScreenshotError::CODES,
    SendPromptError::CODES,
    SetApprovalsError::CODES,
    SetLimitsError::CODES,
    ShareError::CODES,
    SignInError::CODES,
    StopTurnError::CODES,
    UnknownModel::CODES,
    WakeError::CODES,
];

/// Returns all codes that operations refuse with, each once per kind.
pub fn codes() -> BTreeSet<Code> {
    ALL.iter().copied().flatten().copied().collect()
}
