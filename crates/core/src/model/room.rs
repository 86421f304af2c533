//! The room that a model has for a conversation, and the form in which pictures fill it.

/// The form of the pictures that a model is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PictureForm {
    /// As they are stored.
    #[default]
    Stored,
    /// Encoded anew with fewer bytes, as PNG, JPEG or, if `webp` is true, WebP. The difference from the stored picture is
    /// invisible.
    Compact { webp: bool },
}

/// The room that a model has for a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextWindow {
    /// The maximum number of tokens of a request and its answer together. `None` if it is unknown.
    pub tokens: Option<u64>,
    /// The vendor summarizes a long conversation itself.
    pub vendor_summarizes: bool,
}
