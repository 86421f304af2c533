//! Files that people and the agent give each other.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    blob::BlobName,
    id::{AttachmentId, MessageId, TurnId},
};

/// The agent handed a file to people. `GET /api/sessions/{id}/artifacts/{seq}` returns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ArtifactData)]
pub struct Artifact {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    /// The name of the file, without its folder.
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// Guessed by the name.
    pub media_type: String,
    #[schema(value_type = String)]
    pub blob: BlobName,
}

/// The files of a message were written to the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PlacedData)]
pub struct FilesPlaced {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    #[schema(value_type = Uuid)]
    pub message: MessageId,
    /// All files of the message, in its order.
    pub files: Vec<PlacedFile>,
}

/// One file of a message, in the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlacedFile {
    #[schema(value_type = Uuid)]
    pub attachment: AttachmentId,
    /// Its path there. Absent if it could not be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path: Option<String>,
    /// The reason why it could not be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<String>,
}
