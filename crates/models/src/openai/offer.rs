//! Optional features that a request asks for, and those that OpenAI has rejected.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use reqwest::StatusCode;

use crate::http::ErrorResponse;

/// The features that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenAiOffer {
    /// Screenshots are marked to be viewed without scaling. Not every form of the API knows this field.
    pub(super) detail: bool,
    /// Reasoning is summarized. Not every account may see it.
    pub(super) summary: bool,
    /// OpenAI summarizes long conversations. Not every server that speaks this API does.
    pub(super) compaction: bool,
}

impl Default for OpenAiOffer {
    fn default() -> Self {
        Self {
            detail: true,
            summary: true,
            compaction: true,
        }
    }
}

impl OpenAiOffer {
    /// Returns the offer without the feature that a refusal names.
    ///
    /// Returns `None` if the refusal is about something else.
    pub(super) fn after(self, response: &ErrorResponse) -> Option<Self> {
        let error = &response.body["error"];
        let text = |field: &str| error[field].as_str().unwrap_or_default();
        let (told, parameter) = (text("message"), text("param"));
        if response.status != StatusCode::BAD_REQUEST {
            return None;
        }
        if self.detail && (parameter.ends_with(".detail") || told.contains("'detail'")) {
            return Some(Self {
                detail: false,
                ..self
            });
        }
        let is_about_compaction =
            parameter.starts_with("context_management") || told.contains("context_management");
        if self.compaction && is_about_compaction {
            return Some(Self {
                compaction: false,
                ..self
            });
        }
        let is_about_summary =
            parameter.starts_with("reasoning") || told.contains("reasoning summar");
        (self.summary && is_about_summary).then_some(Self {
            summary: false,
            ..self
        })
    }
}

/// The offer that each model accepted last, for models that did not accept everything.
#[derive(Debug, Default)]
pub(super) struct AcceptedOpenAiOffers(Mutex<HashMap<String, OpenAiOffer>>);

impl AcceptedOpenAiOffers {
    pub(super) fn offer(&self, model: &str) -> OpenAiOffer {
        let accepted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        accepted.get(model).copied().unwrap_or_default()
    }

    pub(super) fn note(&self, model: &str, offer: OpenAiOffer) {
        if offer != OpenAiOffer::default() {
            let mut accepted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            accepted.insert(model.to_owned(), offer);
        }
    }
}
