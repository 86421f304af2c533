use serde_json::{Value, json};

use super::*;

fn refusal(dialect: Dialect, asked: &Value) -> String {
    let read = read(dialect, asked.to_string().as_bytes());
    read.expect_err(&asked.to_string())
}

#[test]
fn what_a_model_says_may_be_asked_for() {
    let png = "data:image/png;base64,iVBO";
    for (dialect, asked) in [
        (
            Dialect::Messages,
            json!({"tools": [{"name": "x", "input_schema": {"properties": {"source": {"type": "url"}}}},
                      {"type": "bash_20250124", "name": "bash"}],
            "messages": [{"content": [
                {"type": "image", "source": {"type": "base64", "data": ""}},
                {"type": "search_result", "source": "https://a.b"},
                {"type": "tool_use", "input": {"file_id": "x", "source": {"type": "url"}}},
            ]}]}),
        ),
        (
            Dialect::Responses,
            json!({"background": false, "previous_response_id": null,
                   "tools": [{"type": "function", "parameters": {"properties": {"file_id": {"type": "string"}}}}],
                   "input": [{"role": "user", "content": [{"type": "input_image", "image_url": png}]},
                             {"type": "computer_call_output", "output": {"current_url": "https://a.b"}}]}),
        ),
        (Dialect::Responses, json!({"input": "Hello"})),
        (
            Dialect::Chat,
            json!({"tools": [{"type": "function"}], "messages": [{"content": [
                {"image_url": {"url": png}}, {"file": {"file_data": "JVBERi0x"}},
            ]}]}),
        ),
        (
            Dialect::Gemini,
            json!({"tools": [{"functionDeclarations": []}], "contents": [{"parts": {"inlineData": {}}}]}),
        ),
    ] {
        let read = read(dialect, asked.to_string().as_bytes());
        assert!(read.is_ok(), "{asked}: {read:?}");
    }
}

#[test]
fn a_field_that_the_gateway_does_not_know_is_named() {
    for (dialect, field) in [
        (Dialect::Messages, "mcp_servers"),
        (Dialect::Messages, "container"),
        (Dialect::Messages, "speed"),
        (Dialect::Messages, "fallbacks"),
        (Dialect::Responses, "background"),
        (Dialect::Responses, "previous_response_id"),
        (Dialect::Responses, "conversation"),
        (Dialect::Responses, "prompt"),
        (Dialect::Chat, "web_search_options"),
        (Dialect::Chat, "plugins"),
        (Dialect::Chat, "models"),
        (Dialect::Chat, "extra_body"),
        (Dialect::Gemini, "cachedContent"),
        (Dialect::Gemini, "cached_content"),
        (Dialect::Gemini, "anything_new"),
    ] {
        for value in [json!([{"id": "web"}]), json!({}), json!("x"), json!(true)] {
            let told = refusal(dialect, &json!({field: value}));
            assert!(told.contains(&format!("{field:?}")), "{field}: {told}");
        }
    }
}

#[test]
fn tools_are_a_list_of_objects_that_the_caller_carries_out() {
    for (dialect, tools) in [
        (Dialect::Gemini, json!({"urlContext": {}})),
        (Dialect::Gemini, json!([{"googleSearch": {}}])),
        (Dialect::Gemini, json!([[{"urlContext": {}}]])),
        (
            Dialect::Gemini,
            json!([{"functionDeclarations": [], "urlContext": {}}]),
        ),
        (Dialect::Messages, json!([{"type": "web_fetch_20250910"}])),
        (Dialect::Messages, json!({"type": "web_fetch_20250910"})),
        (Dialect::Messages, json!([{"type": ["web_fetch_20250910"]}])),
        (Dialect::Messages, json!([{"type": "mcp_toolset"}])),
        (
            Dialect::Responses,
            json!([{"type": "function"}, {"type": "web_search"}]),
        ),
        (Dialect::Responses, json!([{"name": "web_search"}])),
        (Dialect::Responses, json!(["web_search"])),
        (Dialect::Chat, json!("web_search")),
    ] {
        let told = refusal(dialect, &json!({"tools": tools}));
        assert!(told.contains("tool") || told.contains("type"), "{told}");
    }
}

