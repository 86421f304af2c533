use proptest::prelude::*;

use super::*;

fn read_all(scrollback: &Scrollback, mut at: u64) -> Vec<u8> {
    let mut all = Vec::new();
    while let OutputPiece::Bytes(piece) = scrollback.read(&mut at, 1000) {
        all.extend_from_slice(&piece);
    }
    all
}

#[test]
fn a_short_output_is_replayed_whole() {
    let mut scrollback = Scrollback::default();
    scrollback.append("no end of line, ü".as_bytes());
    let (start, first) = scrollback.replay();
    assert_eq!((start, &*first), (0, &b""[..]));
    assert_eq!(read_all(&scrollback, start), "no end of line, ü".as_bytes());
    assert_eq!(scrollback.catch_up().0, 0);
}

#[test]
fn a_slow_viewer_resumes_after_a_line_end() {
    let mut scrollback = Scrollback::default();
    let mut at = 0;
    scrollback.append(b"first\n");
    assert_eq!(
        scrollback.read(&mut at, 100),
        OutputPiece::Bytes(Bytes::from_static(b"first\n"))
    );
    assert_eq!(scrollback.read(&mut at, 100), OutputPiece::Nothing);
    for number in 0..200_000 {
        scrollback.append(format!("line {number}\n").as_bytes());
    }
    assert_eq!(scrollback.read(&mut at, 100), OutputPiece::Lost);
    for (start, _) in [scrollback.replay(), scrollback.catch_up()] {
        let text = String::from_utf8(read_all(&scrollback, start)).unwrap();
        assert!(text.starts_with("line ") && text.ends_with("line 199999\n"));
    }
    assert!(scrollback.end - scrollback.catch_up().0 <= CATCH_UP_BYTES);
}

#[test]
fn without_lines_a_replay_begins_before_a_character() {
    let mut scrollback = Scrollback::default();
    scrollback.append("x".as_bytes());
    scrollback.append("ü".repeat(KEPT_BYTES / 2 + 10).as_bytes());
    let text = String::from_utf8(read_all(&scrollback, scrollback.replay().0)).unwrap();
    assert!(text.starts_with('ü'));
}

#[test]
fn modes_of_forgotten_output_are_restored() {
    let mut scrollback = Scrollback::default();
    // An editor in the alternate screen, with mouse and without a cursor, and a mode that it takes back.
    scrollback.append(b"\x1b[?1049h\x1b[?1;25l\x1b[?1000;2004h\x1b[?2004l\x1b[?77h");
    assert_eq!(&*scrollback.replay().1, b"", "it is still there");
    scrollback.append(&vec![b'\n'; KEPT_BYTES + 100]);
    assert_eq!(&*scrollback.replay().1, b"\x1b[?25l\x1b[?1000h\x1b[?1049h");
}

proptest! {
    /// However output is cut into pieces, the newest bytes are the ones that are kept.
    #[test]
    fn the_newest_bytes_are_kept(sizes in prop::collection::vec(0_usize..600_000, 1..8)) {
        // Copied instead of computed byte by byte: there are 256 cases of up to four megabytes.
        let pattern: Vec<u8> = (0..=250).collect();
        let all = pattern.repeat(sizes.iter().sum::<usize>() / pattern.len() + 1);
        let mut scrollback = Scrollback::default();
        let mut end = 0;
        for size in sizes {
            scrollback.append(&all[end..end + size]);
            end += size;
        }
        let kept = read_all(&scrollback, scrollback.begin());
        prop_assert_eq!(&kept[..], &all[end.saturating_sub(KEPT_BYTES)..end]);
    }
}
