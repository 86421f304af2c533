//! Capabilities of Anthropic's models, derived from their names.

use super::sizes::Resolution;

/// A model's family and number, read from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Generation {
    family: Family,
    number: (u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Haiku,
    Sonnet,
    Opus,
    /// Fable and Mythos, which share their version numbers.
    Fable,
    /// A family that this program does not know. It is treated as a new one.
    Other,
}

/// The form in which the computer is offered to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ToolVersion {
    /// The computer as a plain function.
    Function,
    Computer20241022,
    Computer20250124,
    Computer20251124,
    Toolset20260801,
}

/// The way in which a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// The model cannot think.
    None,
    /// The request sets a number of tokens.
    Budget,
    /// The model decides how much to think.
    Adaptive,
}

impl Generation {
    pub(super) fn of(name: &str) -> Self {
        let mut family = Family::Other;
        let mut numbers = Vec::new();
        for part in name.split(['-', '.', '@', ':']) {
            match part {
                "haiku" => family = Family::Haiku,
                "sonnet" => family = Family::Sonnet,
                "opus" => family = Family::Opus,
                "fable" | "mythos" => family = Family::Fable,
                // A longer number is a date.
                _ if part.len() <= 2 => numbers.extend(part.parse::<u32>().ok()),
                _ => {}
            }
        }
        let number = match *numbers.as_slice() {
            [] => (u32::MAX, 0),
            [major] => (major, 0),
            [major, minor, ..] => (major, minor),
        };
        Self { family, number }
    }

    /// Returns the newest form of the computer that this generation is known to accept.
    pub(super) fn newest_tools(self) -> ToolVersion {
        let toolset_from = match self.family {
            Family::Opus => (4, 8),
            Family::Haiku => (5, 5),
            Family::Sonnet | Family::Fable | Family::Other => (5, 0),
        };
        let dated_from = match self.family {
            Family::Opus => (4, 5),
            Family::Sonnet => (4, 6),
            Family::Haiku | Family::Fable | Family::Other => (5, 0),
        };
        match self.number {
            number if number >= toolset_from => ToolVersion::Toolset20260801,
            number if number >= dated_from => ToolVersion::Computer20251124,
            number if number >= (3, 7) => ToolVersion::Computer20250124,
            number if number >= (3, 5) => ToolVersion::Computer20241022,
            _ => ToolVersion::Function,
        }
    }

    pub(super) fn resolution(self) -> Resolution {
        if self.number >= (4, 7) {
            Resolution::Sharp
        } else {
            Resolution::Standard
        }
    }

    pub(super) fn thinking(self) -> Thinking {
        match self.number {
            number if number >= (4, 6) => Thinking::Adaptive,
            number if number >= (3, 7) => Thinking::Budget,
            _ => Thinking::None,
        }
    }

    /// Returns true if thinking is hidden unless the request asks for it.
    pub(super) fn hides_thinking(self) -> bool {
        self.number >= (4, 7)
    }

    /// Returns true if thinking may be sent back only after exactly the conversation that it followed.
    pub(super) fn binds_thinking(self) -> bool {
        match self.family {
            Family::Fable => self.number >= (5, 1),
            Family::Opus | Family::Sonnet | Family::Haiku | Family::Other => self.number >= (5, 5),
        }
    }

    /// Returns true if the model thinks between calls only when a request asks for it.
    pub(super) fn interleaves_on_request(self) -> bool {
        self.number >= (4, 0) && self.thinking() == Thinking::Budget
    }

    /// Returns true if the vendor can clear the results of old calls for this model.
    pub(super) fn takes_clearing(self) -> bool {
        self.number >= (4, 0)
    }

    /// Returns true if the vendor can summarize a conversation for this model.
    pub(super) fn takes_compaction(self) -> bool {
        self.number >= (4, 6)
    }

    /// Returns the window in tokens.
    pub(super) fn window(self) -> u64 {
        if self.has_long_window() {
            1_000_000
        } else {
            200_000
        }
    }

    /// Returns the length of a conversation, in tokens, above which every token costs more.
    pub(super) fn cheap_tokens(self) -> Option<u32> {
        (self.family == Family::Haiku && self.number >= (5, 5)).then_some(100_000)
    }

