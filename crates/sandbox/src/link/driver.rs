//! Whom the computer obeys.

use std::time::Duration;

use bytes::Bytes;
use deskhand_core::sandbox::{ComputerError, Driver};
use deskhand_runner_protocol::{ToRunner, codec};
use tokio::time::timeout;

use super::{Link, State};

/// How long to wait until the runner knows. One that is away hears of it before it hears of anything
/// else.
const PATIENCE: Duration = Duration::from_secs(2);

impl Link {
    /// Has the runner obey this driver, and waits until it knows. Whoever is not obeyed and waits
    /// for an answer is refused at once.
    pub(crate) async fn set_driver(&self, driver: Driver) {
        let number = {
            let mut state = self.state();
            if state.has_ended || state.driver == driver {
                return;
            }
            state.driver = driver;
            state.driver_number += 1;
            for (id, was_sent) in state.requests.disobeyed_by(driver) {
                let refused = ComputerError::Refused {
                    was_begun: was_sent,
                };
                state.requests.answer(id, Err(refused));
            }
            state.driver_number
        };
        self.wake.notify_waiters();
        let mut known = self.known_driver.subscribe();
        let told = timeout(PATIENCE, known.wait_for(|known| *known >= number));
        tokio::select! {
            // Without an answer it is still the first thing the runner hears.
            _ = told => {}
            () = self.ended.cancelled() => {}
        }
    }
}

impl State {
    /// What this control link has to be told before everything else.
    pub(super) fn driver_for(&mut self, generation: u64) -> Option<Bytes> {
        let (number, driver) = (self.driver_number, self.driver);
        if number == 0 || self.driver_sent == (generation, number) {
            return None;
        }
        self.driver_sent = (generation, number);
        codec::pack(&ToRunner::SetDriver { number, driver }, &[])
            .inspect_err(|error| tracing::error!(%error, "the runner was not told who drives"))
            .ok()
    }
}
