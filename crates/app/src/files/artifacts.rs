//! Files that the agent has shared with people. They are stored as blobs, so they outlive the computer.

use bytes::Bytes;
use deskhand_core::{blob::BlobError, event::Artifact, id::SessionId, viewer::Viewer};

use super::Files;
use crate::{FindError, InternalError, refusal::refusals, sessions::find::find};

/// A file that the agent has shared with people.
#[derive(Debug)]
pub struct SharedFile {
    pub artifact: Artifact,
    pub bytes: Bytes,
}

/// The reason why a shared file cannot be returned.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("event {0} of this session shares no file")]
    None(u64),
    #[error("could not read the file")]
    Blob(#[from] BlobError),
    #[error("could not look up the file")]
    Internal(#[source] InternalError),
}

refusals! {
    ArtifactError passes on Find, Blob, Internal;
    Self::None(_) => NotFound("no_artifact"),
}

impl Files {
    /// Returns the file that the event with this number shares.
    pub async fn artifact(
        &self,
        viewer: Viewer,
        id: SessionId,
        seq: u64,
    ) -> Result<SharedFile, ArtifactError> {
        find(&self.0.store, viewer, id).await?;
        let artifact = self.0.store.artifact(id, seq).await?;
        let artifact = artifact.ok_or(ArtifactError::None(seq))?;
        let bytes = self.0.blobs.get(&artifact.blob).await?;
        Ok(SharedFile { artifact, bytes })
    }
}
