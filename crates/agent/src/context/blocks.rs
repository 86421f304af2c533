//! Blocks of thinking or text, assembled from their pieces.

use deskhand_core::{event::Said, id::TurnId};

/// The text so far, with an empty line between two blocks.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    newest: Option<(TurnId, u32)>,
    text: String,
}

impl Blocks {
    pub(crate) fn push(&mut self, said: &Said) {
        let block = (said.turn, said.block);
        if self.newest.is_some_and(|newest| newest != block) {
            self.text.push_str("\n\n");
        }
        self.newest = Some(block);
        self.text.push_str(&said.text);
    }

    /// Makes the next piece part of the same block, whatever its number.
    pub(crate) fn join(&mut self) {
        self.newest = None;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(crate) fn whole(self) -> String {
        self.text
    }
}
