//! The request for a stream, and the rules for its fields.

use serde::{Deserialize, Serialize};
use url::Url;
use uuid::Uuid;

use crate::{error_code::ErrorCode, link};

/// The longest name of a channel or server, in characters. It is Discord's own bound.
const MAX_NAME_CHARS: usize = 100;

/// Asks for a stream of a link to a voice channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamRequest {
    pub session_id: Uuid,
    pub url: String,
    pub guild_id: u64,
    pub channel_id: u64,
    pub channel_name: String,
    /// The address that is told every change of status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_url: Option<String>,
    /// The person who asked. The controller gives it back with the session, so that a bot knows it after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester_id: Option<u64>,
    /// Given back like `requester_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guild_name: Option<String>,
    /// The message that shows the status. Given back like `requester_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<MessageRef>,
}

/// The place of a message in Discord.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRef {
    pub channel_id: u64,
    pub message_id: u64,
}

/// Reasons a request for a stream is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRequest {
    #[error(
        "url must be an http or https address of at most {} bytes, without a password",
        link::MAX_LINK_BYTES
    )]
    Url,
    #[error("{field} {rule}")]
    Field {
        field: &'static str,
        rule: &'static str,
    },
    /// The text is not JSON, a field is missing, or it has another type.
    #[error("the request is not valid: {0}")]
    Json(String),
}

impl InvalidRequest {
    /// Returns the contract's code. It has one only for the link.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Url => Some(ErrorCode::InvalidUrl),
            Self::Field { .. } | Self::Json(_) => None,
        }
    }
}

impl StreamRequest {
    /// Reads and checks a request.
    pub fn from_json(json: &[u8]) -> Result<Self, InvalidRequest> {
        let request: Self = serde_json::from_slice(json)
            .map_err(|error| InvalidRequest::Json(error.to_string()))?;
        request.check()?;
        Ok(request)
    }

    /// Checks what the types of the fields leave open.
    pub fn check(&self) -> Result<(), InvalidRequest> {
        // The scheme is written in small letters, as in the contract's pattern.
        let has_scheme = self.url.starts_with("http://") || self.url.starts_with("https://");
        if !has_scheme || !link::is_link(&self.url) {
            return Err(InvalidRequest::Url);
        }
        check_name("channel_name", &self.channel_name)?;
        if let Some(name) = &self.guild_name {
            check_name("guild_name", name)?;
        }
        if let Some(webhook) = &self.webhook_url
            && !is_web_address(webhook)
        {
            return Err(InvalidRequest::Field {
                field: "webhook_url",
                rule: "must be an http or https address",
            });
        }
        Ok(())
    }
}

fn check_name(field: &'static str, name: &str) -> Result<(), InvalidRequest> {
    if (1..=MAX_NAME_CHARS).contains(&name.chars().count()) {
        return Ok(());
    }
    Err(InvalidRequest::Field {
        field,
        rule: "must have 1 to 100 characters",
    })
}

fn is_web_address(text: &str) -> bool {
    text.len() <= link::MAX_LINK_BYTES
        && Url::parse(text)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn example() -> Value {
        json!({
            "session_id": "550e8400-e29b-41d4-a716-446655440000",
            "url": "https://youtube.com/watch?v=dQw4w9WgXcQ",
            "guild_id": 123_456_789_012_345_678_u64,
            "channel_id": u64::MAX,
            "channel_name": "Movie Night",
            "webhook_url": "http://jamie-bot:8080/status"
        })
    }

    fn read(change: impl FnOnce(&mut Value)) -> Result<StreamRequest, InvalidRequest> {
        let mut json = example();
        change(&mut json);
        StreamRequest::from_json(json.to_string().as_bytes())
    }

    #[test]
    fn the_example_of_the_contract_is_read_and_written_unchanged() {
        let request = read(|_| {}).unwrap();
        assert_eq!(request.channel_id, u64::MAX);
        assert_eq!(serde_json::to_value(&request).unwrap(), example());
    }

    #[test]
    fn the_webhook_is_optional_and_unknown_fields_are_ignored() {
        read(|json| {
            json.as_object_mut().unwrap().remove("webhook_url");
        })
        .unwrap();
        read(|json| json["added_next_year"] = json!(1)).unwrap();
    }

    #[test]
    fn every_field_has_its_rule() {
        for (field, value) in [
            ("session_id", json!("not-a-uuid")),
            ("session_id", Value::Null),
            ("guild_id", json!(-1)),
            ("guild_id", json!("123")),
            ("guild_id", json!(1.5)),
            ("channel_id", json!(null)),
            ("channel_name", json!("")),
            ("channel_name", json!("é".repeat(101))),
            ("guild_name", json!("")),
            ("webhook_url", json!("ftp://example.org/")),
            ("webhook_url", json!("nonsense")),
        ] {
            let error = read(|json| json[field] = value.clone()).unwrap_err();
            assert_eq!(error.code(), None, "{field} {value}: {error}");
        }
        for field in ["session_id", "guild_id", "channel_id", "channel_name"] {
            let error = read(|json| {
                json.as_object_mut().unwrap().remove(field);
            })
            .unwrap_err();
            assert!(error.to_string().contains(field), "{error}");
        }
        read(|json| json["channel_name"] = json!("é".repeat(100))).unwrap();
    }

    #[test]
    fn other_addresses_than_web_pages_are_invalid_urls() {
        for url in [
            "",
            "ftp://example.org/",
            "HTTPS://example.org/",
            "https://",
            "https://a b/",
            "file:///etc/passwd",
        ] {
            let error = read(|json| json["url"] = json!(url)).unwrap_err();
            assert_eq!(error.code(), Some(ErrorCode::InvalidUrl), "{url}");
        }
    }
}
