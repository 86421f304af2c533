use proptest::prelude::*;

use super::*;

fn names() -> StreamNames {
    StreamNames {
        channel_name: "Movie Night".into(),
        guild_name: "Friends".into(),
        url: "https://youtu.be/a_b_c".into(),
    }
}

#[test]
fn messages_name_channel_server_and_link() {
    assert_eq!(
        accepted(&names()),
        "🎬 Got it! Streaming to **Movie Night** on **Friends**...\nThis usually takes 30-60 seconds to set up."
    );
    assert_eq!(
        status(StreamState::Starting, Some("Opening the page"), &names()),
        "🔄 **starting**: Opening the page\nChannel: Movie Night\nServer: Friends\nURL: <https://youtu.be/a_b_c>"
    );
    assert!(busy(&names()).contains("already streaming to **Movie Night** on **Friends**"));
    assert!(streaming(&names(), true).starts_with("✅ Now streaming! Everyone in **Movie Night**"));
}

#[test]
fn a_status_message_shows_its_state() {
    for state in StreamState::ALL {
        assert_eq!(shown_state(&status(state, None, &names())), state);
    }
    // A channel with the name of a state.
    let odd = StreamNames {
        channel_name: "**streaming**".into(),
        guild_name: "streaming".into(),
        ..names()
    };
    let pending = status(StreamState::Pending, Some("**streaming**"), &odd);
    assert_eq!(shown_state(&pending), StreamState::Pending);
    let named = StreamNames {
        channel_name: "Room".into(),
        ..odd
    };
    assert_eq!(shown_state(&accepted(&named)), StreamState::Pending);
}

#[test]
fn codes_with_a_message_of_their_own_use_it() {
    assert_eq!(
        problem(ErrorCode::UrlUnreachable, Some("ignored")),
        "❌ I couldn't load that URL.\nIt might be geoblocked or require a login."
    );
    // The reason is more than the message says.
    let refused = problem(ErrorCode::InvalidUrl, Some("a.example is not allowed"));
    assert!(refused.contains("Something went wrong: a.example is not allowed"));
    for code in ErrorCode::ALL {
        let message = problem(*code, None);
        match code.row().user_message {
            Some(own) => assert_eq!(message, own),
            None => assert!(
                message.starts_with("❌ Something went wrong: "),
                "{message}"
            ),
        }
    }
}

#[test]
fn texts_of_others_lose_their_markdown() {
    assert_eq!(
        problem(
            ErrorCode::Unknown,
            Some("**@everyone** <@1>\n# see [x](https://evil.example)")
        ),
        "❌ Something went wrong: \\*\\*\\@everyone\\*\\* \\<\\@1\\> # see \\[x\\]\\(https\\://evil.example\\)\n\
         Try again, or try a different URL."
    );
    assert_eq!(escape("movie-night: 1.0"), "movie-night: 1.0");
    assert_eq!(escape("a\u{202e}b\u{0}c"), "abc");
}

proptest! {
    #[test]
    fn whatever_others_write_every_message_is_short_enough(text in ".{0,3000}") {
        let names = StreamNames {
            channel_name: text.chars().take(100).collect(),
            guild_name: text.chars().take(100).collect(),
            url: format!("https://example.org/{}", "*".repeat(2000)),
        };
        for message in [
            accepted(&names),
            busy(&names),
            status(StreamState::Failed, Some(&text), &names),
            streaming(&names, true),
            invitation(&names),
            over(&names),
            problem(ErrorCode::Unknown, Some(&text)),
        ] {
            prop_assert!(message.chars().count() <= 2000, "{}", message.chars().count());
        }
    }

    #[test]
    fn escaped_text_is_one_line_without_open_markdown(text in any::<String>()) {
        let escaped = escape(&text);
        prop_assert!(!escaped.contains('\n'));
        let mut chars = escaped.chars();
        while let Some(char) = chars.next() {
            if char == '\\' {
                chars.next();
            } else {
                prop_assert!(!r"*_~`|<>[]()@".contains(char), "{escaped:?}");
            }
        }
    }
}
