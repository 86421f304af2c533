//! The extended clipboard messages, whose fields depend on their flags.
//!
//! The RFB server reads no further than the flags tell it to, and takes the rest for the next message. So every message
//! is written exactly as long as its flags say, whatever length the client gave.

use bytes::{BufMut, Bytes, BytesMut};

use super::{NotAScreen, fields::Fields};

/// The bits of the flags that name formats, and those that name actions.
const FORMATS: u32 = 0x0000_ffff;
const ACTIONS: u32 = 0x1f00_0000;
const CAPS: u32 = 1 << 24;
const REQUEST: u32 = 1 << 25;
const PEEK: u32 = 1 << 26;
const NOTIFY: u32 = 1 << 27;
const PROVIDE: u32 = 1 << 28;

/// An extended clipboard message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Clipboard {
    /// The actions and formats that the client knows, with a size for each format.
    Caps { flags: u32, sizes: Vec<u32> },
    /// Asks for contents in some formats, or announces them.
    Formats { flags: u32 },
    /// Compressed contents. The server reads them to the end of the message.
    Provide { flags: u32, contents: Bytes },
}

impl Clipboard {
    pub(super) fn parse(fields: &mut Fields<'_>) -> Result<Self, NotAScreen> {
        let flags = fields.u32()? & (FORMATS | ACTIONS);
        match flags & ACTIONS {
            actions if actions & CAPS != 0 => {
                let n_formats = (flags & FORMATS).count_ones();
                let sizes = (0..n_formats).map(|_| fields.u32());
                let sizes = sizes.collect::<Result<_, _>>()?;
                Ok(Self::Caps { flags, sizes })
            }
            REQUEST | PEEK | NOTIFY => Ok(Self::Formats { flags }),
            PROVIDE => {
                let contents = fields.rest();
                Ok(Self::Provide { flags, contents })
            }
            _ => Err(NotAScreen),
        }
    }

    pub(super) fn write(&self, to: &mut BytesMut) {
        let mut body = BytesMut::new();
        match self {
            Self::Caps { flags, sizes } => {
                body.put_u32(*flags);
                for size in sizes {
                    body.put_u32(*size);
                }
            }
            Self::Formats { flags } => body.put_u32(*flags),
            Self::Provide { flags, contents } => {
                body.put_u32(*flags);
                body.put_slice(contents);
            }
        }
        to.put_slice(&[6, 0, 0, 0]);
        // A negative length marks the extended form. The relay passes on much shorter messages only.
        to.put_i32(-i32::try_from(body.len()).unwrap_or(i32::MAX));
        to.put_slice(&body);
    }
}
