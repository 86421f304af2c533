//! The model gateway of one sandbox: its token, and its address for the sandbox's programs.

use std::sync::Arc;

use deskhand_core::{
    gateway::{Entrance, GatewayConnection},
    id::SessionId,
    sandbox::ByteStream,
    secret::Secret,
};
use deskhand_runner_protocol::RunnerGateway;
use futures::StreamExt;
use tokio::sync::Semaphore;

/// The port in every sandbox, which can be the same since each has its own loopback.
const PORT: u16 = 7879;
/// The most connections of one sandbox at the same time. The runner accepts fewer.
const MOST_CONNECTIONS: usize = 64;
/// The prefix of tokens for programs in sandboxes. It differs from that of people's tokens, and the API does not
/// accept such a token.
const TOKEN_BEGINNING: &str = "dhg_";

/// Forwards connections of one sandbox to the gateway.
#[derive(Debug)]
pub(crate) struct GatewayDoor {
    session: SessionId,
    token: Secret,
    entrance: Entrance,
    places: Arc<Semaphore>,
}

impl GatewayDoor {
    /// Opens the door, whose token is valid from now on, and returns the runner's configuration with it.
    ///
    /// Returns `None` if no vendor can be asked.
    pub(crate) fn open(
        session: SessionId,
        entrance: Option<&Entrance>,
        random: &Secret,
    ) -> Option<(Self, RunnerGateway)> {
        let entrance = entrance?.clone();
        let token = Secret::new(format!("{TOKEN_BEGINNING}{}", random.expose()));
        let variables = entrance.variables(&format!("http://127.0.0.1:{PORT}"), &token);
        if variables.is_empty() {
            return None;
        }
        let told = RunnerGateway {
            port: PORT,
            variables: variables.into_iter().collect(),
        };
        let door = Self {
            session,
            token,
            entrance,
            places: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
        };
        Some((door, told))
    }

    /// Accepts a connection of a program in the sandbox.
    pub(crate) fn take(&self, stream: ByteStream) {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            tracing::debug!("closed a connection to the model gateway: the sandbox has too many");
            return;
        };
        let incoming = stream.incoming.inspect(move |_| {
            // The permit is held as long as the stream exists.
            let _ = &place;
        });
        let is_taken = self.entrance.bring(GatewayConnection {
            session: self.session,
            token: self.token.clone(),
            stream: ByteStream {
                incoming: Box::pin(incoming),
                ..stream
            },
        });
        if !is_taken {
            tracing::warn!("closed a connection to the model gateway: too many are waiting");
        }
    }
}
