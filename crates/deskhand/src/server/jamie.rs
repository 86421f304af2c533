//! Runs streams and the Discord bot in the server, if the settings say so.

use std::sync::Arc;

use anyhow::Context;
use deskhand_app::App;
use deskhand_core::{clock::SystemClock, tasks::Tasks};
use deskhand_jamie::{ActivityDoor, ActivitySettings, Controller, StreamRecords};
use deskhand_store::Store;
use deskhand_streams::{Deployment, StreamParts, Streams};
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
) -> anyhow::Result<Option<Arc<dyn StreamRecords>>> {
    let jamie = &config.jamie;
    if !jamie.runs_streams() {
        return Ok(None);
    }
    let (bot, updates) = mpsc::channel(LONGEST_QUEUE);
    let base = jamie.public_url.as_deref().unwrap_or(public_url).to_owned();
    let settings = jamie.token.clone().map(|token| jamie.bot(token));
    let started = Streams::begin(StreamParts {
        app: app.clone(),
        store,
        links: Some(Arc::new(AppLinks {
            app: app.clone(),
            base: base.clone(),
        })),
        settings: jamie.streams.clone(),
        deployment: Deployment {
            public_url: base,
            bot: settings.as_ref().map(|bot| bot.standing.clone()),
            has_activity: jamie.activity.is_some(),
        },
        bot: jamie.token.is_some().then_some(bot),
        clock: Arc::new(SystemClock),
        tasks: tasks.clone(),
    });
    let streams = Arc::new(started.await.context("cannot run streams")?);
    if let Some(settings) = settings {
        let controller: Arc<dyn Controller> = Arc::<Streams>::clone(&streams);
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

/// Returns the way into streams from inside Discord, if the settings say so.
pub(super) fn activity(config: &Config) -> anyhow::Result<Option<Arc<ActivityDoor>>> {
    let jamie = &config.jamie;
    let Some(activity) = &jamie.activity else {
        return Ok(None);
    };
    let bot_token = jamie.token.clone();
    let door = ActivityDoor::new(ActivitySettings {
        client_id: activity.client_id.clone(),
        client_secret: activity.client_secret.clone(),
        bot_token: bot_token
            .context("the Activity needs the bot in this server: set jamie.token")?,
        api_url: jamie.api_url.clone(),
    });
    Ok(Some(Arc::new(door?)))
}
