use proptest::prelude::*;

use super::*;

#[path = "screen_input/fuzz_tests.rs"]
mod fuzz;
#[path = "screen_input/strict_tests.rs"]
mod strict;

const HELLO: &[u8] = b"RFB 003.008\n\x01\x01";
const ASK: [u8; 10] = [3, 1, 0, 0, 0, 0, 4, 0, 3, 0];
const KEY: [u8; 8] = [4, 1, 0, 0, 0, 0, 0, 97];
const EXTENDED_KEY: [u8; 12] = [255, 0, 0, 1, 0, 0, 0, 98, 0, 0, 0, 48];
const POINTER: [u8; 6] = [5, 1, 0, 10, 0, 20];
const CLIPBOARD: [u8; 11] = [6, 0, 0, 0, 0, 0, 0, 3, 97, 98, 99];
/// Announces a text.
const EXTENDED_CLIPBOARD: [u8; 12] = [6, 0, 0, 0, 255, 255, 255, 252, 8, 0, 0, 1];
const SCREEN_SIZE: [u8; 24] = [
    251, 0, 4, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 3, 0, 0, 0, 0, 0,
];
const ENCODINGS: [u8; 8] = [2, 0, 0, 1, 0, 0, 0, 0];

/// Returns a filter that has passed the handshake.
fn greeted() -> ScreenInput {
    let mut filter = ScreenInput::default();
    assert_eq!(filter.pass(HELLO, Hands::Off).unwrap(), HELLO);
    filter
}

proptest! {
    #[test]
    fn input_is_left_out_however_it_is_cut(cuts in prop::collection::vec(1_usize..12, 1..40)) {
        let input: [&[u8]; 6] =
            [&KEY, &EXTENDED_KEY, &POINTER, &CLIPBOARD, &EXTENDED_CLIPBOARD, &SCREEN_SIZE];
        let mut sent = [HELLO, &ENCODINGS].concat();
        let mut expected = sent.clone();
        for message in input {
            sent.extend_from_slice(message);
            sent.extend_from_slice(&ASK);
            expected.extend_from_slice(&ASK);
        }
        let mut filter = ScreenInput::default();
        let mut passed = Vec::new();
        let mut rest = &sent[..];
        for cut in cuts.into_iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            passed.extend_from_slice(&filter.pass(piece, Hands::Off).unwrap());
            rest = after;
        }
        prop_assert_eq!(passed, expected);
    }
}

#[test]
fn a_beginning_of_another_length_is_refused() {
    // With version 3.3 the server chooses the security, so what follows would be read
    // one byte off.
    for hello in [
        b"RFB 003.003\n\x01\x04".as_slice(),
        b"RFB 003.008\n\x02",
        b"RFB 003.008\n\x01\x00",
        b"RFB 003.008\n\x01\x01\x63",
    ] {
        assert_eq!(
            ScreenInput::default().pass(hello, Hands::On),
            Err(NotAScreen)
        );
    }
}

#[test]
fn a_message_without_end_is_refused() {
    let endless = [HELLO, &[2, 0, 255, 255]].concat();
    assert_eq!(
        ScreenInput::default().pass(&endless, Hands::On),
        Err(NotAScreen)
    );
}

#[test]
fn hands_are_on_from_one_message_to_the_next_and_let_go_when_taken_off() {
    let mut filter = greeted();
    for message in [&KEY[..], &POINTER, &CLIPBOARD, &EXTENDED_KEY] {
        assert_eq!(filter.pass(message, Hands::On).unwrap(), message);
        assert_eq!(filter.pass(message, Hands::Off).unwrap(), "");
    }
    assert_eq!(filter.pass(&SCREEN_SIZE, Hands::On).unwrap(), "");
    // A message that began while they were on ends when they are off.
    assert_eq!(filter.pass(&KEY[..3], Hands::On).unwrap(), "");
    assert_eq!(filter.pass(&KEY[3..], Hands::Off).unwrap(), "");
    let key_up = [4, 0, 0, 0, 0, 0, 0, 97];
    let extended_up = [255, 0, 0, 0, 0, 0, 0, 98, 0, 0, 0, 48];
    let pointer_up = [5, 0, 0, 10, 0, 20];
    assert_eq!(
        filter.release(),
        [&key_up[..], &extended_up, &pointer_up].concat()
    );
    assert_eq!(filter.release(), "");
    for message in [&KEY[..], &key_up] {
        filter.pass(message, Hands::On).unwrap();
    }
    assert_eq!(filter.release(), "", "it was let go already");
}

