//! Keeps secrets out of the clipboard, and out of the selected text that a middle click pastes.
//!
//! Otherwise a secret in a text field could be copied into any other program, whose windows are not searched.

use x11rb::{
    CURRENT_TIME, NONE,
    protocol::{
        xfixes::SelectionNotifyEvent as SelectionOwned,
        xproto::{AtomEnum, ConnectionExt as _, SelectionNotifyEvent},
    },
    rust_connection::RustConnection,
};

use super::{
    clipboard::hidden_window,
    guard::GuardedValues,
    x::{Atoms, XError},
};

/// The longest copied text that is searched, in units of four bytes. A longer one is forgotten unsearched.
const LONGEST_WORDS: u32 = 256 * 1024;

/// A window that receives what was copied.
pub(super) struct Pasteboard {
    window: u32,
    guarded: GuardedValues,
}

impl Pasteboard {
    pub(super) fn open(
        connection: &RustConnection,
        root: u32,
        guarded: GuardedValues,
    ) -> Result<Self, XError> {
        let window = hidden_window(connection, root)?;
        Ok(Self { window, guarded })
    }

    /// Asks a program for what it has just copied, if there are secrets to look for.
    pub(super) fn ask(
        &self,
        connection: &RustConnection,
        atoms: &Atoms,
        owned: &SelectionOwned,
    ) -> Result<(), XError> {
        if owned.owner != NONE && !self.guarded.is_empty() {
            let (selection, text) = (owned.selection, atoms.UTF8_STRING);
            connection.convert_selection(self.window, selection, text, selection, CURRENT_TIME)?;
        }
        Ok(())
    }

    /// Takes a copied text away from its program if it contains a secret.
    pub(super) fn check(
        &self,
        connection: &RustConnection,
        atoms: &Atoms,
        told: &SelectionNotifyEvent,
    ) -> Result<(), XError> {
        if told.requestor != self.window || told.property == NONE {
            return Ok(());
        }
        let copied = connection.get_property(
            true,
            self.window,
            told.property,
            AtomEnum::ANY,
            0,
            LONGEST_WORDS,
        )?;
        let copied = copied.reply()?;
        let is_long = copied.bytes_after > 0 || copied.type_ == atoms.INCR;
        if is_long || self.guarded.are_in(&copied.value) {
            connection.set_selection_owner(NONE, told.selection, CURRENT_TIME)?;
        }
        Ok(())
    }
}
