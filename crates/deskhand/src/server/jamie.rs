//! Runs streams and the Discord bot in the server, if the settings say so.

use std::sync::Arc;

use anyhow::Context;
use deskhand_app::App;
use deskhand_core::{clock::SystemClock, tasks::Tasks};
use deskhand_jamie::Controller;
use deskhand_store::Store;
use deskhand_streams::{StreamParts, Streams};
use tokio::sync::mpsc;

use super::watch_links::AppLinks;
use crate::config::Config;

/// The updates that may wait for the bot. Each stream has a few.
const LONGEST_QUEUE: usize = 256;

/// Runs streams, and the bot if there is a token. Returns the controller, if this server has one.
pub(super) async fn start(
    config: &Config,
    app: &App,
    store: Store,
    public_url: &str,
    tasks: Tasks,
) -> anyhow::Result<Option<Arc<dyn Controller>>> {
    let jamie = &config.jamie;
    if !jamie.runs_streams() {
        return Ok(None);
    }
    let (bot, updates) = mpsc::channel(LONGEST_QUEUE);
    let started = Streams::begin(StreamParts {
        app: app.clone(),
        store,
        links: Some(Arc::new(AppLinks {
            app: app.clone(),
            base: jamie.public_url.as_deref().unwrap_or(public_url).to_owned(),
        })),
        settings: jamie.streams.clone(),
        bot: jamie.token.is_some().then_some(bot),
        clock: Arc::new(SystemClock),
        tasks: tasks.clone(),
    });
    let streams: Arc<dyn Controller> = Arc::new(started.await.context("cannot run streams")?);
    if let Some(token) = jamie.token.clone() {
        let (settings, controller) = (jamie.bot(token), Arc::clone(&streams));
        let of_bot = tasks.clone();
        tasks.spawn("jamie", async move {
            let ended = deskhand_jamie::run(settings, controller, updates, &of_bot).await;
            if let Err(error) = ended {
                tracing::error!(
                    error.code = error.code().name(),
                    error = &error as &dyn std::error::Error,
                    "the Discord bot ended; the server goes on without it"
                );
            }
        });
    }
    Ok(Some(streams))
}
