//! Errors as callers see them: one JSON shape, a stable code and a sentence.

use std::time::Duration;

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use deskhand_app::{
    ActByHandError, AdmitError, AnswerError, BadInstructions, ChangeMessageError,
    ChangeSessionError, ChangeUserError, ControlError, CreateSessionError, CreateUserError,
    FindError, JoinError, MakeTokenError, OpenScreenError, PersonError, PutSecretError,
    ScreenshotError, SendPromptError, SetApprovalsError, SetLimitsError, ShareError, SignInError,
    StopTurnError, WakeError,
};
use deskhand_core::{
    blob::BlobError,
    clock::{Clock, SystemClock},
    lease::Lease,
    model::UnknownModel,
    vault::BadSecret,
};
use deskhand_store::StoreError;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// An answer that says what is wrong. The cause of a 500 goes to the log, not to the caller.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    details: Option<Value>,
    /// When it is worth trying again, if that is known.
    retry_after: Option<Duration>,
}

/// The one shape of all refusals.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemView {
    error: ErrorView,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ProblemError)]
pub(crate) struct ErrorView {
    /// Stable, for programs.
    code: &'static str,
    /// A sentence for people.
    message: String,
    /// Numbers behind the message, where they help.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    details: Option<Value>,
}

impl Problem {
    /// The caller can do something about it.
    pub(crate) fn refuse(
        status: StatusCode,
        code: &'static str,
        message: impl std::fmt::Display,
    ) -> Self {
        Self {
            status,
            code,
            message: message.to_string(),
            details: None,
            retry_after: None,
        }
    }

    /// Too much was asked for.
    pub(crate) fn too_many(code: &'static str, message: impl std::fmt::Display) -> Self {
        Self::refuse(StatusCode::TOO_MANY_REQUESTS, code, message)
    }

    /// Somebody asks too often.
    pub(crate) fn too_fast(wait: Duration) -> Self {
        let message = "these were too many requests in too short a time; wait a little";
        Self::too_many("too_fast", message).after(wait)
    }

    /// Says when it is worth trying again.
    pub(crate) fn after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// A limit of somebody is reached, until some time if that is known.
    fn limit(
        code: &'static str,
        message: impl std::fmt::Display,
        (used, limit): (u64, u32),
        frees_at: Option<Timestamp>,
    ) -> Self {
        let problem = Self::too_many(code, message)
            .with(json!({"used": used, "limit": limit, "frees_at": frees_at}));
        match frees_at {
            // What is over already needs no waiting.
            Some(at) => problem.after(
                Duration::try_from(at.duration_since(SystemClock.now())).unwrap_or_default(),
            ),
            None => problem,
        }
    }

    pub(crate) fn malformed(message: impl std::fmt::Display) -> Self {
        Self::refuse(StatusCode::BAD_REQUEST, "malformed", message)
    }

    pub(crate) fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    pub(crate) fn not_signed_in() -> Self {
        let message =
            "sign in first: send `Authorization: Bearer …` or use a link from `deskhand login`";
        Self::refuse(StatusCode::UNAUTHORIZED, "not_signed_in", message)
    }

    pub(crate) fn no_route() -> Self {
        Self::refuse(
            StatusCode::NOT_FOUND,
            "no_route",
            "there is nothing at this path",
        )
    }

    pub(crate) fn wrong_method() -> Self {
        let message = "this path does not take this method";
        Self::refuse(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", message)
    }

    fn somebody_else_drives(lease: &Lease, message: impl std::fmt::Display) -> Self {
        let Lease { user, name, until } = lease;
        Self::refuse(StatusCode::CONFLICT, "somebody_else_drives", message)
            .with(json!({"user": user, "name": name, "until": until}))
    }

    /// Our fault.
    pub(crate) fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error, "a request failed");
        Self::panicked_problem()
    }

    pub(crate) fn panicked() -> Response {
        tracing::error!("a request handler panicked");
        Self::panicked_problem().into_response()
    }

    fn panicked_problem() -> Self {
        let message = "something went wrong on the server; its log says what";
        Self::refuse(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }
}

impl Problem {
    /// What is told of it where there is no status.
    pub(crate) fn into_error(self) -> ErrorView {
        ErrorView {
            code: self.code,
            message: self.message,
            details: self.details,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, retry_after) = (self.status, self.retry_after);
        let error = self.into_error();
        let mut response = (status, Json(ProblemView { error })).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let bearer = header::HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, bearer);
        }
        if let Some(wait) = retry_after {
            // Whole seconds, and never too few.
            let seconds = wait.as_millis().div_ceil(1_000).max(1);
            if let Ok(seconds) = header::HeaderValue::from_str(&seconds.to_string()) {
                response.headers_mut().insert(header::RETRY_AFTER, seconds);
            }
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if !error.is_unreachable() {
            return Self::internal(&error);
        }
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "a request found no database"
        );
        let message = "the database is away; try again in a moment";
        Self::refuse(StatusCode::SERVICE_UNAVAILABLE, "no_database", message)
            .after(Duration::from_secs(1))
    }
}

