//! Optional features that a model is offered besides the conversation, and those that the vendor has rejected.

use deskhand_core::{model::ModelRequest, tool::NativeTool};
use reqwest::StatusCode;

use super::{
    generation::{Generation, ToolVersion},
    told,
};
use crate::http::ErrorResponse;

const CONTEXT_MANAGEMENT: &str = "context-management-2025-06-27";
const COMPACTION: &str = "compact-2026-01-12";
const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";

/// The features that a request offers to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AnthropicOffer {
    pub(super) tools: ToolVersion,
    pub(super) browser: BrowserForm,
    /// The vendor clears the results of old calls.
    pub(super) clears: bool,
    /// The vendor summarizes a long conversation.
    pub(super) compacts: bool,
    /// The vendor rejects a picture that is too big instead of shrinking it silently.
    pub(super) is_strict: bool,
    /// The model thinks.
    pub(super) thinks: bool,
    /// Thinking is summarized for people.
    pub(super) displays: bool,
    /// The effort of thinking is named.
    pub(super) effort: bool,
    /// The model thinks between calls too. Later models do so by themselves.
    pub(super) interleaves: bool,
}

/// The form in which the browser is offered to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BrowserForm {
    Function,
    Toolset,
}

impl AnthropicOffer {
    /// Returns the most that a model is known to accept.
    pub(super) fn to(model: &str) -> Self {
        let generation = Generation::of(model);
        let tools = generation.newest_tools();
        Self {
            tools,
            // Both toolsets came together.
            browser: match tools {
                ToolVersion::Toolset20260801 => BrowserForm::Toolset,
                ToolVersion::Computer20251124
                | ToolVersion::Computer20250124
                | ToolVersion::Computer20241022
                | ToolVersion::Function => BrowserForm::Function,
            },
            clears: generation.takes_clearing(),
            compacts: generation.takes_compaction(),
            is_strict: true,
            thinks: true,
            displays: true,
            effort: true,
            interleaves: generation.interleaves_on_request(),
        }
    }

    /// Returns true if each picture must say that it may not be shrunk. The toolset implies this.
    pub(super) fn marks_pictures(self) -> bool {
        self.is_strict && self.tools != ToolVersion::Toolset20260801
    }

