//! Deletes sessions, streams and evals that ended long ago, attachments that were never sent, and blobs without
//! references.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use deskhand_core::{
    blob::{BlobName, Blobs},
    clock::Clock,
    viewer::Viewer,
};
use deskhand_store::Store;
use tokio::sync::Notify;

use super::{Job, JobError, JobReport};
use crate::{attachments::UNSENT_LIFE, sessions::Sessions};

/// The age at which a picture that nobody refers to is removed. A younger one may be about to get into a log.
const BLOB_GRACE: Duration = Duration::from_mins(10);
/// The time for which a deleted session counts for the daily limit, and a little more.
const DELETED_SESSION_LIFE: Duration = Duration::from_hours(48);
/// The number of rows read at once.
const BATCH: u32 = 100;

#[derive(Debug)]
pub(crate) struct Retention {
    pub(crate) sessions: Sessions,
    pub(crate) store: Store,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) clock: Arc<dyn Clock>,
    /// The time for which ended sessions, streams and evals are kept. `None` for ever.
    pub(crate) keep_ended: Option<Duration>,
    /// Woken when a session was deleted.
    pub(crate) nudge: Arc<Notify>,
}

#[async_trait]
impl Job for Retention {
    fn name(&self) -> &'static str {
        "retention"
    }

    fn period(&self) -> Duration {
        Duration::from_hours(1)
    }

    fn least_pause(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn nudge(&self) -> Option<&Notify> {
        Some(&self.nudge)
    }

    async fn run(&self) -> Result<JobReport, JobError> {
        self.delete_ended().await?;
        self.remove_ended_streams().await?;
        self.delete_evals().await?;
        let before = self.clock.now() - DELETED_SESSION_LIFE;
        self.store.forget_deleted_sessions(before).await?;
        self.remove_unsent().await?;
        let is_waiting = self.remove_blobs().await?;
        Ok(JobReport {
            next_in: is_waiting.then_some(BLOB_GRACE),
        })
    }
}

impl Retention {
    async fn delete_ended(&self) -> Result<(), JobError> {
        let Some(keep) = self.keep_ended else {
            return Ok(());
        };
        loop {
            let before = self.clock.now() - keep;
            let ended = self.store.sessions_ended_before(before, BATCH).await?;
            if ended.is_empty() {
                return Ok(());
            }
            for session in ended {
                self.sessions.delete(Viewer::System, session).await?;
                tracing::info!(session.id = %session, "deleted a session that ended long ago");
            }
        }
    }

    /// Removes the records of streams that ended long ago.
    async fn remove_ended_streams(&self) -> Result<(), JobError> {
        let Some(keep) = self.keep_ended else {
            return Ok(());
        };
        let before = self.clock.now() - keep;
        while self
            .store
            .remove_streams_ended_before(before, BATCH)
            .await?
            > 0
        {}
        Ok(())
    }

    async fn delete_evals(&self) -> Result<(), JobError> {
        let Some(keep) = self.keep_ended else {
            return Ok(());
        };
        loop {
            let before = self.clock.now() - keep;
            let ended = self.store.evals_ended_before(before, BATCH).await?;
            if ended.is_empty() {
                return Ok(());
            }
            for (owner, id) in ended {
                self.store.delete_eval(owner, id).await?;
                tracing::info!(eval.id = %id, "deleted an eval that ended long ago");
            }
        }
    }

    /// Removes files that were uploaded long ago and never sent.
    async fn remove_unsent(&self) -> Result<(), JobError> {
        loop {
            let before = self.clock.now() - UNSENT_LIFE;
            if self.store.remove_unsent_attachments(before, BATCH).await? == 0 {
                return Ok(());
            }
        }
    }

    /// Removes the blobs that no session shows any more. Returns true if some are too young.
    async fn remove_blobs(&self) -> Result<bool, JobError> {
        let mut is_waiting = false;
        let mut last: Option<BlobName> = None;
        loop {
            let blobs = self.store.blobs_to_remove(last.as_ref(), BATCH).await?;
            for blob in &blobs {
                let is_settled = self.store.is_blob_shown(blob).await?
                    || self.blobs.remove(blob, BLOB_GRACE).await?;
                if is_settled {
                    self.store.blob_is_settled(blob).await?;
                } else {
                    is_waiting = true;
                }
            }
            match blobs.last() {
                Some(newest) => last = Some(newest.clone()),
                None => return Ok(is_waiting),
            }
        }
    }
}