impl From<WakeError> for Problem {
    fn from(error: WakeError) -> Self {
        match error {
            WakeError::TooMany {
                used,
                limit,
                frees_at,
            } => Self::limit("too_many_awake", error, (used, limit), frees_at),
            WakeError::Store(error) => error.into(),
        }
    }
}

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

impl From<FindError> for Problem {
    fn from(error: FindError) -> Self {
        match error {
            FindError::NoSession(_) => Self::refuse(StatusCode::NOT_FOUND, "no_session", error),
            FindError::NotAllowed { has, needed, .. } => {
                Self::refuse(StatusCode::FORBIDDEN, "not_allowed", error)
                    .with(json!({"has": has, "needed": needed}))
            }
            FindError::AfterNewest { after, newest } => {
                Self::refuse(StatusCode::BAD_REQUEST, "after_newest", error)
                    .with(json!({"after": after, "newest": newest}))
            }
            FindError::Store(error) => error.into(),
        }
    }
}

impl From<UnknownModel> for Problem {
    fn from(error: UnknownModel) -> Self {
        Self::refuse(StatusCode::BAD_REQUEST, "unknown_model", error)
    }
}

impl From<BadInstructions> for Problem {
    fn from(error: BadInstructions) -> Self {
        Self::refuse(StatusCode::BAD_REQUEST, "bad_instructions", error)
    }
}

impl From<CreateSessionError> for Problem {
    fn from(error: CreateSessionError) -> Self {
        match error {
            CreateSessionError::UnknownModel(error) => error.into(),
            CreateSessionError::BadInstructions(error) => error.into(),
            CreateSessionError::LongTitle => {
                Self::refuse(StatusCode::BAD_REQUEST, "long_title", error)
            }
            CreateSessionError::Wake(error) => error.into(),
            CreateSessionError::TooManyToday {
                used,
                limit,
                frees_at,
            } => Self::limit("too_many_today", error, (used, limit), frees_at),
            CreateSessionError::BadPolicy(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_policy", error)
            }
            CreateSessionError::BadBudget(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_budget", error)
            }
            CreateSessionError::Store(error) => error.into(),
        }
    }
}

impl From<ChangeSessionError> for Problem {
    fn from(error: ChangeSessionError) -> Self {
        match error {
            ChangeSessionError::Nothing => Self::malformed(error),
            ChangeSessionError::UnknownModel(error) => error.into(),
            ChangeSessionError::BadInstructions(error) => error.into(),
            ChangeSessionError::LongTitle => {
                Self::refuse(StatusCode::BAD_REQUEST, "long_title", error)
            }
            ChangeSessionError::BadPolicy(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_policy", error)
            }
            ChangeSessionError::BadBudget(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_budget", error)
            }
            ChangeSessionError::Ended(_) => {
                Self::refuse(StatusCode::CONFLICT, "session_ended", error)
            }
            ChangeSessionError::Find(error) => error.into(),
        }
    }
}

impl From<SendPromptError> for Problem {
    fn from(error: SendPromptError) -> Self {
        match error {
            SendPromptError::Find(error) => error.into(),
            SendPromptError::UnknownModel(error) => error.into(),
            SendPromptError::Empty => Self::refuse(StatusCode::BAD_REQUEST, "empty_message", error),
            SendPromptError::Nul => Self::malformed(error),
            SendPromptError::Long(_) => {
                Self::refuse(StatusCode::PAYLOAD_TOO_LARGE, "long_message", error)
            }
            SendPromptError::Ended(_) => Self::refuse(StatusCode::CONFLICT, "session_ended", error),
            SendPromptError::QueueFull { n_waiting, .. } => {
                Self::refuse(StatusCode::TOO_MANY_REQUESTS, "queue_full", error)
                    .with(json!({"n_waiting": n_waiting}))
            }
            SendPromptError::Wake(error) => error.into(),
            SendPromptError::Store(error) => error.into(),
        }
    }
}

impl From<ChangeMessageError> for Problem {
    fn from(error: ChangeMessageError) -> Self {
        match error {
            ChangeMessageError::Find(error) => error.into(),
            ChangeMessageError::Content(error) => error.into(),
            ChangeMessageError::UnknownModel(error) => error.into(),
            ChangeMessageError::Nothing | ChangeMessageError::BeforeItself => {
                Self::malformed(error)
            }
            ChangeMessageError::Taken(_) => {
                Self::refuse(StatusCode::CONFLICT, "message_taken", error)
            }
            ChangeMessageError::NotWaiting(_) => {
                Self::refuse(StatusCode::NOT_FOUND, "no_message", error)
            }
            ChangeMessageError::Store(error) => error.into(),
        }
    }
}

impl From<StopTurnError> for Problem {
    fn from(error: StopTurnError) -> Self {
        match error {
            StopTurnError::Find(error) => error.into(),
            StopTurnError::NotRunning(_) => {
                Self::refuse(StatusCode::CONFLICT, "not_running", error)
            }
        }
    }
}

