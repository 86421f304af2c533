//! Optional features that a request asks for, and those that Google has rejected.

use reqwest::StatusCode;

use crate::http::ErrorResponse;

/// The features that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GeminiOffer {
    /// The computer is a desktop. Otherwise it is a browser.
    pub(super) desktop: bool,
    /// Google looks for instructions in pictures that are not from the user.
    pub(super) detection: bool,
    /// Actions that our computer does not support are left out.
    pub(super) exclusion: bool,
    /// Thoughts are summarized.
    pub(super) thoughts: bool,
    /// The effort that people chose is named.
    pub(super) effort: bool,
}

/// The most that a request asks for.
pub(super) const MOST: GeminiOffer = GeminiOffer {
    desktop: true,
    detection: true,
    exclusion: true,
    thoughts: true,
    effort: true,
};

impl GeminiOffer {
    /// Returns the offer without the feature that a refusal names.
    ///
    /// Returns `None` if the refusal is about something else.
    pub(super) fn after(self, response: &ErrorResponse) -> Option<Self> {
        if response.status != StatusCode::BAD_REQUEST {
            return None;
        }
        // Google names a field in the message or in the details, as `a_field` or as `aField`.
        let told = response
            .body
            .to_string()
            .to_ascii_lowercase()
            .replace('_', "");
        let names = |words: &[&str]| words.iter().any(|word| told.contains(word));
        let mut less = self;
        if self.detection && names(&["promptinjectiondetection"]) {
            less.detection = false;
        } else if self.exclusion && names(&["excludedpredefinedfunctions"]) {
            less.exclusion = false;
        } else if self.effort
            && names(&[
                "thinkinglevel",
                "thinking level",
                "thinkingbudget",
                "thinking budget",
            ])
        {
            less.effort = false;
        } else if self.thoughts && names(&["includethoughts", "thinkingconfig", "thinking is not"])
        {
            less.thoughts = false;
        } else if self.desktop && names(&["environmentdesktop", "computeruse.environment"]) {
            less.desktop = false;
        } else {
            return None;
        }
        Some(less)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn after(offer: GeminiOffer, status: u16, error: &Value) -> Option<GeminiOffer> {
        offer.after(&ErrorResponse {
            status: StatusCode::from_u16(status).unwrap(),
            body: json!({"error": error}),
            retry_after: None,
        })
    }

    #[test]
    fn a_refusal_takes_away_what_it_names_and_nothing_else() {
        let unknown = |name: &str| json!({"message": format!("Invalid JSON payload received. Unknown name \"{name}\" at 'tools[0].computer_use': Cannot find field.")});
        let violation = json!({"message": "Request contains an invalid argument.", "details": [
            {"fieldViolations": [{"field": "tools[0].computer_use.environment", "description": "ENVIRONMENT_DESKTOP is not supported"}]},
        ]});
        for (error, less) in [
            (
                unknown("enablePromptInjectionDetection"),
                GeminiOffer {
                    detection: false,
                    ..MOST
                },
            ),
            (
                unknown("excluded_predefined_functions"),
                GeminiOffer {
                    exclusion: false,
                    ..MOST
                },
            ),
            (
                json!({"message": "Thinking level is not supported for this model."}),
                GeminiOffer {
                    effort: false,
                    ..MOST
                },
            ),
            (
                unknown("includeThoughts"),
                GeminiOffer {
                    thoughts: false,
                    ..MOST
                },
            ),
            (
                violation,
                GeminiOffer {
                    desktop: false,
                    ..MOST
                },
            ),
        ] {
            assert_eq!(after(MOST, 400, &error), Some(less), "{error}");
            assert_eq!(after(MOST, 403, &error), None, "{error}");
            assert_eq!(after(less, 400, &error), None, "{error}");
        }
        assert_eq!(
            after(MOST, 400, &json!({"message": "API key not valid."})),
            None
        );
    }
}