    fn has_long_window(self) -> bool {
        self.number >= (4, 6)
    }

    /// Returns true if this is one of the first generations, which had their own version of the editor.
    pub(super) fn has_old_editor(self) -> bool {
        self.number < (4, 0)
    }

    /// Returns the maximum number of pictures in a request. Models with a longer context accept more.
    pub(super) fn most_pictures(self) -> usize {
        if self.has_long_window() { 600 } else { 100 }
    }

    /// Returns the thinking effort to ask for, as Anthropic recommends for computer use.
    pub(super) fn effort(self) -> &'static str {
        match (self.family, self.number) {
            (Family::Opus, (4, 7)) => "high",
            _ => "medium",
        }
    }

    /// Returns the maximum length of an answer, in tokens.
    pub(super) fn longest_answer(self) -> u32 {
        if self.number < (3, 7) { 8_192 } else { 16_384 }
    }
}

impl ToolVersion {
    /// Returns the name that is stored with an answer.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Toolset20260801 => "computer_toolset_20260801",
            Self::Computer20251124 => "computer_20251124",
            Self::Computer20250124 => "computer_20250124",
            Self::Computer20241022 => "computer_20241022",
            Self::Function => "function",
        }
    }

    /// Returns the form to try after the vendor has rejected this one.
    pub(super) fn older(self) -> Option<Self> {
        match self {
            Self::Toolset20260801 => Some(Self::Computer20251124),
            Self::Computer20251124 => Some(Self::Computer20250124),
            Self::Computer20250124 => Some(Self::Computer20241022),
            Self::Computer20241022 => Some(Self::Function),
            Self::Function => None,
        }
    }

    /// Returns the value that a request with this form needs in `anthropic-beta`.
    pub(super) fn beta(self) -> Option<&'static str> {
        match self {
            Self::Computer20241022 => Some("computer-use-2024-10-22"),
            Self::Computer20250124 => Some("computer-use-2025-01-24"),
            Self::Computer20251124 => Some("computer-use-2025-11-24"),
            Self::Toolset20260801 | Self::Function => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_gets_the_newest_form_that_it_takes() {
        use ToolVersion::{Computer20241022, Computer20250124, Computer20251124, Toolset20260801};
        for (name, tools) in [
            ("claude-3-5-sonnet-20241022", Computer20241022),
            ("claude-3-7-sonnet-20250219", Computer20250124),
            ("claude-sonnet-4-20250514", Computer20250124),
            ("claude-sonnet-4-5-20250929", Computer20250124),
            ("claude-haiku-4-5", Computer20250124),
            ("claude-opus-4-1-20250805", Computer20250124),
            ("claude-opus-4-5-20251101", Computer20251124),
            ("claude-opus-4-7", Computer20251124),
            ("claude-sonnet-4-6", Computer20251124),
            ("claude-opus-4-8", Toolset20260801),
            ("claude-sonnet-5", Toolset20260801),
            ("claude-haiku-5-5", Toolset20260801),
            ("claude-fable-5-2", Toolset20260801),
            ("claude-mythos-5", Toolset20260801),
            ("claude-something-new", Toolset20260801),
            ("anthropic.claude-opus-4-5-20251101-v1:0", Computer20251124),
            ("claude-opus-4-5@20251101", Computer20251124),
        ] {
            assert_eq!(Generation::of(name).newest_tools(), tools, "{name}");
        }
    }

    #[test]
    fn what_they_take_follows_from_their_number() {
        let of = Generation::of;
        assert_eq!(of("claude-3-5-sonnet-20241022").thinking(), Thinking::None);
        assert_eq!(of("claude-sonnet-4-5").thinking(), Thinking::Budget);
        assert_eq!(of("claude-opus-4-6").thinking(), Thinking::Adaptive);
        assert_eq!(of("claude-opus-4-6").resolution(), Resolution::Standard);
        assert_eq!(of("claude-opus-4-7").resolution(), Resolution::Sharp);
        assert!(of("claude-opus-5-5").binds_thinking());
        assert!(of("claude-fable-5-1").binds_thinking());
        assert!(!of("claude-opus-5").binds_thinking());
    }
}
