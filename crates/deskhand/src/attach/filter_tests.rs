use proptest::prelude::*;

use super::*;

fn passed(bytes: &[u8]) -> Vec<u8> {
    OutputFilter::default().pass(bytes)
}

#[test]
fn sequences_that_draw_are_passed() {
    for safe in [
        "plain text\r\n\tü 🦀\u{8}",
        "\x1b[1;31mred\x1b[0m\x1b[38:2::1:2:3m",
        "\x1b[2J\x1b[H\x1b[10;20H\x1b[K\x1b[3A",
        "\x1b[?1049h\x1b[?25l\x1b[?1;2004h\x1b[?1049l",
        "\x1b7\x1b8\x1bM\x1b(B\x1b(0\x1b=\x1b>",
        "\x1b[2 q\x1b[6n\x1b[c\x1b[1;24r",
    ] {
        let mut filter = OutputFilter {
            may_answer: true,
            ..OutputFilter::default()
        };
        let passed = filter.pass(safe.as_bytes());
        assert_eq!(String::from_utf8(passed).unwrap(), safe);
    }
    assert_eq!(passed(b"a\x1b[6nb\x1b[cc"), b"abc", "nobody typed");
}

#[test]
fn sequences_that_do_more_than_draw_are_removed() {
    for (dangerous, left) in [
        ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
        ("a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"),
        ("a\x1b]0;title\x07b", "ab"),
        (
            "a\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\b",
            "alinkb",
        ),
        ("a\x1bP$q\"p\x1b\\b", "ab"),
        ("a\x1b_Gi=1;AAAA\x1b\\b", "ab"),
        ("a\x1b^private\x1b\\b\x1bXstart\x1b\\c", "abc"),
        ("a\x1bkname\x1b\\b", "ab"),
        ("a\x1b[21tb\x1b[3;0;0tc", "abc"),
        ("a\x1b[5ib\x1b[?4ic", "abc"),
        ("a\x1b[>cb\x1b[=cc\x1b[>qd\x1b[?6ne", "abcde"),
        ("a\x1b[?1337hb\x1b[?25;9999lc", "abc"),
        ("a\x1b[>1ub\x1b[?1$pc\x1b[1;1;1;1;1*yd", "abcd"),
        ("a\x1bZb\x05c\x7fd", "abcd"),
        ("a\u{9b}21tb\u{9d}52;c;x\u{9c}c", "a21tb52;c;xc"),
        ("a\x1b]0;never ended", "a"),
        ("a\x1b]0;x\x1b[31mb", "a\x1b[31mb"),
    ] {
        let passed = passed(dangerous.as_bytes());
        assert_eq!(String::from_utf8(passed).unwrap(), left, "{dangerous:?}");
    }
    assert_eq!(passed(b"a\x9b21t\x80b\xff\xc3c"), b"a21tbc");
}

#[test]
fn the_terminal_is_reset_afterwards() {
    let mut filter = OutputFilter::default();
    filter.pass(b"\x1b[?1049h\x1b[?1000;1006h\x1b[?25l\x1b[?2004h\x1b[?2004l");
    let restored = String::from_utf8(filter.restore()).unwrap();
    let modes = "\x1b[?25h\x1b[?1000l\x1b[?1006l\x1b[?1049l";
    assert!(restored.starts_with(modes), "{restored:?}");
    for reset in ["\x1b[4l", "\x1b[20l", "\x1b[0 q"] {
        assert!(restored.contains(reset), "{reset:?}");
    }
    let calm = OutputFilter::default().restore();
    assert!(!calm.windows(3).any(|window| window == b"\x1b[?"));
}

proptest! {
    /// The result does not depend on how the output is split, and never contains a string for the terminal.
    #[test]
    fn the_result_does_not_depend_on_how_output_is_split(
        parts in prop::collection::vec(
            prop_oneof![
                Just(b"\x1b".to_vec()), Just(b"]52;c;x".to_vec()), Just(b"[".to_vec()), Just(b"\x1b\\".to_vec()),
                Just(b"\x07".to_vec()), Just("ü".as_bytes().to_vec()), Just(b"\xc2\x9d".to_vec()),
                Just(b"?25h".to_vec()), prop::collection::vec(any::<u8>(), 0..6),
            ],
            0..24,
        ),
        size in 1_usize..7,
    ) {
        let bytes = parts.concat();
        let whole = passed(&bytes);
        let mut filter = OutputFilter::default();
        let pieces: Vec<u8> = bytes.chunks(size).flat_map(|piece| filter.pass(piece)).collect();
        prop_assert_eq!(&pieces, &whole);
        for bad in [&b"\x1b]"[..], b"\x1bP", b"\x1b_", b"\x1b^", b"\x1bX", b"\xc2\x9b", b"\xc2\x9d", b"\x05"] {
            prop_assert!(!whole.windows(bad.len()).any(|window| window == bad));
        }
        prop_assert!(String::from_utf8(whole).is_ok());
    }
}
