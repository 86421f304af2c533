//! The end of a program's standard error.

use std::{
    collections::VecDeque,
    io,
    os::unix::net,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use deskhand_core::tasks::Tasks;
use tokio::{io::AsyncReadExt, net::UnixStream, task::JoinHandle, time::timeout};

/// The number of bytes that are kept.
const KEPT_BYTES: usize = 8 * 1024;
/// The timeout for reading the rest once the program has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Reads everything that is written, and keeps the end of it.
#[derive(Debug)]
pub(crate) struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    reading: JoinHandle<()>,
}

impl Tail {
    pub(crate) fn follow(stderr: net::UnixStream, tasks: &Tasks) -> io::Result<Self> {
        stderr.set_nonblocking(true)?;
        let stderr = UnixStream::from_std(stderr)?;
        let kept = Arc::<Mutex<VecDeque<u8>>>::default();
        let reading = tasks.spawn("runner output", read(stderr, Arc::clone(&kept)));
        Ok(Self { kept, reading })
    }

    /// Returns the last line, once everything has been written.
    pub(crate) async fn last_line(&mut self) -> Option<String> {
        // If a process still holds the other end, the text so far has to do.
        let _ = timeout(DRAIN_TIMEOUT, &mut self.reading).await;
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines().map(str::trim);
        lines.rfind(|line| !line.is_empty()).map(str::to_owned)
    }
}

async fn read(mut stderr: UnixStream, kept: Arc<Mutex<VecDeque<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        let piece = &buffer[..length];
        tracing::debug!(text = %String::from_utf8_lossy(piece).trim_end(), "output of the runner");
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(piece);
        let surplus = kept.len().saturating_sub(KEPT_BYTES);
        kept.drain(..surplus);
    }
}
