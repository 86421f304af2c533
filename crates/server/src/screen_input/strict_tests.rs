//! A second reader of client messages, written as Xvnc reads them (`SMsgReader` of `TigerVNC` 1.12), for bytes that the
//! relay has passed on. It panics at everything that Xvnc would refuse, and at everything that it need not understand.

/// A key, a button or a clipboard text, as the desktop would see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeenInput {
    Key {
        is_down: bool,
        keysym: u32,
        keycode: u32,
    },
    Buttons(u8),
    Clipboard,
}

/// Reads whole messages and returns the input among them.
pub(super) fn read_input(mut bytes: &[u8]) -> Vec<SeenInput> {
    let mut seen = Vec::new();
    while !bytes.is_empty() {
        let (input, length) = read_one(bytes);
        seen.extend(input);
        bytes = &bytes[length..];
    }
    seen
}

/// Reads one message. Returns the input in it, and its length.
fn read_one(bytes: &[u8]) -> (Option<SeenInput>, usize) {
    let at = |index: usize| *bytes.get(index).expect("the message is complete");
    let word =
        |index: usize| u32::from_be_bytes([at(index), at(index + 1), at(index + 2), at(index + 3)]);
    let zero = |range: std::ops::Range<usize>| {
        assert!(
            range.clone().all(|index| at(index) == 0),
            "padding at {range:?}"
        );
    };
    let flag = |index: usize| match at(index) {
        0 => false,
        1 => true,
        other => panic!("the flag at {index} is {other}"),
    };
    let (input, length) = match at(0) {
        0 => {
            zero(1..4);
            flag(6);
            flag(7);
            zero(17..20);
            (None, 20)
        }
        2 => {
            zero(1..2);
            let n_encodings = usize::from(u16::from_be_bytes([at(2), at(3)]));
            for n in 0..n_encodings {
                let encoding = word(4 + 4 * n).cast_signed();
                // With these, Xvnc or another server would read later messages differently.
                assert!(
                    ![-316, -305, -257, -259, -309].contains(&encoding),
                    "{encoding}"
                );
            }
            (None, 4 + 4 * n_encodings)
        }
        3 | 150 => {
            flag(1);
            (None, 10)
        }
        4 => {
            zero(2..4);
            let key = SeenInput::Key {
                is_down: flag(1),
                keysym: word(4),
                keycode: 0,
            };
            (Some(key), 8)
        }
        5 => {
            assert_eq!(at(1) & 0x80, 0, "the marker of a longer message");
            (Some(SeenInput::Buttons(at(1))), 6)
        }
        6 => {
            zero(1..4);
            (Some(SeenInput::Clipboard), cut_text(word(4), bytes))
        }
        248 => {
            zero(1..4);
            assert_eq!(word(4) & !0x8000_0007, 0, "unknown flags of a fence");
            assert!(at(8) <= 64, "the payload of a fence is too long");
            (None, 9 + usize::from(at(8)))
        }
        255 => {
            zero(1..3);
            let key = SeenInput::Key {
                is_down: flag(3),
                keysym: word(4),
                keycode: word(8),
            };
            (Some(key), 12)
        }
        other => panic!("a message of kind {other}"),
    };
    assert!(bytes.len() >= length, "the message is complete");
    (input, length)
}

/// Returns the number of bytes that Xvnc reads of a clipboard message, which must be its length.
fn cut_text(length: u32, bytes: &[u8]) -> usize {
    if length < 0x8000_0000 {
        return 8 + usize::try_from(length).unwrap();
    }
    let length = usize::try_from(length.wrapping_neg()).unwrap();
    assert!(length >= 4, "the flags are there");
    let flags: [u8; 4] = bytes[8..12].try_into().unwrap();
    let flags = u32::from_be_bytes(flags);
    assert_eq!(
        flags & 0xe0ff_0000,
        0,
        "unknown flags of a clipboard message"
    );
    let read = match flags >> 24 {
        actions if actions & 1 != 0 => {
            let n_formats = (0..16).filter(|bit| flags >> bit & 1 == 1).count();
            4 + 4 * n_formats
        }
        2 | 4 | 8 => 4,
        // Xvnc decompresses to the end of the message, or closes the connection.
        16 => length,
        other => panic!("the clipboard action {other}"),
    };
    assert_eq!(read, length, "Xvnc would take the rest for another message");
    8 + length
}
