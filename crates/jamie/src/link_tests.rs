use proptest::prelude::*;

use super::*;

#[test]
fn links_are_found_without_what_surrounds_them() {
    for (text, link) in [
        (
            "https://youtube.com/watch?v=dQw4w9WgXcQ",
            "https://youtube.com/watch?v=dQw4w9WgXcQ",
        ),
        (
            "check this out https://youtu.be/dQw4w9WgXcQ please",
            "https://youtu.be/dQw4w9WgXcQ",
        ),
        ("https://twitch.tv/shroud", "https://twitch.tv/shroud"),
        (
            "https://www.twitch.tv/shroud",
            "https://www.twitch.tv/shroud",
        ),
        ("https://vimeo.com/123456789", "https://vimeo.com/123456789"),
        ("<https://example.org/a>", "https://example.org/a"),
        ("see https://example.org/a, ok?", "https://example.org/a"),
        ("(https://example.org/a).", "https://example.org/a"),
        (
            "[this](https://example.org/a \"title\")",
            "https://example.org/a",
        ),
        (
            "[this](https://example.org/a)and more",
            "https://example.org/a",
        ),
        ("[https://example.org/a](other)", "https://example.org/a"),
        (
            "https://example.org/wiki/Film_(1999)!",
            "https://example.org/wiki/Film_(1999)",
        ),
        ("**https://example.org/a**", "https://example.org/a"),
        ("_https://example.org/a_", "https://example.org/a"),
        ("||https://example.org/a||", "https://example.org/a"),
        ("`https://example.org/a`", "https://example.org/a"),
        // Identifiers of videos may end like this.
        ("https://youtu.be/abc_", "https://youtu.be/abc_"),
        ("https://youtu.be/abc-", "https://youtu.be/abc-"),
        (
            "https://youtube.com/watch?v=a&t=30s",
            "https://youtube.com/watch?v=a&t=30s",
        ),
        ("HTTPS://Example.org/A", "HTTPS://Example.org/A"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("ünïcode https://exämple.org/é", "https://exämple.org/é"),
    ] {
        assert_eq!(find_link(text), Some(link), "in {text:?}");
    }
}

#[test]
fn texts_without_a_link_have_none() {
    for text in [
        "",
        "no url here",
        "ftp://example.org/a",
        "javascript:alert(1)",
        "https://",
        "https://.",
        "see http:// there",
        "example.org/a",
        "https://user:password@example.org/",
        "file:///etc/passwd",
        // Shown, this reads as an address of youtu.be.
        "https://example.org/\u{202e}eb.utuoy//:sptth",
        "https://example.org/\u{2066}a\u{2069}",
    ] {
        assert_eq!(find_link(text), None, "in {text:?}");
    }
}

#[test]
fn known_sites_come_first_in_their_order() {
    let sites = [
        "https://www.youtube.com/watch?v=a",
        "https://youtu.be/a",
        "https://twitch.tv/a",
        "https://vimeo.com/1",
        "https://example.org/a",
    ];
    for first in 0..sites.len() {
        let text: Vec<_> = sites[first..].iter().rev().copied().collect();
        assert_eq!(find_link(&text.join(" ")), Some(sites[first]));
    }
    assert_eq!(
        find_link("https://a.example/ https://b.example/"),
        Some("https://a.example/")
    );
    // The name of a known site in another's address does not count.
    assert_eq!(
        find_link("https://youtube.com.evil.example/ https://vimeo.com/1"),
        Some("https://vimeo.com/1")
    );
}

#[test]
fn long_links_and_texts_are_bounded() {
    let long = format!("https://example.org/{}", "a".repeat(MAX_LINK_BYTES));
    assert_eq!(find_link(&long), None);
    let late = format!("{} https://example.org/", "é".repeat(MAX_TEXT_BYTES));
    assert_eq!(find_link(&late), None);
}

proptest! {
    #[test]
    fn a_found_link_is_part_of_the_text_and_safe_in_angle_brackets(text in ".{0,300}") {
        check(&text)?;
    }

    #[test]
    fn texts_full_of_pieces_of_links_give_safe_links(
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("https://"), Just("http://"), Just("HTTP://"), Just("youtu.be/"), Just("["), Just("]("), Just(")"),
                Just("<"), Just(">"), Just("|"), Just("*"), Just("."), Just(" "), Just("@"), Just("é"), Just("x.example"),
            ],
            0..40,
        )
    ) {
        check(&pieces.concat())?;
    }

    #[test]
    fn a_link_is_found_in_any_wrapping(
        path in "[a-zA-Z0-9_-]{1,20}",
        (before, after) in prop_oneof![
            Just(("", "")), Just(("<", ">")), Just(("[a](", ")")), Just(("look: ", ", nice")), Just(("**", "**")),
            Just(("(", ")")), Just(("||", "||")), Just(("\"", "\"")), Just(("\n", "\n")),
        ],
    ) {
        let link = format!("https://example.org/{path}");
        let text = format!("{before}{link}{after}");
        prop_assert_eq!(find_link(&text), Some(link.as_str()));
    }
}

fn check(text: &str) -> Result<(), TestCaseError> {
    if let Some(link) = find_link(text) {
        prop_assert!(text.contains(link));
        prop_assert!(link.len() <= MAX_LINK_BYTES);
        prop_assert!(!link.contains(|char: char| char.is_whitespace() || "<>`".contains(char)));
        let url = Url::parse(link).unwrap();
        prop_assert!(matches!(url.scheme(), "http" | "https"));
        prop_assert!(url.has_host());
        prop_assert!(is_link(link));
    }
    Ok(())
}