impl From<OpenScreenError> for Problem {
    fn from(error: OpenScreenError) -> Self {
        match error {
            OpenScreenError::Find(error) => error.into(),
            OpenScreenError::NoSandbox(_) => {
                Self::refuse(StatusCode::CONFLICT, "no_sandbox", error)
            }
            OpenScreenError::Wake(error) => error.into(),
        }
    }
}

impl From<ScreenshotError> for Problem {
    fn from(error: ScreenshotError) -> Self {
        match error {
            ScreenshotError::Find(error) => error.into(),
            ScreenshotError::None(_) => Self::refuse(StatusCode::NOT_FOUND, "no_screenshot", error),
            ScreenshotError::NoBlob(_) => Self::refuse(StatusCode::NOT_FOUND, "no_blob", error),
            ScreenshotError::Blob(error) => error.into(),
            ScreenshotError::Store(error) => error.into(),
        }
    }
}

impl From<BlobError> for Problem {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Full(_) => {
                Self::refuse(StatusCode::SERVICE_UNAVAILABLE, "storage_full", error)
            }
            BlobError::Missing(_) | BlobError::Io(_) => Self::internal(&error),
        }
    }
}

impl From<ActByHandError> for Problem {
    fn from(error: ActByHandError) -> Self {
        match error {
            ActByHandError::Find(error) => error.into(),
            ActByHandError::BadCall(_)
            | ActByHandError::BadAction(_)
            | ActByHandError::Question
            | ActByHandError::Secret => Self::refuse(StatusCode::BAD_REQUEST, "bad_action", error),
            ActByHandError::Ended(_) => Self::refuse(StatusCode::CONFLICT, "session_ended", error),
            ActByHandError::AgentIsDriving(_) => {
                Self::refuse(StatusCode::CONFLICT, "agent_is_driving", error)
            }
            ActByHandError::SomebodyElseDrives { ref lease, .. } => {
                Self::somebody_else_drives(lease, &error)
            }
            ActByHandError::NoSandbox(_) => {
                Self::refuse(StatusCode::SERVICE_UNAVAILABLE, "no_sandbox", error)
            }
            ActByHandError::Wake(error) => error.into(),
            ActByHandError::Blob(error) => error.into(),
            ActByHandError::Store(error) => error.into(),
        }
    }
}

impl From<AnswerError> for Problem {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Find(error) => error.into(),
            AnswerError::NoDecision { .. } => {
                Self::refuse(StatusCode::NOT_FOUND, "no_decision", error)
            }
            AnswerError::BadReply(_) => {
                Self::refuse(StatusCode::UNPROCESSABLE_ENTITY, "bad_answer", error)
            }
            AnswerError::NotAdministrator => {
                Self::refuse(StatusCode::FORBIDDEN, "not_administrator", error)
            }
            AnswerError::Settled(ref named) => {
                let details = json!({
                    "state": named.decision.state,
                    "answered_by": named.decision.answered_by,
                    "answered_by_name": named.answered_by_name,
                    "settled_at": named.decision.settled_at,
                });
                Self::refuse(StatusCode::CONFLICT, "settled", &error).with(details)
            }
            AnswerError::Store(error) => error.into(),
        }
    }
}

impl From<SetApprovalsError> for Problem {
    fn from(error: SetApprovalsError) -> Self {
        match error {
            SetApprovalsError::BadPolicy(_) => {
                Self::refuse(StatusCode::BAD_REQUEST, "bad_policy", error)
            }
            SetApprovalsError::Store(error) => error.into(),
        }
    }
}

impl From<ControlError> for Problem {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Find(error) => error.into(),
            ControlError::Seconds(_) => Self::refuse(StatusCode::BAD_REQUEST, "bad_seconds", error),
            ControlError::Ended(_) => Self::refuse(StatusCode::CONFLICT, "session_ended", error),
            ControlError::SomebodyElse { ref lease, .. } => {
                Self::somebody_else_drives(lease, &error)
            }
            ControlError::Store(error) => error.into(),
            ControlError::BrokeOff => Self::internal(&error),
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

impl From<ShareError> for Problem {
    fn from(error: ShareError) -> Self {
        match error {
            ShareError::Find(error) => error.into(),
            ShareError::NotToGive => Self::refuse(StatusCode::BAD_REQUEST, "bad_right", error),
            ShareError::Over(_) => Self::refuse(StatusCode::BAD_REQUEST, "over", error),
            ShareError::TooMany(_) => {
                Self::refuse(StatusCode::TOO_MANY_REQUESTS, "too_many_shares", error)
            }
            ShareError::NoShare { .. } => Self::refuse(StatusCode::NOT_FOUND, "no_share", error),
            ShareError::Store(error) => error.into(),
        }
    }
}

impl From<JoinError> for Problem {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::NoShare => Self::refuse(StatusCode::NOT_FOUND, "no_share", error),
            JoinError::Full => {
                Self::refuse(StatusCode::TOO_MANY_REQUESTS, "too_many_people", error)
            }
            JoinError::Store(error) => error.into(),
        }
    }
}
