//! The view that models have of a screen.

use deskhand_core::{
    action::ScreenSize,
    model::{ContextWindow, Pictures},
};

use crate::space::Space;

/// The pictures that a model is shown, and the coordinates in which it points at them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// Returns the size of the pictures of a screen.
    pub(crate) shown: fn(ScreenSize) -> ScreenSize,
    /// Returns the coordinates, given the screen and the size of its pictures.
    pub(crate) space: fn(ScreenSize, ScreenSize) -> Space,
    pub(crate) pictures: Pictures,
    /// The attached files that the model accepts.
    pub(crate) files: AcceptedFiles,
    /// The room for a conversation.
    pub(crate) window: ContextWindow,
}

/// The kinds of files that a model accepts besides PNG and JPEG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AcceptedFiles {
    pub(crate) pdf: bool,
    pub(crate) gif: bool,
    pub(crate) webp: bool,
}

impl View {
    /// Creates the view of a model that gets pictures of this size, points at their pixels and needs only the newest.
    pub(crate) fn sized(shown: fn(ScreenSize) -> ScreenSize) -> Self {
        Self {
            shown,
            space: Space::picture,
            pictures: Pictures::Newest,
            files: AcceptedFiles {
                pdf: false,
                gif: false,
                webp: false,
            },
            window: ContextWindow::default(),
        }
    }

    /// Returns the coordinates for a screen.
    pub(crate) fn space(&self, screen: ScreenSize) -> Space {
        (self.space)(screen, (self.shown)(screen))
    }
}
