//! The encodings that a client may announce.
//!
//! An announced encoding can change the messages that the RFB server expects from then on. With the extended mouse
//! buttons (-316), for example, some pointer messages are a byte longer. So only encodings that change nothing about
//! the client's messages are passed on, and those whose messages [`super::messages`] knows.

/// The pixels of a rectangle: raw, copied, and the compressed ones.
const PIXELS: [i32; 13] = [0, 1, 2, 4, 5, 6, 7, 8, 15, 16, 21, 50, -260];
/// The quality and the compression, in the two scales that exist.
const LEVELS: [std::ops::RangeInclusive<i32>; 4] =
    [-32..=-23, -256..=-247, -512..=-412, -768..=-763];
/// Sizes, names, cursors and lights that the server may send.
const NEWS: [i32; 11] = [
    -223,        // DesktopSize
    -224,        // LastRect
    -239,        // Cursor
    -240,        // X Cursor
    -261,        // the keyboard's lights
    -307,        // DesktopName
    -308,        // ExtendedDesktopSize; the client's own wish for a size is left out
    -314,        // Cursor with alpha
    0x574d_5664, // VMware Cursor
    0x574d_5665, // VMware cursor position
    0x574d_5668, // VMware lights
];
/// Those with messages of their own.
const MESSAGES: [i32; 4] = [
    -258,                          // extended key events
    -312,                          // fences
    -313,                          // continuous updates
    0xc0a1_e5ce_u32.cast_signed(), // extended clipboard
];

/// Returns true if a client may announce this encoding.
pub(super) fn is_known(encoding: i32) -> bool {
    PIXELS.contains(&encoding)
        || NEWS.contains(&encoding)
        || MESSAGES.contains(&encoding)
        || LEVELS.iter().any(|levels| levels.contains(&encoding))
}
