//! The room that a model has for a conversation, and the form in which pictures fill it.

/// The form of the pictures that a model is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PictureForm {
    /// As they are stored.
    #[default]
    Stored,
    /// With fewer bytes, as PNG, JPEG or, if `webp` is true, WebP. They may differ from the stored ones as long as no eye
    /// sees it.
    Compact { webp: bool },
}

/// The room that a model has for a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextWindow {
    /// The tokens of a request and its answer. `None` if nobody knows.
    pub tokens: Option<u64>,
    /// The vendor summarizes a long conversation itself.
    pub vendor_summarizes: bool,
}
