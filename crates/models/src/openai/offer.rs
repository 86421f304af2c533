//! Optional features that a request asks for, and those that OpenAI has rejected.

use reqwest::StatusCode;

use crate::http::ErrorResponse;

/// The features that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenAiOffer {
    /// Screenshots are marked to be viewed without scaling. Not every form of the API knows this field.
    pub(super) detail: bool,
    /// Reasoning is summarized. Not every account may see it.
    pub(super) summary: bool,
    /// The effort that people chose is named. Not every model takes every effort.
    pub(super) effort: bool,
    /// Requests of a session name it, so that they meet the same cache.
    pub(super) cache_key: bool,
    /// OpenAI summarizes long conversations. Not every server that speaks this API does.
    pub(super) compaction: bool,
}

impl OpenAiOffer {
    /// Returns the most that a model is known to accept.
    pub(super) fn to(model: &str) -> Self {
        let is_preview = super::request::is_preview(model);
        Self {
            detail: !is_preview,
            summary: true,
            effort: !is_preview,
            cache_key: !is_preview,
            compaction: !is_preview,
        }
    }

    /// Returns the offer without the feature that a refusal names.
    ///
    /// Returns `None` if the refusal is about something else.
    pub(super) fn after(self, response: &ErrorResponse) -> Option<Self> {
        if response.status != StatusCode::BAD_REQUEST {
            return None;
        }
        let error = &response.body["error"];
        let text = |field: &str| error[field].as_str().unwrap_or_default();
        let (told, parameter) = (text("message"), text("param"));
        let names = |field: &str| parameter.starts_with(field) || told.contains(field);
        let mut less = self;
        if self.detail && (parameter.ends_with(".detail") || told.contains("'detail'")) {
            less.detail = false;
        } else if self.cache_key && names("prompt_cache_key") {
            less.cache_key = false;
        } else if self.compaction && names("context_management") {
            less.compaction = false;
        } else if self.effort && (names("reasoning.effort") || names("reasoning_effort")) {
            less.effort = false;
        } else if self.summary
            && (parameter.starts_with("reasoning") || told.contains("reasoning summar"))
        {
            less.summary = false;
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

    fn after(offer: OpenAiOffer, status: u16, message: &str, param: &str) -> Option<OpenAiOffer> {
        offer.after(&ErrorResponse {
            status: StatusCode::from_u16(status).unwrap(),
            body: json!({"error": {"message": message, "param": param}}),
            retry_after: None,
        })
    }

    #[test]
    fn a_refusal_takes_away_what_it_names_and_nothing_else() {
        let most = OpenAiOffer::to("gpt-6.1-terra");
        for (message, param, less) in [
            (
                "Unknown parameter",
                "input[3].output.detail",
                OpenAiOffer {
                    detail: false,
                    ..most
                },
            ),
            (
                "Unknown parameter: 'prompt_cache_key'.",
                "prompt_cache_key",
                OpenAiOffer {
                    cache_key: false,
                    ..most
                },
            ),
            (
                "Unknown parameter: 'context_management'.",
                "context_management",
                OpenAiOffer {
                    compaction: false,
                    ..most
                },
            ),
            (
                "Unsupported value: 'high'",
                "reasoning.effort",
                OpenAiOffer {
                    effort: false,
                    ..most
                },
            ),
            (
                "Your organization must be verified to generate reasoning summaries.",
                "reasoning.summary",
                OpenAiOffer {
                    summary: false,
                    ..most
                },
            ),
        ] {
            assert_eq!(after(most, 400, message, param), Some(less), "{param}");
            assert_eq!(after(most, 500, message, param), None, "{param}");
        }
        assert_eq!(
            after(most, 400, "No tool output found for function call", "input"),
            None
        );
    }
}
