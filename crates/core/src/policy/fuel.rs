//! A bound on the text that is read to judge one call.

use std::cell::Cell;

/// The characters that are read beyond the text of a call: values of variables, expanded braces, and texts in texts.
const MOST_CHARS: usize = 500_000;
/// What it takes to begin with a text, in characters. Many short texts take longer than a single one.
const BEGINNING_CHARS: usize = 32;

/// The characters that may still be read. Texts that double themselves use it up instead of the memory.
#[derive(Debug)]
pub(super) struct Fuel {
    left: Cell<usize>,
    is_out: Cell<bool>,
}

impl Fuel {
    /// Returns enough to read a text once, with what it stands for.
    pub(super) fn for_text(text: &str) -> Self {
        Self {
            left: Cell::new(MOST_CHARS.saturating_add(text.len())),
            is_out: Cell::new(false),
        }
    }

    /// Takes what so many bytes need. Returns false, from then on too, if there is not enough.
    #[must_use]
    pub(super) fn burn(&self, n_bytes: usize) -> bool {
        let left = self.left.get().checked_sub(n_bytes);
        self.left.set(left.unwrap_or(0));
        if left.is_none() {
            self.run_out();
        }
        !self.is_out()
    }

    /// Takes what reading a text needs that another one contains. Returns false, from then on too, if there is not enough.
    #[must_use]
    pub(super) fn burn_text(&self, text: &str) -> bool {
        self.burn(BEGINNING_CHARS.saturating_add(text.len()))
    }

    /// Notes that a part was not read.
    pub(super) fn run_out(&self) {
        self.left.set(0);
        self.is_out.set(true);
    }

    /// Returns true if a part was not read.
    pub(super) fn is_out(&self) -> bool {
        self.is_out.get()
    }
}
