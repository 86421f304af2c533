//! The model gateway of one sandbox: its own token, and where its programs find it.

use deskhand_core::{
    gateway::{Entrance, GatewayConnection},
    id::SessionId,
    sandbox::ByteStream,
    secret::Secret,
};
use deskhand_runner_protocol::RunnerGateway;

/// The same in every sandbox, since each has a loopback of its own.
const PORT: u16 = 7879;
/// Tokens for programs in sandboxes begin differently from those of people, and mean nothing to the API.
const TOKEN_BEGINNING: &str = "dhg_";

/// Leads from one sandbox to the gateway.
#[derive(Debug)]
pub(crate) struct GatewayDoor {
    session: SessionId,
    token: Secret,
    entrance: Entrance,
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
        };
        Some((door, told))
    }

    /// Takes a connection of a program in the sandbox.
    pub(crate) fn take(&self, stream: ByteStream) {
        self.entrance.bring(GatewayConnection {
            session: self.session,
            token: self.token.clone(),
            stream,
        });
    }
}
