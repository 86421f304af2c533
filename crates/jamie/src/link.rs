//! The link in a message: finds the address that a person wants to watch.

use url::Url;

use crate::text::turns_text_around;

/// The longest address that is accepted, in bytes.
pub const MAX_LINK_BYTES: usize = 2048;

/// The part of a message that is searched, in bytes. Discord's own bound is 4,000 characters.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// The number of places in a message that are looked at.
const MAX_CANDIDATES: usize = 64;

/// Sites that come before all others, in this order, however late in the message they stand.
const PREFERRED_HOSTS: [&[&str]; 4] = [
    &[
        "youtube.com",
        "www.youtube.com",
        "m.youtube.com",
        "music.youtube.com",
    ],
    &["youtu.be"],
    &["twitch.tv", "www.twitch.tv", "m.twitch.tv"],
    &["vimeo.com", "www.vimeo.com", "player.vimeo.com"],
];

/// Finds the link in a text: the first one of the preferred sites, otherwise the first one with `http` or `https`.
///
/// The link is a part of the text, without the brackets, Markdown and punctuation around it.
pub fn find_link(text: &str) -> Option<&str> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    starts(text)
        .take(MAX_CANDIDATES)
        .filter_map(|start| {
            let link = cut(text, start);
            Some((rank(link)?, link))
        })
        // Of several with the same rank, this is the first.
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, link)| link)
}

/// Finds the link in a text as [`find_link`] does, and writes its scheme in small letters, as the contract wants it.
pub(crate) fn wanted_link(text: &str) -> Option<String> {
    let (scheme, rest) = find_link(text)?.split_once("://")?;
    Some(format!("{}://{rest}", scheme.to_ascii_lowercase()))
}

/// Returns true for an address that can be watched: `http` or `https`, with a host and without a password.
pub fn is_link(link: &str) -> bool {
    rank(link).is_some()
}

/// Yields the positions at which an address begins.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("://").filter_map(|(colon, _)| {
        let before = &text.as_bytes()[..colon];
        ["https", "http"].into_iter().find_map(|scheme| {
            let start = colon.checked_sub(scheme.len())?;
            before[start..]
                .eq_ignore_ascii_case(scheme.as_bytes())
                .then_some(start)
        })
    })
}

/// Cuts off what follows the address that begins at `start`.
fn cut(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    let mut open = Vec::new();
    let mut end = rest.len();
    for (at, char) in rest.char_indices() {
        let closes = match char {
            '(' | '[' => {
                open.push(char);
                false
            }
            ')' => open.pop() != Some('('),
            ']' => open.pop() != Some('['),
            '<' | '>' | '"' | '`' | '|' | '\\' => true,
            _ => char.is_whitespace() || char.is_control(),
        };
        if closes {
            end = at;
            break;
        }
    }
    let link = &rest[..end];
    // Markdown that begins right before the address ends right after it: **https://example.org**
    let emphasis = text[..start]
        .chars()
        .next_back()
        .filter(|char| "*_~'".contains(*char));
    link.trim_end_matches(|char: char| ".,;:!?".contains(char) || Some(char) == emphasis)
}

/// Returns the position of a link's site in the order of preference, or nothing if it is not a link that is accepted.
fn rank(link: &str) -> Option<usize> {
    if link.len() > MAX_LINK_BYTES || !link.chars().all(is_allowed) {
        return None;
    }
    let url = Url::parse(link).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none();
    if !matches!(url.scheme(), "http" | "https") || !is_plain {
        return None;
    }
    let host = url.host_str()?;
    let preferred = PREFERRED_HOSTS
        .iter()
        .position(|hosts| hosts.contains(&host));
    Some(preferred.unwrap_or(PREFERRED_HOSTS.len()))
}

/// Returns true for characters that a link may have. None of them can end `<…>` in a message, or change the direction
/// of its text, so that it looks like another link.
fn is_allowed(char: char) -> bool {
    let is_visible = !char.is_whitespace() && !char.is_control() && !turns_text_around(char);
    is_visible && !"<>\"`".contains(char)
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
