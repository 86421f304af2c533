//! Builds the subject of evals from those that its trials go through.

use std::sync::Arc;

use super::Common;
use crate::{
    Computers, Evals, Sessions,
    evals::{EvalParts, OpenRuns},
    live::LiveSessions,
};

impl Common {
    pub(super) fn evals(
        &self,
        live: &LiveSessions,
        sessions: &Sessions,
        computers: &Computers,
    ) -> Evals {
        Evals::new(EvalParts {
            store: self.parts.store.clone(),
            sessions: sessions.clone(),
            queue: self.queue(live),
            computers: computers.clone(),
            files: self.files(live),
            decisions: self.decisions.clone(),
            spending: self.spending.clone(),
            live: live.clone(),
            catalog: self.catalog.clone(),
            clock: Arc::clone(&self.parts.clock),
            tasks: self.parts.tasks.clone(),
            open: OpenRuns::default(),
        })
    }
}