    /// Returns the values that a request with this offer needs in `anthropic-beta`.
    pub(super) fn betas(self, request: &ModelRequest) -> Vec<&'static str> {
        let clearing = (self.clears || self.compacts).then_some(CONTEXT_MANAGEMENT);
        let compaction = self.compacts.then_some(COMPACTION);
        let mut tools = request.tools.iter();
        let has_computer = tools.any(|tool| tool.native == Some(NativeTool::Computer));
        let betas = self.tools.beta().filter(|_| has_computer).into_iter();
        let interleaved = (self.thinks && self.interleaves).then_some(INTERLEAVED);
        let betas = betas.chain(clearing).chain(compaction);
        betas.chain(interleaved).collect()
    }

    /// Returns the offer without the feature that a refusal names.
    ///
    /// Returns `None` if the refusal is about something else. `has_browser` says if the request offered the browser.
    pub(super) fn after(self, response: &ErrorResponse, has_browser: bool) -> Option<Self> {
        let told = told(response)?;
        if response.status != StatusCode::BAD_REQUEST {
            return None;
        }
        let is_about = |words: &[&str]| words.iter().any(|word| told.contains(word));
        if self.compacts && is_about(&["compact"]) {
            return Some(Self {
                compacts: false,
                ..self
            });
        }
        if (self.clears || self.compacts)
            && is_about(&[
                "context_management",
                "context management",
                CONTEXT_MANAGEMENT,
            ])
        {
            return Some(Self {
                clears: false,
                compacts: false,
                ..self
            });
        }
        if self.marks_pictures() && is_about(&["transformations"]) {
            return Some(Self {
                is_strict: false,
                ..self
            });
        }
        if let Some(less) = self.with_less_thinking(told) {
            return Some(less);
        }
        let with_function = Self {
            browser: BrowserForm::Function,
            ..self
        };
        if self.browser == BrowserForm::Toolset && is_about(&["browser_toolset"]) {
            return Some(with_function);
        }
        let is_about_tools = is_about(&[
            "tool type",
            "tools.0",
            "computer_2",
            "computer_toolset",
            "computer-use-2",
        ]);
        match self.tools.older().filter(|_| is_about_tools) {
            Some(tools) => Some(Self { tools, ..self }),
            // A refusal that does not say which tool it means may be about the browser.
            None => {
                let is_open = is_about_tools && !is_about(&["computer"]);
                (is_open && has_browser && self.browser == BrowserForm::Toolset)
                    .then_some(with_function)
            }
        }
    }

    /// Returns the offer without the part of thinking that a refusal names.
    ///
    /// Refusals of earlier thinking in the conversation begin with its place there, and change nothing.
    fn with_less_thinking(self, told: &str) -> Option<Self> {
        let mut less = self;
        if self.interleaves && told.contains("interleaved-thinking") {
            less.interleaves = false;
        } else if self.displays && told.contains("thinking.display") {
            less.displays = false;
        } else if self.effort && (told.contains("output_config") || told.contains("effort")) {
            less.effort = false;
        } else if self.thinks
            && (told.starts_with("thinking")
                || told.contains("thinking.type")
                || told.contains("not support thinking"))
        {
            less.thinks = false;
        } else {
            return None;
        }
        Some(less)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error_response(status: u16, told: &str) -> ErrorResponse {
        ErrorResponse {
            status: StatusCode::from_u16(status).unwrap(),
            body: json!({"error": {"type": "invalid_request_error", "message": told}}),
            retry_after: None,
        }
    }

    #[test]
    fn what_is_turned_down_is_left_out_step_by_step() {
        let mut offer = AnthropicOffer::to("claude-opus-5-5");
        let told = error_response(
            400,
            "claude-opus-5-5 does not support tool types: computer_toolset_20260801",
        );
        let mut versions = vec![offer.tools.name()];
        while let Some(next) = offer.after(&told, true) {
            offer = next;
            versions.push(offer.tools.name());
        }
        assert_eq!(
            versions,
            [
                "computer_toolset_20260801",
                "computer_20251124",
                "computer_20250124",
                "computer_20241022",
                "function"
            ]
        );
        assert!(offer.clears && offer.compacts);
        let compaction = error_response(400, "context_management.edits.1: compact_20260112 is not");
        let offer = offer.after(&compaction, true).unwrap();
        assert!(offer.clears && !offer.compacts);
        let clearing = error_response(400, "context_management: Extra inputs are not permitted");
        let offer = offer.after(&clearing, true).unwrap();
        assert!(!offer.clears && offer.is_strict);
        let pictures = error_response(
            400,
            "messages.0.content.1.image.transformations: Extra inputs",
        );
        let offer = offer.after(&pictures, true).unwrap();
        assert!(!offer.is_strict);
        assert_eq!(offer.after(&pictures, true), None);
    }

    #[test]
    fn what_amazon_and_google_turn_down_is_left_out_too() {
        let response = ErrorResponse {
            status: StatusCode::BAD_REQUEST,
            body: json!({"message": "context_management: Extra inputs are not permitted"}),
            retry_after: None,
        };
        let offer = AnthropicOffer::to("claude-opus-5-5");
        let less = offer.after(&response, true).unwrap();
        assert!(!less.clears && !less.compacts);
    }

    #[test]
    fn other_refusals_change_nothing() {
        let offer = AnthropicOffer::to("claude-opus-5-5");
        for (status, told) in [
            (
                400,
                "messages.3: tool_use ids were found without tool_result blocks",
            ),
            (400, "messages: at least one message is required"),
            (401, "computer_20251124"),
            (529, "Overloaded"),
        ] {
            assert_eq!(
                offer.after(&error_response(status, told), true),
                None,
                "{told}"
            );
        }
    }

    #[test]
    fn thinking_is_left_out_step_by_step_too() {
        let most = AnthropicOffer::to("claude-sonnet-4-5");
        assert!(most.interleaves && !AnthropicOffer::to("claude-opus-5-5").interleaves);
        for (told, less) in [
            (
                "Unexpected value(s) `interleaved-thinking-2025-05-14` for the `anthropic-beta` header",
                AnthropicOffer {
                    interleaves: false,
                    ..most
                },
            ),
            (
                "thinking.display: Extra inputs are not permitted",
                AnthropicOffer {
                    displays: false,
                    ..most
                },
            ),
            (
                "This model does not support the effort parameter.",
                AnthropicOffer {
                    effort: false,
                    ..most
                },
            ),
            (
                "output_config: Extra inputs are not permitted",
                AnthropicOffer {
                    effort: false,
                    ..most
                },
            ),
            (
                "\"thinking.type.enabled\" is not supported for this model.",
                AnthropicOffer {
                    thinks: false,
                    ..most
                },
            ),
        ] {
            assert_eq!(
                most.after(&error_response(400, told), true),
                Some(less),
                "{told}"
            );
        }
        let earlier = "messages.1.content.0: `thinking` blocks cannot be modified";
        assert_eq!(most.after(&error_response(400, earlier), true), None);
    }
}
