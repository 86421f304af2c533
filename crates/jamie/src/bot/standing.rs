//! The bot's connection to Discord, for those who look from outside.

use std::sync::Arc;

use tokio::sync::watch;

use super::BotError;

/// The state of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BotState {
    /// The bot is not connected, and tries.
    Connecting,
    Connected {
        n_servers: usize,
    },
    /// The bot has ended, and does not try again.
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
