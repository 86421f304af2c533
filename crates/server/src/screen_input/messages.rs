//! The messages of an RFB client: where each ends, its fields, and how it is written anew.

use bytes::{BufMut, Bytes, BytesMut};

use super::{NotAScreen, clipboard::Clipboard, encodings, fields::Fields};

/// The longest payload of a fence. RFB servers ignore longer ones.
const LONGEST_FENCE_BYTES: usize = 64;
/// The flags of a fence that are defined: three about order, and the one that asks for an answer.
const FENCE_FLAGS: u32 = 0x8000_0007;
/// The buttons in a pointer message. The highest bit marks a longer message for some servers, and is never passed on.
const BUTTONS: u8 = 0x7f;

/// The treatment of a message, with its length in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    Harmless(usize),
    /// Passed on only if the client has control.
    Input(usize),
    /// Never passed on.
    Unwanted(usize),
}

/// A message that may be passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClientMessage {
    PixelFormat(PixelFormat),
    Encodings(Vec<i32>),
    UpdateRequest { only_changes: bool, area: Area },
    ContinuousUpdates { is_on: bool, area: Area },
    Fence { flags: u32, payload: Bytes },
    Key { is_down: bool, key: Key },
    Pointer(Pointer),
    CutText(Bytes),
    Clipboard(Clipboard),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PixelFormat {
    bits_per_pixel: u8,
    depth: u8,
    is_big_endian: bool,
    is_true_colour: bool,
    /// The largest value of red, green and blue.
    most: [u16; 3],
    shifts: [u8; 3],
}

/// A part of the screen: left, top, width and height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area([u16; 4]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    keysym: u32,
    /// The key's place on the keyboard, in the extended key message.
    keycode: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pointer {
    pub(super) buttons: u8,
    pub(super) x: u16,
    pub(super) y: u16,
}

/// Returns the treatment of the message that begins here, or nothing if too little of it has arrived.
pub(super) fn frame(pending: &[u8]) -> Result<Option<Frame>, NotAScreen> {
    let Some(kind) = pending.first() else {
        return Ok(None);
    };
    let number = |at: usize, n_bytes: usize| {
        let bytes = pending.get(at..at + n_bytes)?;
        Some(
            bytes
                .iter()
                .fold(0, |number, byte| number << 8 | usize::from(*byte)),
        )
    };
    Ok(match kind {
        // SetPixelFormat
        0 => Some(Frame::Harmless(20)),
        // SetEncodings
        2 => number(2, 2).map(|n_encodings| Frame::Harmless(4 + 4 * n_encodings)),
        // FramebufferUpdateRequest and EnableContinuousUpdates
        3 | 150 => Some(Frame::Harmless(10)),
        // KeyEvent
        4 => Some(Frame::Input(8)),
        // PointerEvent
        5 => Some(Frame::Input(6)),
        // ClientCutText; a negative length marks the extended form
        6 => number(4, 4).map(|length| {
            let length = u32::try_from(length).unwrap_or(u32::MAX).cast_signed();
            Frame::Input(8 + usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX - 8))
        }),
        // ClientFence
        248 => number(8, 1).map(|length| {
            if length > LONGEST_FENCE_BYTES {
                Frame::Unwanted(9 + length)
            } else {
                Frame::Harmless(9 + length)
            }
        }),
        // xvp, which could switch the desktop off
        250 => Some(Frame::Unwanted(4)),
        // SetDesktopSize, which would move everything while the agent works
        251 => number(6, 1).map(|n_screens| Frame::Unwanted(8 + 16 * n_screens)),
        // The messages of QEMU, of which only the extended KeyEvent has this length
        255 => match number(1, 1) {
            Some(0) => Some(Frame::Input(12)),
            Some(_) => return Err(NotAScreen),
            None => None,
        },
        _ => return Err(NotAScreen),
    })
}

