//! Refusals as MCP clients see them: a tool error that a model can read, or an error of the protocol.

use deskhand_app::{Refusal, RefusalFacts, RefusalKind};
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, MetaObject},
};
use serde_json::{Value, json};

/// The key under which an error has its stable code and details.
const META_KEY: &str = "deskhand/error";

/// The reason why a call was not carried out.
#[derive(Debug)]
pub(crate) struct CallError {
    code: &'static str,
    kind: RefusalKind,
    message: String,
    details: Option<Value>,
}

impl CallError {
    /// Creates an error about the input of a call.
    pub(crate) fn malformed(message: impl std::fmt::Display) -> Self {
        Self::new("malformed", RefusalKind::Invalid, message)
    }

    /// Creates an error for an id that nothing has.
    pub(crate) fn bad_id(id: &str) -> Self {
        let message = format!(
            "there is nothing with the id {:?}",
            crate::clip::clip(id, 80)
        );
        Self::new("bad_id", RefusalKind::NotFound, message)
    }

    pub(crate) fn new(
        code: &'static str,
        kind: RefusalKind,
        message: impl std::fmt::Display,
    ) -> Self {
        Self {
            code,
            kind,
            message: message.to_string(),
            details: None,
        }
    }

    /// Returns the result of a tool. The model reads the sentence and can try something else.
    pub(crate) fn into_result(self) -> CallToolResult {
        let text = self.to_string();
        let mut meta = MetaObject::new();
        let facts = json!({ "code": self.code, "details": self.details });
        meta.insert(META_KEY.to_owned(), facts);
        CallToolResult::error(vec![ContentBlock::text(text)]).with_meta(Some(meta))
    }

    /// Returns the error of a request for a resource.
    pub(crate) fn into_protocol_error(self, uri: &str) -> ErrorData {
        let data = json!({ "uri": uri, "code": self.code, "details": self.details });
        match self.kind {
            RefusalKind::NotFound | RefusalKind::Gone => {
                ErrorData::resource_not_found(self.message, Some(data))
            }
            RefusalKind::Internal | RefusalKind::Unavailable => {
                ErrorData::internal_error(self.message, Some(data))
            }
            RefusalKind::Invalid
            | RefusalKind::SignedOut
            | RefusalKind::Forbidden
            | RefusalKind::Conflict
            | RefusalKind::Outdated
            | RefusalKind::OutOfRange
            | RefusalKind::TooLarge
            | RefusalKind::Unfitting
            | RefusalKind::TooMany => ErrorData::invalid_params(self.message, Some(data)),
        }
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

/// Turns any refusal of the app into an error of a call. This is the only place that does.
impl<R: Refusal> From<R> for CallError {
    fn from(refusal: R) -> Self {
        let RefusalFacts {
            code,
            kind,
            message,
            details,
            retry_after: _,
        } = refusal.facts();
        if kind == RefusalKind::Internal || code == "no_database" {
            let error = &refusal as &(dyn std::error::Error + 'static);
            tracing::error!(error, "a call of an MCP client failed");
        }
        Self {
            code,
            kind,
            message,
            details,
        }
    }
}
