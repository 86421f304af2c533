//! What every model is told before the conversation. The words are in `system_prompt.md`.

use deskhand_core::action::ScreenSize;
use jiff::Timestamp;

const TEMPLATE: &str = include_str!("system_prompt.md");

/// The system prompt for a turn that begins now. It names the day and not the hour, so that it
/// stays the same from turn to turn and a vendor's cache of it stays good.
pub(crate) fn fill(now: Timestamp, screen: ScreenSize) -> String {
    TEMPLATE
        .replace("{date}", &now.strftime("%A, %-d %B %Y").to_string())
        .replace("{screen}", &screen.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_to_fill_in() {
        let now = "2026-07-03T23:59:59Z".parse().unwrap();
        let prompt = fill(now, ScreenSize::default());
        assert!(prompt.contains("Today is Friday, 3 July 2026."));
        assert!(prompt.contains("A Linux desktop of 1024×768 pixels"));
        assert!(!prompt.contains(['{', '}']), "{prompt}");
    }
}
