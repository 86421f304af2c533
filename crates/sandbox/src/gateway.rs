//! The model gateway of one sandbox: its own token, and where its programs find it.

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

/// The same in every sandbox, since each has a loopback of its own.
const PORT: u16 = 7879;
/// Connections of one sandbox at the same time. The runner takes fewer.
const MOST_CONNECTIONS: usize = 64;
/// Tokens for programs in sandboxes begin differently from those of people, and mean nothing to the API.
const TOKEN_BEGINNING: &str = "dhg_";

/// Leads from one sandbox to the gateway.
#[derive(Debug)]
pub(crate) struct GatewayDoor {
    session: SessionId,
    token: Secret,
    entrance: Entrance,
    places: Arc<Semaphore>,
}

impl GatewayDoor {
    /// A door whose token begins to be good now, and what the runner has to know of it. `None` when
    /// no vendor can be asked.
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

    /// Takes a connection of a program in the sandbox.
    pub(crate) fn take(&self, stream: ByteStream) {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            tracing::debug!(
                "a connection to the model gateway was closed: the sandbox has too many"
            );
            return;
        };
        let incoming = stream.incoming.inspect(move |_| {
            // The place is taken for as long as the stream is there.
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
            tracing::warn!("a connection to the model gateway was closed: too many wait");
        }
    }
}
