//! Optional fields that a request has, and those that a server has rejected.

use reqwest::StatusCode;

use crate::http::ErrorResponse;

/// The optional fields of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChatOffer {
    /// The effort that people chose is named.
    pub(super) effort: bool,
}

/// The most that a request has.
pub(super) const MOST: ChatOffer = ChatOffer { effort: true };

impl ChatOffer {
    /// Returns the offer without the field that a refusal names.
    ///
    /// Returns `None` if the refusal is about something else.
    pub(super) fn after(self, response: &ErrorResponse) -> Option<Self> {
        let is_refusal = matches!(
            response.status,
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY
        );
        let is_about_effort = response.body.to_string().contains("reasoning_effort");
        (is_refusal && self.effort && is_about_effort).then_some(Self { effort: false })
    }
}
