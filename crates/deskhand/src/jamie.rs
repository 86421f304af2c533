//! `deskhand jamie`: runs the Discord bot apart from the server.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use deskhand_core::{
    clock::{Clock, SystemClock},
    secret::Secret,
    tasks::Tasks,
};
use deskhand_jamie::{Controller, HttpController, contract::StatusUpdate};
use deskhand_server::{StatusReceiver, serve_status};
use deskhand_streams::{SIGNATURE_HEADER, WebhookKey};
use tokio::{net::TcpListener, sync::mpsc};

use crate::{
    cli::JamieArgs,
    config::{Config, Environment},
    interrupts::Interrupts,
};

/// The updates that may wait for the bot.
const LONGEST_QUEUE: usize = 256;
/// The interval at which the server is asked if it sends no webhooks.
const ASK_EVERY: Duration = Duration::from_secs(2);
/// The timeout for ending the bot.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs the bot until Ctrl-C, a service manager's request to end, or until Discord refuses it.
pub(crate) async fn jamie(
    args: &JamieArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::listen()?;
    let token = config.jamie.token.clone();
    let token = token.context("there is no bot token; set jamie.token (DESKHAND_JAMIE_TOKEN)")?;
    let server = args.server.server.as_deref();
    let server = server.context("give the server with --server URL")?;
    let server_token = environment.get("DESKHAND_TOKEN").map(Secret::new);
    let server_token = server_token
        .context("set DESKHAND_TOKEN to a token of an administrator with the scope write")?;
    let controller: Arc<dyn Controller> = Arc::new(HttpController::new(server, server_token)?);
    let tasks = Tasks::default();
    let (updates, updated) = mpsc::channel(LONGEST_QUEUE);
    if let Some(listen) = args.listen {
        let key = config.jamie.streams.webhook_key.clone();
        let key = key.context("webhooks need the setting jamie.webhook_key, as on the server")?;
        let listener = TcpListener::bind(listen).await;
        let listener = listener.with_context(|| format!("cannot listen on {listen}"))?;
        let serving = serve_status(listener, receiver(key, updates), tasks.shutdown().clone());
        tasks.spawn("webhooks", async {
            if let Err(error) = serving.await {
                tracing::error!(%error, "webhooks are no longer received");
            }
        });
    }
    let settings = deskhand_jamie::Settings {
        webhook_url: args.webhook_url.clone(),
        ask_every: args.listen.is_none().then_some(ASK_EVERY),
        ..config.jamie.bot(token)
    };
    tracing::info!(server.url = server, "the bot is starting");
    let ended = tokio::select! {
        ended = deskhand_jamie::run(settings, controller, updated, &tasks) => Some(ended),
        _ = interrupts.next() => None,
    };
    if !tasks.end(SHUTDOWN_TIMEOUT).await {
        tracing::warn!("some tasks did not end in time and were dropped");
    }
    ended.transpose()?;
    Ok(())
}

/// Takes in webhooks that were signed with this key.
fn receiver(key: WebhookKey, updates: mpsc::Sender<StatusUpdate>) -> StatusReceiver {
    StatusReceiver {
        header: SIGNATURE_HEADER,
        verify: Arc::new(move |signature, body| key.accepts(signature, body, SystemClock.now())),
        updates,
    }
}
