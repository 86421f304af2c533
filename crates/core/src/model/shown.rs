//! Files that models are shown.

use bytes::Bytes;

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
