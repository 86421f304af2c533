//! The log lines of a world's server.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use tracing::subscriber::DefaultGuard;
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt,
};

/// Everything that is logged, and also one line for each request and for each look at a stream.
const LEVEL: &str = "info,deskhand_server=debug,deskhand_streams=debug";

/// The lines as `log.format = "json"` writes them. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct CapturedLog(Arc<Mutex<Vec<u8>>>);

impl CapturedLog {
    /// Captures what this thread logs, until the guard is dropped.
    pub(crate) fn capture(&self) -> DefaultGuard {
        let log = self.clone();
        let filter: Targets = LEVEL.parse().expect("a filter");
        let lines = tracing_subscriber::fmt()
            .with_max_level(LevelFilter::TRACE)
            .with_writer(move || log.clone())
            .json()
            .flatten_event(true);
        tracing::subscriber::set_default(lines.finish().with(filter))
    }

    pub(crate) fn text(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&lines).into_owned()
    }
}

impl io::Write for CapturedLog {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
