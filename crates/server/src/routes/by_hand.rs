//! Using a session's computer by hand.

use axum::{Json, extract::State};
use deskhand_app::{ActByHand, Sessions};
use deskhand_core::{blob::BlobName, id::SessionId};
use serde::{Deserialize, Serialize};

use crate::{
    caller::Caller,
    extract::{Body, Id},
    problem::Problem,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Act {
    tool: String,
    input: serde_json::Value,
    #[serde(default)]
    look: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct ActView {
    call: String,
    text: String,
    is_error: bool,
    screenshot: Option<BlobName>,
    duration_ms: u64,
}

/// `POST /api/sessions/{id}/actions`
pub(crate) async fn act(
    State(sessions): State<Sessions>,
    Caller(user): Caller,
    Id(id): Id<SessionId>,
    Body(body): Body<Act>,
) -> Result<Json<ActView>, Problem> {
    let act = ActByHand {
        tool: body.tool,
        input: body.input,
        look: body.look,
    };
    let done = sessions.act_by_hand(user, id, act).await?;
    Ok(Json(ActView {
        call: done.call,
        text: done.text,
        is_error: done.is_error,
        screenshot: done.screenshot,
        duration_ms: done.duration_ms,
    }))
}
