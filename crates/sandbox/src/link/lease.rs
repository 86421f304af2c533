//! Tells the runner about the lease holder.

use std::time::Duration;

use bytes::Bytes;
use deskhand_core::sandbox::{ComputerError, LeaseHolder, LeaseOutcome};
use deskhand_runner_protocol::ToRunner;
use tokio::time::timeout;

use super::{Link, State};

/// The longest wait for the runner's confirmation.
///
/// The runner ends the agent's last command first, which takes two seconds if the command ignores all signals, and
/// stops programs that may resist. A runner that was disconnected gets the holder as its first message once it is back.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(12);

/// The newest lease holder that the runner has confirmed.
#[derive(Debug, Default)]
pub(super) struct ConfirmedHolder {
    pub(super) number: u64,
    /// The reason why the holder could be watched.
    pub(super) problem: Option<String>,
}

impl Link {
    /// Makes the runner obey this holder, and waits until it confirms.
    ///
    /// Pending requests of other actors are refused at once.
    pub(crate) async fn set_lease_holder(&self, holder: LeaseHolder) -> LeaseOutcome {
        let number = {
            let mut state = self.state();
            if state.has_ended || state.holder == holder {
                return LeaseOutcome::Set;
            }
            state.holder = holder;
            state.holder_number += 1;
            for (id, was_sent) in state.requests.barred_by(holder) {
                let refused = ComputerError::Refused {
                    was_begun: was_sent,
                };
                state.requests.answer(id, Err(refused));
            }
            state.holder_number
        };
        self.wake.notify_waiters();
        let mut confirmed = self.confirmed_holder.subscribe();
        let confirmed = confirmed.wait_for(|confirmed| confirmed.number >= number);
        let problem = tokio::select! {
            confirmed = timeout(CONFIRM_TIMEOUT, confirmed) => match confirmed {
                Ok(Ok(confirmed)) => confirmed.problem.clone(),
                // The link is gone.
                Ok(Err(_)) => None,
                // A runner that is still starting gets the holder as its first message, before any program runs.
                Err(_late) if !self.state().was_ready => None,
                Err(_late) => Some("the sandbox did not confirm it in time".to_owned()),
            },
            () = self.ended.cancelled() => None,
        };
        problem.map_or(LeaseOutcome::Set, LeaseOutcome::Watched)
    }
}

impl State {
    /// Returns the message with the lease holder, if it was not sent on this control link yet.
    pub(super) fn holder_for(&mut self, generation: u64) -> Option<Bytes> {
        let (number, holder) = (self.holder_number, self.holder);
        if number == 0 || self.holder_sent == (generation, number) {
            return None;
        }
        self.holder_sent = (generation, number);
        ToRunner::SetLeaseHolder { number, holder }
            .pack()
            .inspect_err(
                |error| tracing::error!(%error, "could not tell the runner who holds the lease"),
            )
            .ok()
    }
}
