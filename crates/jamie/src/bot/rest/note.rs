//! The text and the button of a message, as the bot writes and reads them.

use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::contract::MessageRef;

/// The longest address that a button may have.
const MAX_BUTTON_URL_CHARS: usize = 512;
/// The longest text that a message may have.
const MAX_TEXT_CHARS: usize = 2000;

/// The addresses of messages, for people who open them in Discord.
const MESSAGES: &str = "https://discord.com/channels/";

/// Flags of messages: links show no preview, and only the person who gave the command sees the answer.
pub(super) const NO_PREVIEW: u64 = 1 << 2;
pub(super) const FOR_ONE: u64 = 1 << 6;

/// The text of a message, with a link as a button.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::bot) struct Note {
    pub(in crate::bot) text: String,
    pub(in crate::bot) watch_url: Option<String>,
    /// The message in the chat of a voice channel that belongs to it.
    pub(in crate::bot) chat: Option<ChatPost>,
}

/// A message in the chat of a voice channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bot) struct ChatPost {
    pub(in crate::bot) guild_id: u64,
    pub(in crate::bot) message: MessageRef,
}

impl ChatPost {
    fn url(self) -> String {
        let (channel, message) = (self.message.channel_id, self.message.message_id);
        format!("{MESSAGES}{}/{channel}/{message}", self.guild_id)
    }

    fn from_url(url: &str) -> Option<Self> {
        let mut ids = url.strip_prefix(MESSAGES)?.split('/');
        let mut id = || ids.next()?.parse().ok();
        Some(Self {
            guild_id: id()?,
            message: MessageRef {
                channel_id: id()?,
                message_id: id()?,
            },
        })
    }
}

impl From<&str> for Note {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Note {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// The body of a message.
pub(super) fn body(note: &Note, flags: u64) -> Value {
    let mut text = note.text.clone();
    let mut buttons = Vec::new();
    let button =
        |label: &str, url: &str| json!({"type": 2, "style": 5, "label": label, "url": url});
    if let Some(url) = &note.watch_url {
        let in_text = format!("{text}\n<{url}>");
        if url.chars().count() <= MAX_BUTTON_URL_CHARS {
            buttons.push(button("Watch", url));
        } else if in_text.chars().count() <= MAX_TEXT_CHARS {
            text = in_text;
        } else {
            tracing::warn!("a link is too long for a message, which is sent without it");
        }
    }
    if let Some(chat) = note.chat {
        buttons.push(button("In the chat", &chat.url()));
    }
    let row = (!buttons.is_empty()).then(|| json!({"type": 1, "components": buttons}));
    json!({
        "content": text,
        "components": Vec::from_iter(row),
        "allowed_mentions": {"parse": []},
        "flags": flags,
    })
}

/// Adds the number by which Discord recognises a second try.
pub(super) fn with_nonce(mut body: Value) -> Value {
    let nonce = Uuid::now_v7().simple().to_string();
    // Discord takes 25 characters. The last ones are the random ones.
    body["nonce"] = json!(nonce[8..]);
    body["enforce_nonce"] = json!(true);
    body
}

#[derive(Deserialize)]
pub(super) struct Written {
    content: String,
    #[serde(default)]
    components: Vec<Value>,
}

impl From<Written> for Note {
    fn from(written: Written) -> Self {
        let row = written.components.first();
        let buttons = row.and_then(|row| row["components"].as_array());
        let urls = buttons.into_iter().flatten();
        let urls = urls.filter_map(|button| button["url"].as_str());
        let (mut watch_url, mut chat) = (None, None);
        for url in urls {
            match ChatPost::from_url(url) {
                Some(post) => chat = Some(post),
                None => watch_url = Some(url.to_owned()),
            }
        }
        Self {
            text: written.content,
            watch_url,
            chat,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_a_button_or_in_the_text_if_there_is_room() {
        let text = "Now streaming!";
        for (n_chars, is_button, is_in_text) in [
            (512, true, false),
            (513, false, true),
            (1983, false, true),
            (1984, false, false),
            (2048, false, false),
        ] {
            let note = Note {
                text: text.into(),
                watch_url: Some("x".repeat(n_chars)),
                chat: None,
            };
            let body = body(&note, NO_PREVIEW);
            let content = body["content"].as_str().unwrap();
            assert!(content.starts_with(text) && content.chars().count() <= MAX_TEXT_CHARS);
            assert_eq!(content.contains("<x"), is_in_text, "{n_chars}");
            let has_button = !body["components"].as_array().unwrap().is_empty();
            assert_eq!(has_button, is_button, "{n_chars}");
        }
    }

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let message = MessageRef {
            channel_id: 2,
            message_id: u64::MAX,
        };
        for (watch_url, chat) in [
            (None, None),
            (Some("https://watch.example/w/a"), Some(message)),
            (Some("https://watch.example/w/a"), None),
            (None, Some(message)),
        ] {
            let note = Note {
                text: "Now streaming!".into(),
                watch_url: watch_url.map(str::to_owned),
                chat: chat.map(|message| ChatPost {
                    guild_id: 1,
                    message,
                }),
            };
            let written: Written = serde_json::from_value(body(&note, NO_PREVIEW)).unwrap();
            assert_eq!(Note::from(written), note);
        }
    }
}
