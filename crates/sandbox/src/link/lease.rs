//! The holder of the lease, as the runner is told.

use std::time::Duration;

use bytes::Bytes;
use deskhand_core::sandbox::{ComputerError, LeaseHolder};
use deskhand_runner_protocol::ToRunner;
use tokio::time::timeout;

use super::{Link, State};

/// The longest wait for the runner's confirmation. A runner that is disconnected gets the holder as its first
/// message.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(2);

impl Link {
    /// Has the runner obey this holder, and waits until it confirms. Pending requests of other actors are refused
    /// at once.
    pub(crate) async fn set_lease_holder(&self, holder: LeaseHolder) {
        let number = {
            let mut state = self.state();
            if state.has_ended || state.holder == holder {
                return;
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
        let confirmed = confirmed.wait_for(|confirmed| *confirmed >= number);
        tokio::select! {
            // Without a confirmation it is still the first thing the runner is told.
            _ = timeout(CONFIRM_TIMEOUT, confirmed) => {}
            () = self.ended.cancelled() => {}
        }
    }
}

impl State {
    /// Returns the lease holder if this control link has not been told yet. It goes out before everything else.
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
