//! Rejects requests that programs may not make.
//!
//! A sandbox has no network of its own. Anything that a vendor would fetch, search or run for a program would be a
//! way around that, and is charged without being counted in tokens. Data that is stored in the account, such as files
//! and caches, may belong to other users.

use serde_json::{Map, Value};

use super::paths::Dialect;

/// Checks that a request asks only for a model's answer. The error is for the author of the program.
pub(super) fn check(dialect: Dialect, asked: &Value) -> Result<(), String> {
    let keys: &[&str] = match dialect {
        Dialect::Messages => &["mcp_servers", "container"],
        Dialect::Responses => &["background"],
        Dialect::Chat => &["web_search_options"],
        Dialect::Gemini => &["cachedContent", "cached_content"],
    };
    for key in keys {
        let value = &asked[*key];
        if !value.is_null() && *value != false {
            return Err(format!("the gateway does not pass on {key:?}"));
        }
    }
    let is_dearer = match dialect {
        Dialect::Messages => asked["speed"] == "fast",
        Dialect::Responses | Dialect::Chat => asked["service_tier"] == "priority",
        Dialect::Gemini => false,
    };
    if is_dearer {
        return Err(
            "the gateway does not pass on calls with a faster service that costs more".to_owned(),
        );
    }
    let tools = asked["tools"].as_array();
    for tool in tools.into_iter().flatten() {
        check_tool(dialect, tool)?;
    }
    check_sources(dialect, asked)
}

fn check_tool(dialect: Dialect, tool: &Value) -> Result<(), String> {
    let hosted = |what: &str| {
        Err(format!(
            "the gateway does not pass on the tool {what:?}: it would run at the vendor, and programs here have no network"
        ))
    };
    if dialect == Dialect::Gemini {
        let ours = [
            "functionDeclarations",
            "function_declarations",
            "computerUse",
            "computer_use",
        ];
        let kinds = tool.as_object().into_iter().flat_map(Map::keys);
        let mut foreign = kinds.filter(|kind| !ours.contains(&kind.as_str()));
        return foreign.next().map_or(Ok(()), |kind| hosted(kind));
    }
    let Some(kind) = tool["type"].as_str() else {
        return Ok(());
    };
    let is_ours = match dialect {
        Dialect::Messages => {
            let beginnings = ["bash_", "text_editor_", "computer_", "memory_"];
            kind == "custom" || beginnings.iter().any(|begin| kind.starts_with(begin))
        }
        Dialect::Responses | Dialect::Chat | Dialect::Gemini => matches!(
            kind,
            "function"
                | "custom"
                | "computer"
                | "computer_use_preview"
                | "local_shell"
                | "apply_patch"
        ),
    };
    if is_ours { Ok(()) } else { hosted(kind) }
}

/// Rejects data that the vendor would have to fetch, or that is stored in its account.
fn check_sources(dialect: Dialect, value: &Value) -> Result<(), String> {
    match value {
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| check_sources(dialect, item)),
        Value::Object(object) => object.iter().try_for_each(|(key, value)| {
            if is_elsewhere(dialect, key, value) {
                return Err(format!(
                    "the gateway does not pass on {key:?} by reference: put the data into the request"
                ));
            }
            check_sources(dialect, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn is_elsewhere(dialect: Dialect, key: &str, value: &Value) -> bool {
    let is_remote = |value: &Value| {
        let text = value.as_str();
        text.is_some_and(|text| !text.trim_start().starts_with("data:"))
    };
    match (dialect, key) {
        (Dialect::Messages, "source") => {
            matches!(value["type"].as_str(), Some("url" | "file"))
        }
        (Dialect::Responses | Dialect::Chat, "image_url") => {
            is_remote(value) || is_remote(&value["url"])
        }
        (Dialect::Responses | Dialect::Chat, "file_url" | "file_id") => value.is_string(),
        (Dialect::Gemini, "fileData" | "file_data") => {
            value["fileUri"].is_string() || value["file_uri"].is_string()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_model_says_may_be_asked_for() {
        let png = "data:image/png;base64,iVBO";
        for (dialect, asked) in [
            (
                Dialect::Messages,
                json!({"tools": [{"name": "x", "input_schema": {"properties": {"source": {"type": "string"}}}},
                        {"type": "bash_20250124", "name": "bash"}],
                       "messages": [{"content": [{"type": "image", "source": {"type": "base64", "data": ""}}]}]}),
            ),
            (
                Dialect::Responses,
                json!({"background": false, "tools": [{"type": "function", "parameters": {"properties": {"file_id": {"type": "string"}}}}],
                       "input": [{"content": [{"type": "input_image", "image_url": png}]}]}),
            ),
            (
                Dialect::Chat,
                json!({"tools": [{"type": "function"}], "messages": [{"content": [{"image_url": {"url": png}}]}]}),
            ),
            (
                Dialect::Gemini,
                json!({"tools": [{"functionDeclarations": []}], "contents": [{"parts": [{"inlineData": {}}]}]}),
            ),
        ] {
            assert_eq!(check(dialect, &asked), Ok(()), "{asked}");
        }
    }

    #[test]
    fn what_a_vendor_would_fetch_run_or_has_kept_may_not() {
        let url = "https://a.b/?secret";
        for (dialect, asked) in [
            (Dialect::Messages, json!({"mcp_servers": []})),
            (
                Dialect::Messages,
                json!({"tools": [{"type": "web_fetch_20250910"}]}),
            ),
            (
                Dialect::Messages,
                json!({"messages": [{"content": [{"source": {"type": "url", "url": url}}]}]}),
            ),
            (
                Dialect::Messages,
                json!({"messages": [{"content": [{"source": {"type": "file", "file_id": "x"}}]}]}),
            ),
            (Dialect::Responses, json!({"background": true})),
            (Dialect::Messages, json!({"speed": "fast"})),
            (Dialect::Chat, json!({"service_tier": "priority"})),
            (
                Dialect::Responses,
                json!({"tools": [{"type": "function"}, {"type": "web_search"}]}),
            ),
            (
                Dialect::Responses,
                json!({"input": [{"content": [{"image_url": url}]}]}),
            ),
            (
                Dialect::Responses,
                json!({"input": [{"content": [{"file_id": "file-1"}]}]}),
            ),
            (Dialect::Chat, json!({"web_search_options": {}})),
            (
                Dialect::Chat,
                json!({"messages": [{"content": [{"image_url": {"url": url}}]}]}),
            ),
            (Dialect::Gemini, json!({"tools": [{"googleSearch": {}}]})),
            (
                Dialect::Gemini,
                json!({"contents": [{"parts": [{"fileData": {"fileUri": url}}]}]}),
            ),
        ] {
            assert!(check(dialect, &asked).is_err(), "{asked}");
        }
    }
}
