//! The end of a lease whose holder programs could watch, because a computer that has just started cannot freeze them.

use deskhand_core::{
    event::{EventBody, Failure},
    lease::LeaseEnd,
    sandbox::{Computer, LeaseHolder, LeaseOutcome},
};
use deskhand_store::EndLease;

use super::SessionDesk;
use crate::session_computer::SessionComputer;

impl SessionDesk {
    /// Ends the lease of a person whom programs could watch on a computer that has just started. The caller holds the
    /// attendance's `change`.
    pub(super) async fn end_lease(&self, computer: &SessionComputer) {
        self.room.shut();
        let Some(held) = self.room.held() else { return };
        let end = EndLease {
            lease: &held.lease,
            reason: LeaseEnd::NotPrivate,
        };
        match self.log.commit(self.session, end).await {
            // If the store refuses, another change has ended the lease already.
            Ok(_) => {
                computer.set_lease_holder(LeaseHolder::Nobody).await;
                self.room.clear();
            }
            // The holder's input stays blocked until the lease ends by itself.
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(session.id = %self.session, error, "could not store the end of a lease");
            }
        }
    }
}

/// Returns a warning for a lease holder whom programs could watch on a computer that has just started.
pub(super) fn warning_of(outcome: LeaseOutcome) -> Vec<EventBody> {
    let LeaseOutcome::Watched(problem) = outcome else {
        return Vec::new();
    };
    vec![EventBody::Error(Failure {
        turn: None,
        code: "not_private".to_owned(),
        message: format!(
            "Nobody has control now, because programs on the desktop could watch: {problem}."
        ),
    })]
}
