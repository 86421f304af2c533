//! Filters a client's messages to the screen: passes input only while the client has control.
//!
//! The client speaks RFB (RFC 6143). The filter and the RFB server must agree where each message begins, or the server
//! would find keys and clicks in what the filter takes for harmless. So the filter accepts only the one handshake whose
//! length is known, ends the connection at a message of an unknown kind, and writes every message that it passes on
//! anew from its fields. No byte of a client reaches the server at a place that the filter has not understood.

mod clipboard;
mod encodings;
mod fields;
mod held;
mod messages;

use bytes::{Buf, Bytes, BytesMut};

use self::{
    held::Held,
    messages::{ClientMessage, Frame, frame},
};

const VERSION: &[u8] = b"RFB 003.008\n";
const NO_SECURITY: u8 = 1;
/// The longest message that is passed on. The longest that real clients send lists some dozens of encodings.
pub(crate) const LONGEST_MESSAGE_BYTES: usize = 64 * 1024;

/// Filters the bytes of one client.
#[derive(Debug, Default)]
pub(crate) struct ScreenInput {
    stage: Stage,
    /// The received part of a message that is not complete yet.
    pending: BytesMut,
    /// The number of bytes still to come of a message that is left out.
    skipped: usize,
    held: Held,
}

/// The client's control of the mouse and the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hands {
    On,
    Off,
}

/// The client sent something that is not RFB as expected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAScreen;

#[derive(Debug, Default, Clone, Copy)]
enum Stage {
    #[default]
    Version,
    Security,
    Shared,
    Messages,
}

impl ScreenInput {
    /// Returns the messages in these bytes, and in the pending ones, that are passed on.
    pub(crate) fn pass(&mut self, bytes: &[u8], hands: Hands) -> Result<Bytes, NotAScreen> {
        self.pending.extend_from_slice(bytes);
        let mut passed = BytesMut::new();
        loop {
            let n_skipped = self.skipped.min(self.pending.len());
            self.pending.advance(n_skipped);
            self.skipped -= n_skipped;
            let is_done = match self.stage.expected() {
                Some(expected) => !self.greet(expected, &mut passed)?,
                None => !self.pass_message(hands, &mut passed)?,
            };
            if is_done {
                return Ok(passed.freeze());
            }
        }
    }

    /// Returns messages that release everything the client holds down, for when it loses control.
    pub(crate) fn release(&mut self) -> Bytes {
        let mut released = BytesMut::new();
        for message in std::mem::take(&mut self.held).into_releases() {
            message.write(&mut released);
        }
        released.freeze()
    }

    /// Passes on a part of the handshake. Returns false if it has not arrived completely.
    fn greet(
        &mut self,
        expected: &'static [u8],
        passed: &mut BytesMut,
    ) -> Result<bool, NotAScreen> {
        let n_known = self.pending.len().min(expected.len());
        if self.pending[..n_known] != expected[..n_known] {
            return Err(NotAScreen);
        }
        if n_known < expected.len() {
            return Ok(false);
        }
        self.pending.advance(n_known);
        passed.extend_from_slice(expected);
        self.stage = self.stage.next();
        Ok(true)
    }

    /// Passes on or leaves out the next message. Returns false if too little of it has arrived.
    fn pass_message(&mut self, hands: Hands, passed: &mut BytesMut) -> Result<bool, NotAScreen> {
        match frame(&self.pending)? {
            Some(Frame::Harmless(length)) if length > LONGEST_MESSAGE_BYTES => Err(NotAScreen),
            // Without control, and for a clipboard text that is too long, the message is left out.
            Some(Frame::Input(length)) if hands == Hands::Off || length > LONGEST_MESSAGE_BYTES => {
                self.skipped = length;
                Ok(true)
            }
            Some(Frame::Unwanted(length)) => {
                self.skipped = length;
                Ok(true)
            }
            Some(Frame::Harmless(length) | Frame::Input(length))
                if self.pending.len() >= length =>
            {
                let message = ClientMessage::parse(&self.pending.split_to(length))?;
                if self.held.note(&message) {
                    message.write(passed);
                }
                Ok(true)
            }
            Some(Frame::Harmless(_) | Frame::Input(_)) | None => Ok(false),
        }
    }
}

impl Stage {
    /// Returns the only bytes that a client may send at this stage of the handshake.
    fn expected(self) -> Option<&'static [u8]> {
        match self {
            Self::Version => Some(VERSION),
            Self::Security => Some(&[NO_SECURITY]),
            // A client that does not share would disconnect the others.
            Self::Shared => Some(&[1]),
            Self::Messages => None,
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Version => Self::Security,
            Self::Security => Self::Shared,
            Self::Shared | Self::Messages => Self::Messages,
        }
    }
}

#[cfg(test)]
#[path = "screen_input_tests.rs"]
mod tests;