#[test]
fn a_pointer_message_has_six_bytes_whatever_its_buttons_say() {
    let mut filter = greeted();
    // Some servers read a seventh byte after the marker in the highest bit, and ours does not.
    let marked = [5, 0x81, 0, 1, 0, 2];
    assert_eq!(
        filter.pass(&marked, Hands::On).unwrap(),
        [5, 0x01, 0, 1, 0, 2].as_slice()
    );
    assert_eq!(filter.pass(&ASK, Hands::Off).unwrap(), ASK.as_slice());
}

#[test]
fn nobody_types_without_control_by_shifting_the_messages_by_a_byte() {
    let mut filter = greeted();
    // With control: a pointer message and the first byte of a fence.
    let passed = filter.pass(&[5, 0x80, 0, 0, 0, 0, 248], Hands::On).unwrap();
    assert_eq!(passed, [5, 0, 0, 0, 0, 0].as_slice());
    assert_eq!(filter.release(), "");
    // Without control: keys in the payload of something that looks like a fence to one side only.
    let keys = [KEY, [4, 0, 0, 0, 0, 0, 0, 97], [4, 0, 0, 0, 0, 0, 32, 172]].concat();
    let fence = [
        &[248, 0, 4, 0, 0, 0, 0, 0, 32, 172][..],
        &keys,
        &[4, 0, 0, 0, 0, 0, 0],
    ]
    .concat();
    if let Ok(passed) = filter.pass(&fence, Hands::Off) {
        assert_eq!(strict::read_input(&passed), []);
    }
}

#[test]
fn only_known_encodings_are_announced() {
    let announced: [i32; 7] = [0, -316, 7, -309, -258, -257, i32::MAX];
    let message = |encodings: &[i32]| {
        let n_encodings = u16::try_from(encodings.len()).unwrap().to_be_bytes();
        let encodings = encodings.iter().flat_map(|encoding| encoding.to_be_bytes());
        [2, 0]
            .into_iter()
            .chain(n_encodings)
            .chain(encodings)
            .collect::<Vec<_>>()
    };
    let passed = greeted().pass(&message(&announced), Hands::Off).unwrap();
    assert_eq!(passed, message(&[0, 7, -258]));
}

#[test]
fn padding_and_unknown_flags_are_cleared() {
    let mut filter = greeted();
    for (sent, passed) in [
        (
            [248, 9, 9, 9, 0x80, 0xff, 0xff, 0xff, 1, 7].as_slice(),
            [248, 0, 0, 0, 0x80, 0, 0, 7, 1, 7].as_slice(),
        ),
        (
            &[3, 9, 0, 1, 0, 2, 0, 3, 0, 4],
            &[3, 1, 0, 1, 0, 2, 0, 3, 0, 4],
        ),
        (&[4, 9, 9, 9, 0, 0, 0, 97], &KEY),
        (&[6, 9, 9, 9, 0, 0, 0, 1, 97], &[6, 0, 0, 0, 0, 0, 0, 1, 97]),
        (
            &[
                0, 9, 9, 9, 32, 24, 9, 9, 0, 255, 0, 255, 0, 255, 16, 8, 0, 9, 9, 9,
            ],
            &[
                0, 0, 0, 0, 32, 24, 1, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0,
            ],
        ),
    ] {
        assert_eq!(filter.pass(sent, Hands::On).unwrap(), passed);
    }
}

#[test]
fn a_clipboard_message_is_as_long_as_its_flags_say() {
    let mut filter = greeted();
    let long = |flags: [u8; 4]| {
        let body = [&flags[..], &[0; 4], &KEY].concat();
        let length = -i32::try_from(body.len()).unwrap();
        [&[6, 0, 0, 0][..], &length.to_be_bytes(), &body].concat()
    };
    // The server would take what follows the flags for keys.
    let notify = filter.pass(&long([8, 0, 0, 1]), Hands::On).unwrap();
    assert_eq!(notify, EXTENDED_CLIPBOARD.as_slice());
    let caps = filter.pass(&long([0x1f, 0, 0, 1]), Hands::On).unwrap();
    let expected = [6, 0, 0, 0, 255, 255, 255, 248, 0x1f, 0, 0, 1, 0, 0, 0, 0];
    assert_eq!(caps, expected.as_slice());
    // Compressed contents are read to the end of the message.
    let provide = long([16, 0, 0, 1]);
    assert_eq!(filter.pass(&provide, Hands::On).unwrap(), provide);
}

#[test]
fn a_fence_that_is_too_long_is_left_out() {
    let mut filter = greeted();
    let long = [&[248, 0, 0, 0, 0, 0, 0, 1, 65][..], &[4; 65], &ASK].concat();
    assert_eq!(filter.pass(&long, Hands::Off).unwrap(), ASK.as_slice());
}
