//! Patience with a server that does not answer for a while.

use std::time::Duration;

use tokio::time::Instant;

use crate::client::CallError;

/// The time for which failed calls are repeated.
const PATIENCE: Duration = Duration::from_mins(5);

/// A series of failed calls.
#[derive(Debug, Default)]
pub(super) struct Outage {
    began: Option<Instant>,
}

impl Outage {
    /// Returns the error if it will not pass or has lasted too long. Otherwise returns a line for the user, once.
    pub(super) fn bear(
        &mut self,
        error: CallError,
        now: Instant,
    ) -> Result<Option<String>, CallError> {
        let is_first = self.began.is_none();
        let began = *self.began.get_or_insert(now);
        if !error.may_pass() || now.duration_since(began) >= PATIENCE {
            return Err(error);
        }
        let minutes = PATIENCE.as_secs() / 60;
        Ok(is_first.then(|| format!("{error}. Trying again for {minutes} minutes.")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16) -> CallError {
        CallError::Refused {
            status,
            code: "some_code".to_owned(),
            message: "no".to_owned(),
        }
    }

    #[test]
    fn failures_that_may_pass_are_borne_for_a_while_and_told_once() {
        let mut outage = Outage::default();
        let began = Instant::now();
        let line = outage.bear(refused(503), began).unwrap();
        assert_eq!(line.unwrap(), "no. Trying again for 5 minutes.");
        let later = began + PATIENCE - Duration::from_secs(1);
        assert_eq!(outage.bear(refused(429), later).unwrap(), None);
        assert!(outage.bear(refused(503), began + PATIENCE).is_err());
        assert!(Outage::default().bear(refused(404), began).is_err());
    }
}
