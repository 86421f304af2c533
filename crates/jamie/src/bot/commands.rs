//! The wishes that people express in messages and commands.

use serde_json::{Value, json};

use super::events::SlashCommand;
use crate::link::wanted_link;

/// Something that a person wants of the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wish {
    Watch(String),
    Stop,
    Status,
    Help,
    /// There is a link, but not one that can be watched.
    BadLink,
    /// Nothing that the bot understands.
    Unclear,
}

impl Wish {
    /// Reads a direct message.
    pub(super) fn in_message(text: &str) -> Self {
        match text.trim().to_lowercase().as_str() {
            "stop" => return Self::Stop,
            "status" => return Self::Status,
            "help" => return Self::Help,
            _ => {}
        }
        match wanted_link(text) {
            Some(link) => Self::Watch(link),
            None if text.contains("://") => Self::BadLink,
            None => Self::Unclear,
        }
    }

    /// Reads a command.
    pub(super) fn in_command(command: &SlashCommand) -> Self {
        match command.name.as_str() {
            "watch" => match command.url.as_deref().and_then(wanted_link) {
                Some(link) => Self::Watch(link),
                None => Self::BadLink,
            },
            "stop" => Self::Stop,
            "status" => Self::Status,
            _ => Self::Help,
        }
    }
}

/// Returns the commands for Discord's list. They can be given in servers and in direct messages with the bot.
pub(super) fn offered() -> Value {
    let command = |name: &str, description: &str, options: Value| {
        json!({
            "type": 1, "name": name, "description": description, "options": options,
            "contexts": [0, 1], "integration_types": [0],
        })
    };
    json!([
        command(
            "watch",
            "Stream a link to your voice channel",
            json!([{
                "type": 3, "name": "url", "required": true, "max_length": crate::link::MAX_LINK_BYTES,
                "description": "A YouTube, Twitch or Vimeo link, or any web page",
            }]),
        ),
        command("stop", "End the current stream", json!([])),
        command("status", "Check the streaming status", json!([])),
        command("help", "Show what I can do", json!([])),
    ])
}

#[cfg(test)]
mod tests {
    use deskhand_core::secret::Secret;

    use super::*;

    #[test]
    fn messages_are_commands_links_or_neither() {
        for (text, wish) in [
            ("stop", Wish::Stop),
            ("  STOP \n", Wish::Stop),
            ("status", Wish::Status),
            ("Help", Wish::Help),
            ("hello", Wish::Unclear),
            ("stop it", Wish::Unclear),
            ("", Wish::Unclear),
            ("https://", Wish::BadLink),
            ("ftp://example.org", Wish::BadLink),
        ] {
            assert_eq!(Wish::in_message(text), wish, "{text:?}");
        }
        assert_eq!(
            Wish::in_message("please stop HTTPS://youtu.be/a"),
            Wish::Watch("https://youtu.be/a".into())
        );
    }

    #[test]
    fn every_offered_command_is_understood() {
        for command in offered().as_array().unwrap() {
            let given = SlashCommand {
                interaction_id: 1,
                token: Secret::new(""),
                user_id: 1,
                administers: None,
                name: command["name"].as_str().unwrap().into(),
                url: Some("https://youtu.be/a".into()),
            };
            let is_help = Wish::in_command(&given) == Wish::Help;
            assert_eq!(is_help, command["name"] == "help");
        }
    }
}
