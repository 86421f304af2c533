//! Ending a server that a command started for the time being.

use std::time::Duration;

use deskhand_api::evals::EvalView;
use deskhand_core::{eval::EvalState, id::EvalId, session::Phase};
use tokio::time::sleep;

use crate::{client::Client, server::RunningServer};

/// The time between two looks at the work of others.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Ends our own server once nobody else has work on it. `note` tells the user that it waits for that.
///
/// Another command may have found the server, and would lose its turn or its eval. `own` is an eval that does not
/// count, and neither do its sessions.
pub(crate) async fn end_server(
    server: RunningServer,
    client: &Client,
    own: Option<EvalId>,
    mut note: impl FnMut(&str),
) {
    let mut is_said = false;
    while others_work(client, own).await {
        if !is_said {
            note("Another session or eval is working on this server. Press Ctrl-C to end it too.");
            is_said = true;
        }
        sleep(LOOK_EVERY).await;
    }
    server.end().await;
}

async fn others_work(client: &Client, own: Option<EvalId>) -> bool {
    // A server that does not respond has no work that could be lost.
    let evals = client.evals().await.unwrap_or_default();
    let is_running = |eval: &EvalView| eval.state == EvalState::Running && Some(eval.id) != own;
    if evals.iter().any(is_running) {
        return true;
    }
    let own = own.map(|id| id.to_string());
    let sessions = client.sessions().await.unwrap_or_default();
    sessions.iter().any(|session| {
        let is_at_work = matches!(
            session.state,
            Phase::Initializing | Phase::Running | Phase::Waiting
        );
        let eval = session.metadata["eval"]["run"].as_str();
        is_at_work && (own.is_none() || eval != own.as_deref())
    })
}
