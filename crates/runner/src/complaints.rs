//! The end of a program's standard error, for people who want to know why it ended.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::{io::AsyncReadExt, process::ChildStderr};

/// The number of bytes that are kept.
const LONGEST_COMPLAINT_BYTES: usize = 1000;

/// The last lines of a program's standard error. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Complaints(Arc<Mutex<Vec<u8>>>);

impl Complaints {
    /// Keeps the last bytes until the pipe is closed.
    pub(crate) async fn keep(self, mut stderr: ChildStderr) {
        let mut piece = [0; LONGEST_COMPLAINT_BYTES];
        while let Ok(n_read @ 1..) = stderr.read(&mut piece).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&piece[..n_read]);
            let n_old = kept.len().saturating_sub(LONGEST_COMPLAINT_BYTES);
            kept.drain(..n_old);
        }
    }

    /// Returns the last non-empty line, with a colon before it.
    pub(crate) fn last(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
        last.map(|line| format!(": {line}")).unwrap_or_default()
    }
}
