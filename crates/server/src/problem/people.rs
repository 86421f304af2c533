//! What people, their tokens, their limits and their secrets are refused.

use axum::http::StatusCode;
use deskhand_app::{
    AdmitError, ChangeUserError, CreateUserError, MakeTokenError, PersonError, PutSecretError,
    SetLimitsError, SignInError,
};
use deskhand_core::vault::BadSecret;

use super::Problem;

impl From<SetLimitsError> for Problem {
    fn from(error: SetLimitsError) -> Self {
        match error {
            SetLimitsError::NoUser(_) => Self::refuse(StatusCode::NOT_FOUND, "no_user", error),
            SetLimitsError::OutOfBounds { .. } | SetLimitsError::BadBudget(_) => {
                Self::malformed(error)
            }
            SetLimitsError::Store(error) => error.into(),
        }
    }
}

impl From<SignInError> for Problem {
    fn from(error: SignInError) -> Self {
        match error {
            SignInError::BadCode => Self::refuse(StatusCode::UNAUTHORIZED, "bad_code", error),
            SignInError::Store(error) => error.into(),
        }
    }
}

impl From<AdmitError> for Problem {
    fn from(error: AdmitError) -> Self {
        match error {
            AdmitError::SignedOut => Self::not_signed_in(),
            AdmitError::Find(error) => error.into(),
        }
    }
}

impl From<CreateUserError> for Problem {
    fn from(error: CreateUserError) -> Self {
        match error {
            CreateUserError::BadName(_) => Self::refuse(StatusCode::BAD_REQUEST, "bad_name", error),
            CreateUserError::NameTaken(_) => {
                Self::refuse(StatusCode::CONFLICT, "name_taken", error)
            }
            CreateUserError::Store(error) => error.into(),
        }
    }
}

impl From<ChangeUserError> for Problem {
    fn from(error: ChangeUserError) -> Self {
        match error {
            ChangeUserError::BadName(_) => Self::refuse(StatusCode::BAD_REQUEST, "bad_name", error),
            ChangeUserError::NameTaken(_) => {
                Self::refuse(StatusCode::CONFLICT, "name_taken", error)
            }
            ChangeUserError::NoUser(_) => Self::refuse(StatusCode::NOT_FOUND, "no_user", error),
            ChangeUserError::LastAdmin(_) => {
                Self::refuse(StatusCode::CONFLICT, "last_administrator", error)
            }
            ChangeUserError::Disabled(_) => {
                Self::refuse(StatusCode::CONFLICT, "user_disabled", error)
            }
            ChangeUserError::Store(error) => error.into(),
        }
    }
}

impl From<MakeTokenError> for Problem {
    fn from(error: MakeTokenError) -> Self {
        match error {
            MakeTokenError::BadName(_) => Self::refuse(StatusCode::BAD_REQUEST, "bad_name", error),
            MakeTokenError::Over(_) => Self::refuse(StatusCode::BAD_REQUEST, "over", error),
            MakeTokenError::TooMany => {
                Self::refuse(StatusCode::TOO_MANY_REQUESTS, "too_many_tokens", error)
            }
            MakeTokenError::Store(error) => error.into(),
        }
    }
}

impl From<BadSecret> for Problem {
    fn from(error: BadSecret) -> Self {
        Self::refuse(StatusCode::BAD_REQUEST, "bad_secret", error)
    }
}

impl From<PutSecretError> for Problem {
    fn from(error: PutSecretError) -> Self {
        match error {
            PutSecretError::Bad(error) => error.into(),
            PutSecretError::TooMany => {
                Self::refuse(StatusCode::TOO_MANY_REQUESTS, "too_many_secrets", error)
            }
            PutSecretError::Locked(_) => {
                Self::refuse(StatusCode::SERVICE_UNAVAILABLE, "secrets_locked", error)
            }
            PutSecretError::Store(error) => error.into(),
        }
    }
}

impl From<PersonError> for Problem {
    fn from(error: PersonError) -> Self {
        match error {
            PersonError::Find(error) => error.into(),
            PersonError::NoUser(_) => Self::refuse(StatusCode::NOT_FOUND, "no_user", error),
            PersonError::NotIn { .. } => Self::refuse(StatusCode::NOT_FOUND, "no_person", error),
            PersonError::IsOwner { .. } => Self::refuse(StatusCode::CONFLICT, "is_owner", error),
            PersonError::TooMany(_) => {
                Self::refuse(StatusCode::TOO_MANY_REQUESTS, "too_many_people", error)
            }
            PersonError::Store(error) => error.into(),
        }
    }
}