impl ClientMessage {
    /// Reads the fields of a complete message.
    pub(super) fn parse(message: &[u8]) -> Result<Self, NotAScreen> {
        let mut fields = Fields(message);
        Ok(match fields.u8()? {
            0 => {
                fields.skip::<3>()?;
                Self::PixelFormat(PixelFormat::parse(&mut fields)?)
            }
            2 => {
                fields.skip::<1>()?;
                let n_encodings = fields.u16()?;
                let encodings = (0..n_encodings).map(|_| Ok(fields.u32()?.cast_signed()));
                let encodings = encodings.collect::<Result<Vec<_>, _>>()?;
                let known = encodings.into_iter().filter(|e| encodings::is_known(*e));
                Self::Encodings(known.collect())
            }
            3 => Self::UpdateRequest {
                only_changes: fields.u8()? != 0,
                area: Area::parse(&mut fields)?,
            },
            4 => {
                let is_down = fields.u8()? != 0;
                fields.skip::<2>()?;
                let key = Key {
                    keysym: fields.u32()?,
                    keycode: None,
                };
                Self::Key { is_down, key }
            }
            5 => Self::Pointer(Pointer {
                buttons: fields.u8()? & BUTTONS,
                x: fields.u16()?,
                y: fields.u16()?,
            }),
            6 => {
                fields.skip::<3>()?;
                if fields.u32()?.cast_signed() < 0 {
                    Self::Clipboard(Clipboard::parse(&mut fields)?)
                } else {
                    Self::CutText(fields.rest())
                }
            }
            150 => Self::ContinuousUpdates {
                is_on: fields.u8()? != 0,
                area: Area::parse(&mut fields)?,
            },
            248 => {
                fields.skip::<3>()?;
                let flags = fields.u32()? & FENCE_FLAGS;
                fields.skip::<1>()?;
                let payload = fields.rest();
                Self::Fence { flags, payload }
            }
            255 => {
                fields.skip::<1>()?;
                let is_down = fields.u16()? != 0;
                let key = Key {
                    keysym: fields.u32()?,
                    keycode: Some(fields.u32()?),
                };
                Self::Key { is_down, key }
            }
            _ => return Err(NotAScreen),
        })
    }

    /// Writes the message from its fields. Padding is zero.
    pub(super) fn write(&self, to: &mut BytesMut) {
        match self {
            Self::PixelFormat(format) => {
                to.put_slice(&[0; 4]);
                format.write(to);
            }
            Self::Encodings(encodings) => {
                to.put_slice(&[2, 0]);
                // At most as many as were read from a 16-bit count.
                to.put_u16(u16::try_from(encodings.len()).unwrap_or(u16::MAX));
                for encoding in encodings {
                    to.put_i32(*encoding);
                }
            }
            Self::UpdateRequest { only_changes, area } => {
                to.put_slice(&[3, u8::from(*only_changes)]);
                area.write(to);
            }
            Self::ContinuousUpdates { is_on, area } => {
                to.put_slice(&[150, u8::from(*is_on)]);
                area.write(to);
            }
            Self::Fence { flags, payload } => {
                to.put_slice(&[248, 0, 0, 0]);
                to.put_u32(*flags);
                // A longer payload is not passed on.
                to.put_u8(u8::try_from(payload.len()).unwrap_or(u8::MAX));
                to.put_slice(payload);
            }
            Self::Key { is_down, key } => key.write(*is_down, to),
            Self::Pointer(Pointer { buttons, x, y }) => {
                to.put_slice(&[5, *buttons]);
                to.put_u16(*x);
                to.put_u16(*y);
            }
            Self::CutText(text) => {
                to.put_slice(&[6, 0, 0, 0]);
                // The relay passes on much shorter messages only.
                to.put_i32(i32::try_from(text.len()).unwrap_or(i32::MAX));
                to.put_slice(text);
            }
            Self::Clipboard(clipboard) => clipboard.write(to),
        }
    }
}

impl PixelFormat {
    fn parse(fields: &mut Fields<'_>) -> Result<Self, NotAScreen> {
        let format = Self {
            bits_per_pixel: fields.u8()?,
            depth: fields.u8()?,
            is_big_endian: fields.u8()? != 0,
            is_true_colour: fields.u8()? != 0,
            most: [fields.u16()?, fields.u16()?, fields.u16()?],
            shifts: [fields.u8()?, fields.u8()?, fields.u8()?],
        };
        fields.skip::<3>()?;
        Ok(format)
    }

    fn write(self, to: &mut BytesMut) {
        to.put_slice(&[self.bits_per_pixel, self.depth]);
        to.put_slice(&[self.is_big_endian, self.is_true_colour].map(u8::from));
        for most in self.most {
            to.put_u16(most);
        }
        to.put_slice(&self.shifts);
        to.put_slice(&[0; 3]);
    }
}

impl Area {
    fn parse(fields: &mut Fields<'_>) -> Result<Self, NotAScreen> {
        Ok(Self([
            fields.u16()?,
            fields.u16()?,
            fields.u16()?,
            fields.u16()?,
        ]))
    }

    fn write(self, to: &mut BytesMut) {
        for side in self.0 {
            to.put_u16(side);
        }
    }
}

impl Key {
    fn write(self, is_down: bool, to: &mut BytesMut) {
        match self.keycode {
            None => {
                to.put_slice(&[4, u8::from(is_down), 0, 0]);
                to.put_u32(self.keysym);
            }
            Some(keycode) => {
                to.put_slice(&[255, 0]);
                to.put_u16(u16::from(is_down));
                to.put_u32(self.keysym);
                to.put_u32(keycode);
            }
        }
    }
}