#[test]
fn what_a_vendor_would_fetch_or_has_kept_may_not_be_asked_for() {
    let url = "https://a.b/?secret";
    let messages = |part: Value| json!({"messages": [{"role": "user", "content": [part]}]});
    let input = |part: Value| json!({"input": [{"role": "user", "content": [part]}]});
    for (dialect, asked) in [
        (
            Dialect::Messages,
            messages(json!({"source": {"type": "url", "url": url}})),
        ),
        (
            Dialect::Messages,
            messages(json!({"source": {"type": "file", "file_id": "x"}})),
        ),
        (
            Dialect::Messages,
            messages(json!({"source": [{"type": "url"}]})),
        ),
        (
            Dialect::Messages,
            messages(json!({"type": "container_upload", "file_id": "x"})),
        ),
        (Dialect::Messages, json!({"service_tier": "priority"})),
        (Dialect::Responses, input(json!({"image_url": url}))),
        (Dialect::Responses, input(json!({"file_url": url}))),
        (Dialect::Responses, input(json!({"file_id": "file-1"}))),
        (
            Dialect::Responses,
            json!({"input": [{"type": "item_reference", "id": "msg_1"}]}),
        ),
        (Dialect::Responses, json!({"input": [{"id": "msg_1"}]})),
        (Dialect::Chat, json!({"service_tier": "priority"})),
        (Dialect::Chat, messages(json!({"image_url": {"url": url}}))),
        (Dialect::Chat, messages(json!({"video_url": {"url": url}}))),
        (Dialect::Chat, messages(json!({"file": {"file_data": url}}))),
        (
            Dialect::Gemini,
            json!({"contents": [{"parts": [{"fileData": {"fileUri": url}}]}]}),
        ),
        (
            Dialect::Gemini,
            json!({"contents": {"parts": {"file_data": {"file_uri": url}}}}),
        ),
    ] {
        refusal(dialect, &asked);
    }
}

#[test]
fn a_body_is_one_object_without_duplicate_keys_and_not_too_many_values() {
    for body in [
        "",
        "[]",
        "0",
        r#"{"model": "a"} {}"#,
        r#"{"model": "a", "mod\u0065l": "b"}"#,
        r#"{"messages": [{"a": 1, "a": 2}]}"#,
        r#"{"metadata": {"a": {"b": 1, "b": 2}}}"#,
        r#"{"model": ["a"]}"#,
    ] {
        assert!(read(Dialect::Messages, body.as_bytes()).is_err(), "{body}");
    }
    let deep = format!(r#"{{"messages": {}{}}}"#, "[".repeat(200), "]".repeat(200));
    let told = read(Dialect::Messages, deep.as_bytes()).unwrap_err();
    assert!(told.contains("recursion limit"), "{told}");
    let many = format!(r#"{{"messages": [{}0]}}"#, "0,".repeat(MOST_NODES));
    let told = read(Dialect::Messages, many.as_bytes()).unwrap_err();
    assert_eq!(told, "the body has more than 200000 values");
}

#[test]
fn what_the_gateway_uses_is_kept() {
    let body =
        json!({"model": "a", "stream": true, "tools": [{"type": "function"}, {"type": "custom"}]});
    let asked = read(Dialect::Chat, body.to_string().as_bytes()).unwrap();
    assert_eq!(
        asked,
        CheckedRequest {
            model: Some("a".to_owned()),
            is_streamed: true,
            other_tool: Some("custom".to_owned()),
            n_prompt_tokens: 5,
        }
    );
    let picture = "x".repeat(100_000);
    let body =
        json!({"messages": [{"content": "12345678"}, {"image_url": format!("data:{picture}")}]});
    let asked = read(Dialect::Chat, body.to_string().as_bytes()).unwrap();
    assert_eq!(asked.n_prompt_tokens, 2 + PICTURE_TOKENS);
}

#[test]
fn fuzz_gateway_bodies() {
    let bodies = [
        json!({"model": "claude-opus-5-5", "stream": true, "max_tokens": 9, "system": "Be brief.",
               "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi \u{fc}"}]}],
               "tools": [{"name": "x", "input_schema": {"type": "object"}}]}),
        json!({"model": "gpt-6-sol", "input": [{"role": "user", "content": "Hi"}], "stream": false,
               "tools": [{"type": "function", "name": "x", "parameters": {}}], "previous_response_id": null}),
        json!({"contents": [{"parts": {"text": "Hi"}}], "tools": {"urlContext": {}}}),
        json!({"model": "openrouter/a/b:online", "plugins": [{"id": "web"}], "messages": []}),
    ];
    let bodies = bodies.map(|body| body.to_string());
    let seeds: Vec<&[u8]> = bodies.iter().map(String::as_bytes).collect();
    let dialects = [
        Dialect::Messages,
        Dialect::Responses,
        Dialect::Chat,
        Dialect::Gemini,
    ];
    deskhand_testkit::fuzz("gateway", &seeds, |input| {
        for dialect in dialects {
            let Ok(checked) = read(dialect, input) else {
                continue;
            };
            // A body that passes is read in the same way by others, and asks for no tool of the vendor in disguise.
            let body: Value = serde_json::from_slice(input).unwrap();
            assert_eq!(checked.model.as_deref(), body["model"].as_str());
            assert_eq!(checked.is_streamed, body["stream"] == true);
            assert!(
                body["tools"].is_array() || body["tools"].is_null(),
                "{body}"
            );
            assert!(body.get("plugins").is_none() && body.get("urlContext").is_none());
        }
    });
}
