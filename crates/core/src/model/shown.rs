//! Pictures and files that models are shown.

use bytes::Bytes;

use crate::blob::BlobFormat;

/// A picture for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    pub bytes: Bytes,
    pub format: ImageFormat,
}

/// The format of a picture for the model. Stored pictures have fewer formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFormat {
    Png,
    Jpeg,
    Webp,
}

impl ImageFormat {
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
        }
    }
}

impl From<BlobFormat> for ImageFormat {
    fn from(format: BlobFormat) -> Self {
        match format {
            BlobFormat::Png => Self::Png,
            BlobFormat::Jpeg => Self::Jpeg,
        }
    }
}

/// A file for the model, in a form and size that it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownFile {
    pub name: String,
    /// `image/png`, `image/jpeg`, `image/gif`, `image/webp` or `application/pdf`.
    pub media_type: &'static str,
    pub bytes: Bytes,
    /// The tokens that it costs, approximately.
    pub n_tokens: u64,
}

impl ShownFile {
    pub fn is_picture(&self) -> bool {
        self.media_type.starts_with("image/")
    }
}

/// The reason why a model is not shown a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotShown {
    /// The model takes no such files.
    #[error("you cannot be shown files of this kind")]
    Kind,
    #[error("it is too large to be shown to you")]
    Large,
    #[error("it is protected by a password")]
    Locked,
    #[error("it is damaged")]
    Damaged,
}
