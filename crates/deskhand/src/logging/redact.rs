//! Hides secrets in text, by their shape.
//!
//! The first guard is that our code does not log secrets. This is the second, for secrets inside texts from
//! elsewhere: an address in a database's error, a header in a library's. It hides too much rather than too little.

use std::borrow::Cow;

const STARS: &str = "***";

/// The shape of a secret: a fixed beginning, and the least number of characters that must follow.
struct Shape {
    beginning: &'static str,
    least: usize,
    /// The characters it is made of besides letters, digits, `_` and `-`.
    others: &'static str,
}

const SHAPES: [Shape; 11] = [
    // Our own tokens, watch links, sign-in codes, links into sessions and cookie.
    shape("dh_", 16, ""),
    shape("dhg_", 16, ""),
    shape("dhw_", 16, ""),
    shape("code=", 16, ""),
    shape("share=", 16, ""),
    shape("deskhand=", 16, ""),
    // Tokens and keys of others.
    shape("bearer ", 1, ".~+/="),
    shape("basic ", 8, "+/="),
    shape("sk-", 16, ""),
    shape("AIza", 16, ""),
    shape("xox", 10, ""),
];

/// The least length of a word with upper- and lower-case letters that is taken for 256 random bits.
const LEAST_RANDOM: usize = 40;

const fn shape(beginning: &'static str, least: usize, others: &'static str) -> Shape {
    Shape {
        beginning,
        least,
        others,
    }
}

/// Replaces every secret in a text by stars.
pub(super) fn redact(text: &str) -> Cow<'_, str> {
    let text = hide_passwords(text);
    let mut hidden = String::new();
    let mut done = 0;
    let mut at = 0;
    // Hiding half of an escape would break JSON.
    let mut escape_end = 0;
    // A word is tested once, from its start: its tail is shorter and may not look random.
    let mut word_end = 0;
    while at < text.len() {
        if at >= escape_end && text[at..].starts_with('\\') {
            escape_end = at + escape_length(&text[at + 1..]);
        }
        let mut found = shaped_at(&text, at);
        if found.is_none() && at >= escape_end.max(word_end) {
            let word = &text[at..at + run(&text[at..], "")];
            word_end = at + word.len();
            found = is_random(word).then_some((at, word_end));
        }
        let Some((beginning, end)) = found else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        hidden.push_str(&text[done..beginning]);
        hidden.push_str(STARS);
        (done, at) = (end, end);
    }
    if done == 0 {
        return text;
    }
    hidden.push_str(&text[done..]);
    hidden.into()
}

/// Returns the length of an escape, given the text after its backslash.
fn escape_length(text: &str) -> usize {
    if text.starts_with('u') { 6 } else { 2 }
}

/// Returns the range of the secret part, if a secret of a known shape begins at `at`.
fn shaped_at(text: &str, at: usize) -> Option<(usize, usize)> {
    SHAPES.iter().find_map(|shape| {
        let head = text.as_bytes().get(at..at + shape.beginning.len())?;
        if !head.eq_ignore_ascii_case(shape.beginning.as_bytes()) {
            return None;
        }
        let beginning = at + shape.beginning.len();
        let length = run(&text[beginning..], shape.others);
        (length >= shape.least).then_some((beginning, beginning + length))
    })
}

/// Returns true if a word is long and mixed enough to be random.
fn is_random(word: &str) -> bool {
    word.len() >= LEAST_RANDOM
        && word.bytes().any(|byte| byte.is_ascii_uppercase())
        && word.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Returns the length of the leading part of a text that could belong to a secret.
fn run(text: &str, others: &str) -> usize {
    let belongs = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || others.contains(c);
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// Hides the password of every address such as `postgres://USER:PASSWORD@HOST`.
fn hide_passwords(text: &str) -> Cow<'_, str> {
    let mut hidden = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        let address = &after[..address_length(after)];
        let password = address
            .rfind('@')
            .and_then(|end| Some((address[..end].find(':')? + 1, end)));
        hidden.push_str(before);
        hidden.push_str("://");
        rest = match password {
            Some((beginning, end)) => {
                hidden.push_str(&after[..beginning]);
                hidden.push_str(STARS);
                &after[end..]
            }
            None => after,
        };
    }
    if hidden.is_empty() {
        return text.into();
    }
    hidden.push_str(rest);
    hidden.into()
}

/// Returns the length of the leading address: up to white space or the end of the quotation it stands in.
fn address_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.find(|c: char| {
        let ends = !is_escaped && (c.is_whitespace() || matches!(c, '"' | '`' | '<' | '>'));
        is_escaped = !is_escaped && c == '\\';
        ends
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_secret_stays() {
        for line in [
            "a turn ended session.id=01a1e15c-b6a1-75f6-95b2-af4b26e61a4a n_steps=3",
            "exit code=1, desk-top and task-list, disk-usage",
            "there is no blob 0000000000000000000000000000000000000000000000000000000000000000.png",
            "listening on http://localhost:7878/?x=1",
            r#"{"level":"INFO","url":"http://127.0.0.1:80/a","mail":"ada@example.org"}"#,
        ] {
            assert_eq!(redact(line), line);
        }
    }

    #[test]
    fn what_is_around_a_secret_stays() {
        let line = r#"{"url":"postgres://ada:s3\"cret@db/x","note":"a@b","auth":"Bearer abc.def"}"#;
        let shown = r#"{"url":"postgres://ada:***@db/x","note":"a@b","auth":"Bearer ***"}"#;
        assert_eq!(redact(line), shown);
        let line = "open http://localhost/?code=abcdefghijklmnopqrst&x=1";
        assert_eq!(redact(line), "open http://localhost/?code=***&x=1");
    }

    /// A secret as it stands in text, and the part that must not be seen.
    fn secrets() -> impl Strategy<Value = (String, String)> {
        let random = "[A-Za-z0-9_-]{43}";
        let with = |beginning: &'static str, pattern: &'static str| {
            let secret = pattern.prop_map(move |secret| (format!("{beginning}{secret}"), secret));
            secret.boxed()
        };
        prop_oneof![
            with("dh_", random),
            with("/watch/dhw_", random),
            with("Bearer ", "[A-Za-z0-9._~+/-]{8,80}=?"),
            with("authorization: bearer ", "[A-Za-z0-9._~+/-]{8,80}"),
            with("/?code=", random),
            with("/?share=", random),
            with("deskhand=", random),
            with("sk-", "[A-Za-z0-9_-]{20,64}"),
            with("sk-ant-api03-", "[A-Za-z0-9_-]{20,64}"),
            with("AIza", "[A-Za-z0-9_-]{35}"),
            with("xoxb-", "[0-9]{10,13}-[A-Za-z0-9]{24}"),
            "[a-z]{1,8}".prop_flat_map(|user| {
                "[!-~&&[^\"@`<>\\\\]]{8,30}".prop_map(move |password| {
                    (format!("postgres://{user}:{password}@db:5432/x"), password)
                })
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn whatever_surrounds_a_secret_it_never_comes_out(
            (text, secret) in secrets(),
            before in ".{0,40}",
            after in ".{0,40}",
        ) {
            let line = format!("{before}{text}{after}");
            prop_assert!(!redact(&line).contains(&secret), "{}", redact(&line));
            let json = serde_json::json!({"message": line, "other": 1}).to_string();
            let shown = redact(&json);
            prop_assert!(!shown.contains(&secret), "{}", shown);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&shown).is_ok(), "{}", shown);
        }
    }
}
