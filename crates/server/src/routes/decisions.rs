//! What people are asked before the agent goes on.

use axum::{Json, extract::State};
use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_app::{Decisions, GivenReply, ListDecisions};
use deskhand_core::{
    budget::Over,
    decision::{DecisionKind, DecisionState, Form, GivenFile, Reply, Subject},
    id::{DecisionId, SessionId, TurnId, UserId},
    inbox::{DecisionPage, NamedDecision},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id, Ids, Query, page_size},
    problem::Problem,
    schema::{self, DecisionPath, SessionPath},
};

pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(inbox))
        .routes(routes!(list))
        .routes(routes!(answer))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// Only those in this state; `all` for every state.
    #[serde(default)]
    #[param(inline, default = "open")]
    state: Wanted,
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next` of the page before.
    #[param(value_type = Option<Uuid>)]
    before: Option<DecisionId>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wanted {
    #[default]
    Open,
    Answered,
    Expired,
    Withdrawn,
    All,
}

impl Page {
    fn list(&self) -> Result<ListDecisions, Problem> {
        Ok(ListDecisions {
            state: match self.state {
                Wanted::Open => Some(DecisionState::Open),
                Wanted::Answered => Some(DecisionState::Answered),
                Wanted::Expired => Some(DecisionState::Expired),
                Wanted::Withdrawn => Some(DecisionState::Withdrawn),
                Wanted::All => None,
            },
            before: self.before,
            limit: page_size(self.limit, 50, 200)?,
        })
    }
}

/// Something a person is asked, and what became of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Decision)]
pub(crate) struct DecisionView {
    #[schema(value_type = Uuid)]
    id: DecisionId,
    #[schema(value_type = Uuid)]
    session_id: SessionId,
    session_title: String,
    #[schema(value_type = Uuid)]
    turn: TurnId,
    /// The tool call that waits for it.
    #[schema(required)]
    call: Option<String>,
    #[schema(value_type = schema::decision::DecisionKind)]
    kind: DecisionKind,
    /// The question, for people.
    prompt: String,
    #[schema(value_type = schema::decision::Form)]
    form: Form,
    /// Exactly what would be done, where something would be.
    #[schema(required, value_type = Option<schema::decision::Subject>)]
    subject: Option<Subject>,
    /// The bound that would be passed, where that is why.
    #[schema(required, value_type = Option<schema::budget::Over>)]
    over: Option<Over>,
    /// What counts as the answer when nobody gave one in time.
    #[schema(required, value_type = Option<schema::decision::Reply>)]
    default: Option<Reply>,
    /// It waits for ever without it.
    #[schema(required)]
    expires_at: Option<Timestamp>,
    created_at: Timestamp,
    #[schema(value_type = schema::decision::DecisionState)]
    state: DecisionState,
    /// What counts, also when it is the default that came with the expiry.
    #[schema(required, value_type = Option<schema::decision::Reply>)]
    answer: Option<Reply>,
    /// Who answered, when a person did.
    #[schema(required, value_type = Option<Uuid>)]
    answered_by: Option<UserId>,
    #[schema(required)]
    answered_by_name: Option<String>,
    /// When it was answered, expired or withdrawn.
    #[schema(required)]
    settled_at: Option<Timestamp>,
}

impl From<NamedDecision> for DecisionView {
    fn from(named: NamedDecision) -> Self {
        let decision = named.decision;
        let ask = decision.ask;
        Self {
            id: decision.id,
            session_id: decision.session,
            session_title: named.session_title,
            turn: decision.turn,
            call: ask.call,
            kind: ask.kind,
            prompt: ask.prompt,
            form: ask.form,
            subject: ask.subject,
            over: ask.over,
            default: ask.default,
            expires_at: ask.expires_at,
            created_at: decision.created_at,
            state: decision.state,
            answer: decision.answer,
            answered_by: decision.answered_by,
            answered_by_name: named.answered_by_name,
            settled_at: decision.settled_at,
        }
    }
}

/// A page of decisions, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DecisionsPage)]
pub(crate) struct DecisionsView {
    decisions: Vec<DecisionView>,
    /// The `before` of the next page, when there is one.
    #[schema(required, value_type = Option<Uuid>)]
    next: Option<DecisionId>,
}

impl From<DecisionPage> for DecisionsView {
    fn from(page: DecisionPage) -> Self {
        Self {
            decisions: page.decisions.into_iter().map(DecisionView::from).collect(),
            next: page.next,
        }
    }
}

/// An answer: exactly one of these, whichever the form asks for.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = AnswerDecision)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// At most 64 KiB in UTF-8.
    #[schema(max_length = 65536, nullable = false)]
    text: Option<String>,
    /// Values of choices.
    #[schema(max_items = 50, nullable = false)]
    choices: Option<Vec<String>>,
    #[schema(nullable = false)]
    yes: Option<bool>,
    #[schema(nullable = false)]
    file: Option<AnswerFile>,
}

/// A file for the agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerFile {
    /// Without slashes.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// Its bytes, at most 700 KiB, in base64.
    #[schema(content_encoding = "base64")]
    base64: String,
}

impl Answer {
    fn read(self) -> Result<GivenReply, Problem> {
        let plain = |reply| Ok(GivenReply::Plain(reply));
        match (self.text, self.choices, self.yes, self.file) {
            (Some(text), None, None, None) => {
                if text.contains('\0') {
                    let message = "an answer cannot hold the character U+0000";
                    return Err(Problem::malformed(message));
                }
                plain(Reply::Text(text))
            }
            (None, Some(choices), None, None) => plain(Reply::Choices(choices)),
            (None, None, Some(yes), None) => plain(Reply::Yes(yes)),
            (None, None, None, Some(file)) => {
                let bytes = STANDARD.decode(&file.base64).map_err(|error| {
                    Problem::malformed(format!("the file is not in base64: {error}"))
                })?;
                let name = file.name;
                Ok(GivenReply::File(GivenFile { name, bytes }))
            }
            _ => Err(Problem::malformed(
                "an answer has exactly one of text, choices, yes and file",
            )),
        }
    }
}

/// Lists what you may answer, over all sessions.
#[utoipa::path(
    get,
    path = "/decisions",
    operation_id = "list_inbox",
    tag = "decisions",
    params(Page),
    responses((status = 200, description = "a page of decisions", body = DecisionsView)),
)]
pub(crate) async fn inbox(
    State(decisions): State<Decisions>,
    Caller(user): Caller,
    Query(page): Query<Page>,
) -> Result<Json<DecisionsView>, Problem> {
    Ok(Json(decisions.inbox(user, page.list()?).await?.into()))
}

/// Lists what was asked in a session.
#[utoipa::path(
    get,
    path = "/sessions/{id}/decisions",
    operation_id = "list_decisions",
    tag = "decisions",
    params(SessionPath, Page),
    responses((status = 200, description = "a page of decisions", body = DecisionsView)),
)]
pub(crate) async fn list(
    State(decisions): State<Decisions>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Query(page): Query<Page>,
) -> Result<Json<DecisionsView>, Problem> {
    let list = page.list()?;
    let page = decisions.list(caller.viewer(), id, list).await?;
    Ok(Json(page.into()))
}

/// Answers a decision. The first valid answer counts.
#[utoipa::path(
    post,
    path = "/sessions/{id}/decisions/{decision}/answer",
    operation_id = "answer_decision",
    tag = "decisions",
    params(DecisionPath),
    request_body = Answer,
    responses(
        (status = 200, description = "the decision", body = DecisionView),
        (status = 403, description = "`not_administrator`: only an administrator gives more for a day"),
        (status = 404, description = "`no_decision`"),
        (status = 409, description = "`settled`: who answered and when, or that it expired or was withdrawn"),
        (status = 422, description = "`bad_answer`"),
    ),
)]
pub(crate) async fn answer(
    State(decisions): State<Decisions>,
    Caller(user): Caller,
    Ids(id, decision): Ids<SessionId, DecisionId>,
    Body(body): Body<Answer>,
) -> Result<Json<DecisionView>, Problem> {
    let answered = decisions.answer(user, id, decision, body.read()?).await?;
    Ok(Json(answered.into()))
}
