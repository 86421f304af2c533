//! The API paths that programs call.

/// The maximum length of a Gemini model's name, in bytes.
const LONGEST_NAME: usize = 100;

/// The format of a vendor's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Messages,
    Responses,
    Chat,
    Gemini,
}

impl Dialect {
    /// Returns the vendor whose API this is.
    pub(super) fn vendor(self) -> &'static str {
        match self {
            Self::Messages => crate::anthropic::VENDOR,
            Self::Responses | Self::Chat => crate::openai::VENDOR,
            Self::Gemini => crate::gemini::VENDOR,
        }
    }
}

/// An operation of an API. All of them use POST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Api {
    Messages,
    CountTokens,
    Responses,
    Chat,
    Gemini {
        version: &'static str,
        model: String,
        verb: &'static str,
    },
}

impl Api {
    /// Returns the operation at this path.
    pub(super) fn at(path: &str) -> Option<Self> {
        Some(match path {
            "/v1/messages" => Self::Messages,
            "/v1/messages/count_tokens" => Self::CountTokens,
            "/v1/responses" => Self::Responses,
            "/v1/chat/completions" => Self::Chat,
            other => return gemini(other),
        })
    }

    pub(super) fn dialect(&self) -> Dialect {
        match self {
            Self::Messages | Self::CountTokens => Dialect::Messages,
            Self::Responses => Dialect::Responses,
            Self::Chat => Dialect::Chat,
            Self::Gemini { .. } => Dialect::Gemini,
        }
    }

    /// Returns the model if the path names it.
    pub(super) fn model(&self) -> Option<&str> {
        match self {
            Self::Gemini { model, .. } => Some(model),
            Self::Messages | Self::CountTokens | Self::Responses | Self::Chat => None,
        }
    }

    /// Returns true if the vendor does not charge for this operation.
    pub(super) fn is_free(&self) -> bool {
        match self {
            Self::CountTokens => true,
            Self::Gemini { verb, .. } => *verb == "countTokens",
            Self::Messages | Self::Responses | Self::Chat => false,
        }
    }

    /// Returns the path below the vendor's base URL, with the query parameters that are passed on.
    pub(super) fn target(&self, query: &str) -> String {
        let path = match self {
            Self::Messages => "/v1/messages".to_owned(),
            Self::CountTokens => "/v1/messages/count_tokens".to_owned(),
            // OpenAI's base URLs end with the version.
            Self::Responses => "/responses".to_owned(),
            Self::Chat => "/chat/completions".to_owned(),
            Self::Gemini {
                version,
                model,
                verb,
            } => format!("/{version}/models/{model}:{verb}"),
        };
        let passed = |pair: &&str| matches!(*pair, "alt=sse" | "alt=json" | "beta=true");
        let passed: Vec<&str> = query.split('&').filter(passed).collect();
        if passed.is_empty() {
            path
        } else {
            format!("{path}?{}", passed.join("&"))
        }
    }
}

/// Parses `/v1beta/models/NAME:VERB`.
fn gemini(path: &str) -> Option<Api> {
    let (version, rest) = path.strip_prefix('/')?.split_once("/models/")?;
    let (model, verb) = rest.split_once(':')?;
    let one_of = |words: &[&'static str], word: &str| words.iter().find(|it| **it == word).copied();
    let is_name = !model.is_empty()
        && model.len() <= LONGEST_NAME
        && !model.starts_with('.')
        && model
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    let verbs = ["generateContent", "streamGenerateContent", "countTokens"];
    Some(Api::Gemini {
        version: one_of(&["v1beta", "v1", "v1alpha"], version)?,
        model: is_name.then(|| model.to_owned())?,
        verb: one_of(&verbs, verb)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_paths_of_models_lead_anywhere() {
        let target = |path: &str, query: &str| Api::at(path).map(|api| api.target(query));
        assert_eq!(
            target("/v1/messages", "beta=true&key=x").as_deref(),
            Some("/v1/messages?beta=true")
        );
        assert_eq!(target("/v1/responses", "").as_deref(), Some("/responses"));
        assert_eq!(
            target(
                "/v1beta/models/gemini-3.6-flash:streamGenerateContent",
                "key=dhg_1&alt=sse&x=y"
            )
            .as_deref(),
            Some("/v1beta/models/gemini-3.6-flash:streamGenerateContent?alt=sse")
        );
        for path in [
            "/",
            "/v1/messages/",
            "/v1/messages/batches",
            "/v1/files",
            "/v1/models",
            "/v1beta/models",
            "/v1beta/models/a/b:generateContent",
            "/v1beta/models/..:generateContent",
            "/v1beta/models/a%2fb:generateContent",
            "/v1beta/models/a:batchGenerateContent",
            "/v2/models/a:generateContent",
            "/v1beta/models/:generateContent",
            "//v1/messages",
            "/api/sessions",
        ] {
            assert_eq!(target(path, ""), None, "{path}");
        }
    }
}
