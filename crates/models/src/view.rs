//! How models look at a screen.

use deskhand_core::{action::ScreenSize, model::Pictures};

use crate::space::Space;

/// What a model is shown, and how it says where on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// How big the pictures of a screen are.
    pub(crate) shown: fn(ScreenSize) -> ScreenSize,
    /// What it points at, given the screen and the size of its pictures.
    pub(crate) space: fn(ScreenSize, ScreenSize) -> Space,
    pub(crate) pictures: Pictures,
}

impl View {
    /// Of a model that is shown pictures of this size, points at their pixels and needs the newest only.
    pub(crate) fn sized(shown: fn(ScreenSize) -> ScreenSize) -> Self {
        Self {
            shown,
            space: Space::picture,
            pictures: Pictures::Newest,
        }
    }

    /// What it points at on a screen.
    pub(crate) fn space(&self, screen: ScreenSize) -> Space {
        (self.space)(screen, (self.shown)(screen))
    }
}
