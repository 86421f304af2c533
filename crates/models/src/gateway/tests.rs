use serde_json::{Value, json};

use super::*;

fn gateway() -> VendorGateway {
    let account = |key: &str, url: &str| AccountSettings {
        key: Some(Secret::new(key)),
        base_url: Some(url.to_owned()),
        ..AccountSettings::default()
    };
    let settings = ModelSettings {
        anthropic: account("sk-canary-anthropic", "http://127.0.0.1:1"),
        openai: account("sk-canary-openai", "http://127.0.0.1:1/v1"),
        compatible: [(
            "openrouter".to_owned(),
            account("sk-canary-router", "http://127.0.0.1:2/v1"),
        )]
        .into(),
        ..ModelSettings::default()
    };
    VendorGateway::new(&settings).unwrap()
}

fn request(path: &str, body: &str) -> GatewayRequest {
    GatewayRequest {
        path: path.to_owned(),
        query: String::new(),
        headers: Vec::new(),
        body: Bytes::copy_from_slice(body.as_bytes()),
    }
}

#[test]
fn programs_find_only_vendors_that_there_is_a_key_for() {
    let token = Secret::new("dhg_1");
    let found = gateway().variables("http://127.0.0.1:7879", &token);
    let found: Vec<String> = found
        .iter()
        .map(|(name, value)| format!("{name}={}", value.expose()))
        .collect();
    assert_eq!(
        found,
        [
            "ANTHROPIC_BASE_URL=http://127.0.0.1:7879",
            "ANTHROPIC_API_KEY=dhg_1",
            "OPENAI_BASE_URL=http://127.0.0.1:7879/v1",
            "OPENAI_API_KEY=dhg_1",
        ]
    );
    let none = VendorGateway::new(&ModelSettings::default()).unwrap();
    assert!(none.variables("http://127.0.0.1:7879", &token).is_empty());
}

#[test]
fn a_request_is_for_the_model_that_it_names() {
    for (path, body, model, is_priced) in [
        (
            "/v1/messages",
            r#"{"model": "claude-opus-5-5"}"#,
            "anthropic/claude-opus-5-5",
            true,
        ),
        (
            "/v1/responses",
            r#"{"model": "gpt-6-sol"}"#,
            "openai/gpt-6-sol",
            true,
        ),
        (
            "/v1/chat/completions",
            r#"{"model": "openrouter/a/b"}"#,
            "openrouter/a/b",
            false,
        ),
        (
            "/v1/chat/completions",
            r#"{"model": "ft:gpt/x"}"#,
            "openai/ft:gpt/x",
            false,
        ),
    ] {
        let call = gateway().read(request(path, body)).unwrap();
        assert_eq!(call.model(), model);
        assert_eq!(call.price().is_some(), is_priced, "{model}");
    }
    let gemini = "/v1beta/models/gemini-3.6-flash:generateContent";
    for (path, body) in [
        ("/v1/messages", ""),
        ("/v1/messages", "[]"),
        ("/v1/messages", "{}"),
        ("/v1/messages", r#"{"model": ""}"#),
        ("/v1/messages", r#"{"model": "a b"}"#),
        // The vendor might read the other one.
        (
            "/v1/messages",
            r#"{"model": "claude-haiku-5-5", "mod\u0065l": "claude-opus-5-5"}"#,
        ),
        (gemini, "{}"),
    ] {
        let refusal = gateway().read(request(path, body)).unwrap_err();
        assert_eq!(
            refusal.kind,
            GatewayRefusalKind::Request,
            "{body}: {refusal}"
        );
    }
}

#[test]
fn streams_of_chat_completions_are_asked_what_they_take() {
    let written = |body: &str| {
        let asked = read::read(Dialect::Chat, body.as_bytes()).unwrap();
        let body = Bytes::copy_from_slice(body.as_bytes());
        let written = written(&Api::Chat, &asked, "gpt-x", body).unwrap();
        String::from_utf8(written.to_vec()).unwrap()
    };
    let as_it_is = r#"{"user": "1", "model": "gpt-x", "min_p": 2.50}"#;
    assert_eq!(written(as_it_is), as_it_is);
    let streamed = written(
        r#"{"model": "r/gpt-x", "stream": true, "stream_options": {"include_usage": false, "x": 1}, "stop": {"b": 1, "a": 2}}"#,
    );
    assert!(
        streamed.contains(r#""stop":{"b": 1, "a": 2}"#),
        "{streamed}"
    );
    assert_eq!(
        serde_json::from_str::<Value>(&streamed).unwrap(),
        json!({"model": "gpt-x", "stream": true, "stream_options": {"include_usage": true, "x": 1}, "stop": {"a": 2, "b": 1}})
    );
}

#[test]
fn each_vendor_says_no_in_its_own_way() {
    let status = |path: &str, kind| {
        gateway()
            .refuse(path, &GatewayRefusal::new(kind, "no"))
            .status
    };
    assert_eq!(status("/v1/messages", GatewayRefusalKind::Budget), 402);
    assert_eq!(status("/v1/responses", GatewayRefusalKind::Budget), 429);
    assert_eq!(status("/nowhere", GatewayRefusalKind::Path), 404);
    assert_eq!(
        status("/v1/chat/completions", GatewayRefusalKind::Token),
        401
    );
}

#[test]
fn nothing_shows_a_key() {
    let request = GatewayRequest {
        headers: vec![
            ("x-api-key".to_owned(), "dhg_1".to_owned()),
            ("cookie".to_owned(), "x".to_owned()),
            ("anthropic-beta".to_owned(), "b".to_owned()),
        ],
        ..request("/v1/messages", r#"{"model": "claude-opus-5-5"}"#)
    };
    let headers = headers::outward(
        &request.headers,
        Dialect::Messages,
        Some(&Secret::new("sk-canary-anthropic")),
    );
    assert_eq!(headers["x-api-key"], "sk-canary-anthropic");
    assert_eq!(headers["anthropic-beta"], "b");
    assert!(!headers.contains_key("cookie"));
    let call = gateway().read(request).unwrap();
    for shown in [format!("{call:?}"), format!("{:?}", gateway())] {
        assert!(!shown.contains("canary"), "{shown}");
    }
}
