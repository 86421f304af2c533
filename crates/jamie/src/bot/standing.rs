//! The state of the bot's connection to Discord, for health and settings checks.

use std::sync::Arc;

use tokio::sync::watch;

use super::BotError;

/// The state of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BotState {
    /// Not connected; the bot keeps trying.
    Connecting,
    Connected {
        n_servers: usize,
    },
    /// The bot has stopped for good.
    Ended(BotError),
}

/// Tells the state of one bot. Clones tell the same.
#[derive(Debug, Clone)]
pub struct BotStanding(Arc<watch::Sender<BotState>>);

impl Default for BotStanding {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(BotState::Connecting)))
    }
}

impl BotStanding {
    pub fn state(&self) -> BotState {
        self.0.borrow().clone()
    }

    pub(crate) fn set(&self, state: BotState) {
        self.0.send_replace(state);
    }
}
