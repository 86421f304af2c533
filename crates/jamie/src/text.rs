//! The bot's messages to people.
//!
//! Texts of others (names, links, reasons) are escaped, so that their Markdown cannot change a message.

use crate::{contract::StreamState, error_code::ErrorCode};

/// The longest reason that is quoted, in characters. Escaped and with everything around it, a message stays within
/// Discord's 2,000 characters.
const MAX_REASON_CHARS: usize = 300;

/// The longest link that is shown in full, in characters.
const MAX_SHOWN_LINK_CHARS: usize = 600;

pub(crate) const GUIDANCE: &str = "👋 Send me a YouTube, Twitch, or Vimeo URL and I'll stream it to your voice \
     channel!\nCommands: `stop`, `status`, `help`";

pub(crate) const NOTHING: &str = "ℹ️ Nothing is streaming right now.";

pub(crate) const ENDED: &str = "⏹️ Stream ended. Thanks for watching!";

pub(crate) const STOPPING: &str = "⏹️ Stopping the stream...";

/// The reply to people who may not know where the stream is.
pub(crate) const ELSEWHERE: &str = "▶️ I'm streaming somewhere else right now.";

pub(crate) const HELP: &str = "**Jamie - URL Streamer**\n\n\
     Send me a URL and I'll stream it to your voice channel!\n\n\
     **Supported:**\n\
     • YouTube videos and streams\n\
     • Twitch channels and VODs\n\
     • Vimeo videos\n\
     • Any web page\n\n\
     **Commands:**\n\
     • `stop` - End the current stream\n\
     • `status` - Check streaming status\n\
     • `help` - Show this message\n\n\
     **How it works:**\n\
     1. Join a voice channel\n\
     2. DM me a URL\n\
     3. Wait ~30-60 seconds\n\
     4. Watch together!";

/// The parts of a stream that messages name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamNames {
    pub(crate) channel_name: String,
    pub(crate) guild_name: String,
    pub(crate) url: String,
}

/// Acknowledges a request.
pub(crate) fn accepted(names: &StreamNames) -> String {
    format!(
        "🎬 Got it! Streaming to **{}** on **{}**...\nThis usually takes 30-60 seconds to set up.",
        escape(&names.channel_name),
        escape(&names.guild_name)
    )
}

/// Refuses a request while another stream is active, to a person who may know where.
pub(crate) fn busy(names: &StreamNames) -> String {
    format!(
        "⏳ I'm already streaming to **{}** on **{}**.\nDM `stop` to end that stream first.",
        escape(&names.channel_name),
        escape(&names.guild_name)
    )
}

/// Shows the state of a stream. This is the message that is kept up to date.
pub(crate) fn status(state: StreamState, step: Option<&str>, names: &StreamNames) -> String {
    let emoji = match state {
        StreamState::Pending => "⏳",
        StreamState::Starting => "🔄",
        StreamState::Streaming => "▶️",
        StreamState::Stopping => "⏹️",
        StreamState::Ended => "✅",
        StreamState::Failed => "❌",
    };
    let step = step.map_or_else(String::new, |step| format!(": {}", reason(step)));
    format!(
        "{emoji} **{}**{step}\nChannel: {}\nServer: {}\nURL: {}",
        state.name(),
        escape(&names.channel_name),
        escape(&names.guild_name),
        link(&names.url)
    )
}

/// Reads the state from a status message. The acknowledgement, which comes first, shows none.
pub(crate) fn shown_state(status_message: &str) -> StreamState {
    // An emoji comes first. Later in the line there may be names.
    let text = status_message.split_once(' ').map_or("", |(_, text)| text);
    let shown = StreamState::ALL
        .into_iter()
        .find(|state| text.starts_with(&format!("**{}**", state.name())));
    shown.unwrap_or(StreamState::Pending)
}

/// Tells the requester that the stream is live.
pub(crate) fn streaming(names: &StreamNames, everyone_sees_it: bool) -> String {
    let channel = escape(&names.channel_name);
    let who = if everyone_sees_it {
        format!("Everyone in **{channel}** should see it.")
    } else {
        format!("Share the link with everyone in **{channel}**.")
    };
    format!("✅ Now streaming! {who}\nDM me `stop` when you're done.")
}

/// Tells the requester that a stream was started anew.
pub(crate) const RENEWED: &str =
    "🔄 The stream goes on. This link is for everybody whose old one has ended.";

/// Tells a voice channel's chat that there is something to watch.
pub(crate) fn invitation(names: &StreamNames) -> String {
    format!("▶️ Watch together: {}", link(&names.url))
}

/// Tells a voice channel's chat that it is over.
pub(crate) fn over(names: &StreamNames) -> String {
    format!("⏹️ Stream ended: {}", link(&names.url))
}

/// Says why something did not work. `message` may be anybody's text.
pub(crate) fn problem(code: ErrorCode, message: Option<&str>) -> String {
    let row = code.row();
    // A controller that refuses a link says more than that it is none.
    let is_refused = code == ErrorCode::InvalidUrl && message.is_some();
    if let Some(message) = row.user_message.filter(|_| !is_refused) {
        return message.to_owned();
    }
    format!(
        "❌ Something went wrong: {}\nTry again, or try a different URL.",
        message.map_or_else(|| escape(row.summary), reason)
    )
}

/// Shortens and escapes the text of a model, a page or a controller.
fn reason(text: &str) -> String {
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(MAX_REASON_CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    escape(&short)
}

/// Writes a link in angle brackets, in which Discord reads no Markdown and shows no preview. A link has none itself.
fn link(url: &str) -> String {
    if url.chars().count() <= MAX_SHOWN_LINK_CHARS {
        return format!("<{url}>");
    }
    // A part of a link would lead somewhere else.
    let short: String = url.chars().take(100).collect();
    escape(&format!("{short}…"))
}

/// Takes away the meaning that characters have in Discord's Markdown, and makes it one line.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for (at, char) in text.char_indices() {
        let is_link = char == ':' && text[at + 1..].starts_with("//");
        if is_link || r"\*_~`|<>[]()@".contains(char) {
            escaped.push('\\');
        }
        if char.is_whitespace() {
            escaped.push(' ');
        } else if !char.is_control() && !turns_text_around(char) {
            escaped.push(char);
        }
    }
    escaped
}

/// Returns true for characters that change the direction of everything that follows.
pub(crate) fn turns_text_around(char: char) -> bool {
    matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
