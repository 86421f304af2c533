//! Decisions that the agent waits for.

use axum::{Json, extract::State};
use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_api::decisions::{AnswerBody, DecisionView, DecisionsView};
use deskhand_app::{Decisions, GivenReply, ListDecisions};
use deskhand_core::{
    decision::{DecisionState, GivenFile, Reply},
    id::{DecisionId, SessionId},
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Shared,
    caller::Caller,
    extract::{Body, Id, Ids, Query, page_size},
    paths::{DecisionPath, SessionPath},
    problem::Problem,
    view,
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
pub(crate) struct DecisionsQuery {
    /// The state of the decisions to list; `all` for every state.
    #[serde(default)]
    #[param(inline, default = "open")]
    state: Wanted,
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// The `next` of the previous page.
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

impl DecisionsQuery {
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

/// Reads the one answer in the body.
fn read(body: AnswerBody) -> Result<GivenReply, Problem> {
    let plain = |reply| Ok(GivenReply::Plain(reply));
    let has_zero = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains('\0'));
    if has_zero(&body.text) || has_zero(&body.because) {
        let message = "an answer cannot contain the character U+0000";
        return Err(Problem::malformed(message));
    }
    if body.yes != Some(true) && body.scope.is_some() {
        return Err(Problem::malformed(
            "only a yes can be given `for` longer than once",
        ));
    }
    if body.yes != Some(false) && body.because.is_some() {
        return Err(Problem::malformed("only a no takes the words in `because`"));
    }
    match (body.text, body.choices, body.yes, body.file) {
        (Some(text), None, None, None) => plain(Reply::Text(text)),
        (None, Some(choices), None, None) => plain(Reply::Choices(choices)),
        (None, None, Some(yes), None) => plain(match (body.scope, body.because) {
            (Some(scope), _) => Reply::YesFor(scope),
            (None, Some(reason)) => Reply::NoBecause(reason),
            (None, None) => Reply::Yes(yes),
        }),
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

/// Lists the decisions that you may answer, across all sessions.
#[utoipa::path(
    get,
    path = "/decisions",
    operation_id = "list_inbox",
    tag = "decisions",
    params(DecisionsQuery),
    responses((status = 200, description = "a page of decisions", body = DecisionsView)),
)]
pub(crate) async fn inbox(
    State(decisions): State<Decisions>,
    Caller(user): Caller,
    Query(page): Query<DecisionsQuery>,
) -> Result<Json<DecisionsView>, Problem> {
    let page = decisions.inbox(user, page.list()?).await?;
    Ok(Json(view::decisions(page)))
}

/// Lists the decisions of a session.
#[utoipa::path(
    get,
    path = "/sessions/{id}/decisions",
    operation_id = "list_decisions",
    tag = "decisions",
    params(SessionPath, DecisionsQuery),
    responses((status = 200, description = "a page of decisions", body = DecisionsView)),
)]
pub(crate) async fn list(
    State(decisions): State<Decisions>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Query(page): Query<DecisionsQuery>,
) -> Result<Json<DecisionsView>, Problem> {
    let list = page.list()?;
    let page = decisions.list(caller.viewer(), id, list).await?;
    Ok(Json(view::decisions(page)))
}

/// Answers a decision. The first valid answer counts.
#[utoipa::path(
    post,
    path = "/sessions/{id}/decisions/{decision}/answer",
    operation_id = "answer_decision",
    tag = "decisions",
    params(DecisionPath),
    request_body = AnswerBody,
    responses(
        (status = 200, description = "the decision", body = DecisionView),
        (status = 403, description = "`not_administrator`: only an administrator can raise a daily budget"),
        (status = 404, description = "`no_decision`"),
        (status = 409, description = "`settled`: the decision was answered, has expired or was withdrawn; the \
                                      details say by whom and when; `too_many_rules`: the policy has no room for the \
                                      rule that the answer adds"),
        (status = 422, description = "`bad_answer`"),
    ),
)]
pub(crate) async fn answer(
    State(decisions): State<Decisions>,
    Caller(user): Caller,
    Ids(id, decision): Ids<SessionId, DecisionId>,
    Body(body): Body<AnswerBody>,
) -> Result<Json<DecisionView>, Problem> {
    let answered = decisions.answer(user, id, decision, read(body)?).await?;
    Ok(Json(view::decision(answered)))
}
