//! Blobs: bytes kept outside the log and named by their content.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

/// The ending of the name of a file that is not a picture of ours.
const FILE_ENDING: &str = "bin";

/// The name of a blob: the SHA-256 of its content as 64 lower-case hex digits, a dot, and the format's extension.
// The invariant matters for safety: a name is used as a file name, so it must not contain a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, utoipa::ToSchema)]
#[schema(value_type = String, pattern = "^[0-9a-f]{64}\\.(png|jpg)$")]
#[serde(transparent)]
pub struct BlobName(String);

/// The error for a text that is not the name of a blob.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not the name of a blob")]
pub struct BadBlobName(pub String);

/// The format of a blob's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlobFormat {
    Png,
    Jpeg,
}

impl BlobFormat {
    pub fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }
}

impl BlobName {
    /// Returns the name of the bytes whose SHA-256 is `digest`.
    pub fn of(digest: [u8; 32], format: BlobFormat) -> Self {
        Self::ending_in(digest, format.ending())
    }

    /// Returns the name of a file of any kind whose SHA-256 is `digest`.
    pub fn of_file(digest: [u8; 32]) -> Self {
        Self::ending_in(digest, FILE_ENDING)
    }

    fn ending_in(digest: [u8; 32], ending: &str) -> Self {
        use std::fmt::Write;
        let mut name = String::with_capacity(68);
        for byte in digest {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        name.push('.');
        name.push_str(ending);
        Self(name)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true for a file of any kind, and false for a picture.
    pub fn is_file(&self) -> bool {
        self.0.ends_with(FILE_ENDING)
    }

    /// Returns the format of a picture.
    pub fn format(&self) -> BlobFormat {
        if self.0.ends_with(".png") {
            BlobFormat::Png
        } else {
            BlobFormat::Jpeg
        }
    }
}

impl std::str::FromStr for BlobName {
    type Err = BadBlobName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let well_formed = text.split_once('.').is_some_and(|(digest, ending)| {
            digest.len() == 64
                && digest
                    .bytes()
                    .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
                && matches!(ending, "png" | "jpg" | FILE_ENDING)
        });
        if well_formed {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadBlobName(text.to_owned()))
        }
    }
}

impl<'de> serde::Deserialize<'de> for BlobName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The reason why a blob could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("there is no blob {}", .0.as_str())]
    Missing(BlobName),
    #[error("no space is left for pictures: free some space on the disk of the data folder")]
    Full(#[source] std::io::Error),
    #[error("could not read or write the blob")]
    Io(#[from] std::io::Error),
}

/// A store of blobs.
#[async_trait]
pub trait Blobs: Send + Sync + std::fmt::Debug {
    /// Stores `bytes`. The same bytes are stored only once.
    async fn put(&self, bytes: Bytes, format: BlobFormat) -> Result<BlobName, BlobError>;

    /// Stores a file of any kind.
    async fn put_file(&self, bytes: Bytes) -> Result<BlobName, BlobError>;

    async fn get(&self, name: &BlobName) -> Result<Bytes, BlobError>;

    /// Removes a blob, unless its bytes were stored within `grace` before now: somebody may be about to refer to
    /// them. Returns `false` if it is still there for that reason.
    async fn remove(&self, name: &BlobName, grace: Duration) -> Result<bool, BlobError>;

    /// Checks that a blob could be stored now.
    async fn check(&self) -> Result<(), BlobError>;
}
