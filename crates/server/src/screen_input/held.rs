//! The keys and buttons that the screen sees as held down by a client.

use std::collections::BTreeSet;

use super::messages::{ClientMessage, Key, Pointer};

/// The most keys that a client may hold down at once.
const MOST_KEYS: usize = 128;

/// The keys and buttons that a client holds down.
#[derive(Debug, Default)]
pub(super) struct Held {
    keys: BTreeSet<Key>,
    /// The position of the pointer while a button is down.
    pointer: Option<Pointer>,
}

impl Held {
    /// Records the keys and buttons that a message presses and releases. Returns true if it may be passed on.
    pub(super) fn note(&mut self, message: &ClientMessage) -> bool {
        match message {
            ClientMessage::Key { is_down: true, key } => {
                let has_room = self.keys.len() < MOST_KEYS || self.keys.contains(key);
                if has_room {
                    self.keys.insert(*key);
                }
                has_room
            }
            ClientMessage::Key {
                is_down: false,
                key,
            } => {
                self.keys.remove(key);
                true
            }
            ClientMessage::Pointer(pointer) => {
                self.pointer = (pointer.buttons != 0).then_some(*pointer);
                true
            }
            ClientMessage::PixelFormat(_)
            | ClientMessage::Encodings(_)
            | ClientMessage::UpdateRequest { .. }
            | ClientMessage::ContinuousUpdates { .. }
            | ClientMessage::Fence { .. }
            | ClientMessage::CutText(_)
            | ClientMessage::Clipboard(_) => true,
        }
    }

    /// Returns messages that release everything.
    pub(super) fn into_releases(self) -> impl Iterator<Item = ClientMessage> {
        let keys = self.keys.into_iter().map(|key| ClientMessage::Key {
            is_down: false,
            key,
        });
        let pointer = self.pointer.map(|pointer| {
            ClientMessage::Pointer(Pointer {
                buttons: 0,
                ..pointer
            })
        });
        keys.chain(pointer)
    }
}
