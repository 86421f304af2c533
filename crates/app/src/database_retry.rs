//! Retries for a database that is unreachable.
//!
//! Work in progress must not fail because the database restarts. Callers that can wait retry for a while; only a
//! server that is shutting down does not.

use std::{future::Future, time::Duration};

use deskhand_store::StoreError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The longest outage of a database.
const TIMEOUT: Duration = Duration::from_mins(10);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Retries until the database responds, until [`TIMEOUT`], or until `end` fires. A failed attempt may have been
/// stored, so it must be harmless to repeat it.
pub(crate) async fn until_answered<T, F>(
    end: &CancellationToken,
    mut attempt: impl FnMut() -> F,
) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let error = match attempt().await {
            Err(error) if error.is_unreachable() => error,
            answered => {
                if pause > FIRST_PAUSE {
                    tracing::info!(
                        duration_ms =
                            u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
                        "the database is available again"
                    );
                }
                return answered;
            }
        };
        if pause == FIRST_PAUSE {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the database is unavailable; operations that need it wait"
            );
        }
        if end.is_cancelled() || started.elapsed() > TIMEOUT {
            return Err(error);
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = end.cancelled() => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
