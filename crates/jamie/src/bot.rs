//! The bot: reads the gateway, answers people, and reports on their streams.
//!
//! One task reads the gateway and does nothing slow, because its connection lives on heartbeats. People are answered by
//! workers: a person's messages always reach the same one, so they are answered in order. Commands are promised an
//! answer before it is their turn, because Discord waits three seconds for that. Each stream has a task that keeps its
//! messages up to date.

mod commands;
mod desk;
mod events;
mod gateway;
mod reporter;
mod rest;
mod standing;
mod streams;

use std::sync::Arc;

use deskhand_core::tasks::Tasks;
use tokio::sync::mpsc;

use self::desk::Desk;
pub use self::standing::{BotStanding, BotState};
use crate::{
    contract::StatusUpdate,
    controller::Controller,
    error_code::ErrorCode,
    settings::{BadSetting, Settings},
};

/// Reasons why the bot stops by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BotError {
    #[error(transparent)]
    Setting(#[from] BadSetting),
    #[error(
        "Discord refused the bot's token (close code 4004); copy it again from Discord's developer portal"
    )]
    TokenRefused,
    #[error(
        "Discord closed the connection for good with code {0}; see Discord's list of gateway close codes"
    )]
    Closed(u16),
    #[error("the connection to Discord ended for good")]
    Ended,
}

impl BotError {
    /// Returns the code for the log.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::TokenRefused => ErrorCode::InvalidCreds,
            Self::Setting(_) => ErrorCode::NoBotToken,
            Self::Closed(_) | Self::Ended => ErrorCode::DiscordDown,
        }
    }
}

/// Runs the bot until shutdown, or until Discord refuses it for good.
///
/// The process has installed a provider of cryptography for rustls before. Updates of streams that the bot does not
/// know are ignored.
pub async fn run(
    settings: Settings,
    controller: Arc<dyn Controller>,
    updates: mpsc::Receiver<StatusUpdate>,
    tasks: &Tasks,
) -> Result<(), BotError> {
    let ended = run_until_end(&settings, controller, updates, tasks).await;
    if let Err(error) = &ended {
        settings.standing.set(BotState::Ended(error.clone()));
    }
    ended
}

async fn run_until_end(
    settings: &Settings,
    controller: Arc<dyn Controller>,
    updates: mpsc::Receiver<StatusUpdate>,
    tasks: &Tasks,
) -> Result<(), BotError> {
    settings.check()?;
    let desk = Arc::new(Desk::new(settings, controller, tasks.clone()));
    tasks.spawn(
        "jamie updates",
        pass_updates(Arc::clone(&desk), updates, tasks.clone()),
    );
    tasks.spawn("jamie recovery", Arc::clone(&desk).recover());
    if let Some(every) = settings.ask_every {
        tasks.spawn("jamie questions", Arc::clone(&desk).keep_asking(every));
    }
    gateway::run_gateway(settings, &desk, tasks).await
}

/// Passes the controller's updates on, until nobody sends any more.
async fn pass_updates(desk: Arc<Desk>, mut updates: mpsc::Receiver<StatusUpdate>, tasks: Tasks) {
    loop {
        let update = tokio::select! {
            update = updates.recv() => update,
            () = tasks.shutdown().cancelled() => None,
        };
        match update {
            Some(update) => desk.update(update),
            None => return,
        }
    }
}
