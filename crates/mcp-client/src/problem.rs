//! The last problem of a connection, in our own words. The library's errors hide it behind several others.

use std::sync::{Arc, Mutex, PoisonError};

use deskhand_core::{plain::visible, tool_server::ToolServerError};

/// The longest text of a server in an error, in characters.
const LONGEST_QUOTE: usize = 300;

/// The last problem of a connection. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problem(Arc<Mutex<Option<ToolServerError>>>);

impl Problem {
    pub(crate) fn set(&self, problem: ToolServerError) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
    }

    /// Returns the problem, once.
    pub(crate) fn take(&self) -> Option<ToolServerError> {
        let mut problem = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        problem.take()
    }
}

/// Returns a text of a server on one line, without characters that change how other text is shown.
pub(crate) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    visible(&line).chars().take(LONGEST_QUOTE).collect()
}
