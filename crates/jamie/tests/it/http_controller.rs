//! The controller over HTTP, against a small server.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    response::Response,
};
use deskhand_core::{secret::Secret, tasks::Tasks};
use deskhand_jamie::{
    Controller, ControllerError, ErrorCode, HttpController,
    contract::{Health, StopRequest, StreamRequest, StreamState, StreamVerdict},
};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};
use uuid::Uuid;

/// A server that answers all requests in the same way, and keeps them.
#[derive(Debug, Clone, Default)]
struct Fake {
    answer: Arc<Mutex<(u16, String)>>,
    requests: Arc<Mutex<Vec<(String, String)>>>,
}

impl Fake {
    async fn start() -> (Self, HttpController) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let fake = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(answer).with_state(fake.clone());
        Tasks::default().spawn("controller", async move {
            axum::serve(listener, router).await.unwrap();
        });
        let controller = HttpController::new(&format!("http://{address}/"), Secret::new("token"));
        (fake, controller.unwrap())
    }

    fn answer_with(&self, status: u16, body: &impl ToString) {
        *self.answer.lock().unwrap() = (status, body.to_string());
    }

    fn last_request(&self) -> (String, Value) {
        let (line, body) = self.requests.lock().unwrap().pop().unwrap();
        (line, serde_json::from_str(&body).unwrap_or(Value::Null))
    }
}

async fn answer(State(fake): State<Fake>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let authorization = parts.headers["authorization"].to_str().unwrap();
    let line = format!("{} {} {authorization}", parts.method, parts.uri);
    let body = String::from_utf8(body.to_vec()).unwrap();
    fake.requests.lock().unwrap().push((line, body));
    let (status, body) = fake.answer.lock().unwrap().clone();
    Response::builder()
        .status(status)
        .body(Body::from(body))
        .unwrap()
}

fn request() -> StreamRequest {
    StreamRequest::from_json(
        json!({
            "session_id": "550e8400-e29b-41d4-a716-446655440000", "url": "https://youtu.be/a",
            "guild_id": 1, "channel_id": u64::MAX, "channel_name": "Movie Night"
        })
        .to_string()
        .as_bytes(),
    )
    .unwrap()
}

#[tokio::test]
async fn every_operation_has_its_path_and_body() {
    let (fake, controller) = Fake::start().await;
    let request = request();
    let id = request.session_id;
    fake.answer_with(
        200,
        &json!({"session_id": id, "status": "accepted", "estimated_start_time": 45.0}),
    );
    let response = controller.start(&request).await.unwrap();
    assert_eq!(response.status, StreamVerdict::Accepted);
    let (line, body) = fake.last_request();
    assert_eq!(line, "POST /jamie/stream Bearer token");
    assert_eq!(body, serde_json::to_value(&request).unwrap());

    fake.answer_with(204, &"");
    controller.stop(id, &StopRequest::default()).await.unwrap();
    let (line, body) = fake.last_request();
    assert_eq!(line, format!("POST /jamie/stop/{id} Bearer token"));
    assert_eq!(body, json!({"reason": "user_requested"}));

    let view = json!({
        "session_id": id, "status": "streaming", "url": "https://youtu.be/a", "guild_id": 1, "channel_id": 2,
        "channel_name": "Movie Night", "created_at": "2026-02-07T12:34:56Z"
    });
    fake.answer_with(200, &view);
    assert_eq!(
        controller.session(id).await.unwrap().status,
        StreamState::Streaming
    );
    assert_eq!(
        fake.last_request().0,
        format!("GET /jamie/session/{id} Bearer token")
    );
    fake.answer_with(200, &json!([view]));
    assert_eq!(controller.sessions().await.unwrap().len(), 1);
    assert_eq!(fake.last_request().0, "GET /jamie/sessions Bearer token");

    fake.answer_with(200, &json!([view]));
    assert_eq!(controller.ended_lately().await.unwrap().len(), 1);
    let (line, _) = fake.last_request();
    assert_eq!(line, "GET /jamie/sessions/ended Bearer token");

    fake.answer_with(
        200,
        &json!({"status": "degraded", "sandbox_ready": false, "active_sessions": 1, "version": "1"}),
    );
    assert_eq!(controller.health().await.unwrap().status, Health::Degraded);
    assert_eq!(fake.last_request().0, "GET /jamie/health Bearer token");
}

#[tokio::test]
async fn every_code_comes_back_with_its_status_in_both_forms() {
    let (fake, controller) = Fake::start().await;
    for code in ErrorCode::ALL {
        let refusal = json!({"error": code, "message": "the reason"});
        for body in [refusal.clone(), json!({"detail": refusal})] {
            fake.answer_with(code.row().http_status, &body);
            let error = controller.start(&request()).await.unwrap_err();
            assert_eq!(error, ControllerError::new(*code, "the reason"));
        }
    }
}

#[tokio::test]
async fn a_refused_token_is_named() {
    let (fake, controller) = Fake::start().await;
    for status in [401, 403] {
        let problem = json!({"error": {"code": "not_signed_in", "message": "sign in first"}});
        fake.answer_with(status, &problem);
        let error = controller.sessions().await.unwrap_err();
        assert!(error.to_string().contains("set DESKHAND_TOKEN"), "{error}");
    }
}

#[tokio::test]
async fn answers_that_make_no_sense_are_errors_that_quote_nothing() {
    let (fake, controller) = Fake::start().await;
    for (status, body) in [
        (500, "<html>".to_owned()),
        (200, "nonsense".into()),
        (200, json!({"session_id": "nonsense"}).to_string()),
        (302, String::new()),
        (200, "x".repeat(1 << 20)),
    ] {
        fake.answer_with(status, &body);
        let error = controller.session(Uuid::nil()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Unknown);
        let told = format!("{error} {error:?}");
        assert!(
            !told.contains("token") && !told.contains("nonsense"),
            "{told}"
        );
    }
    // It is bound, so that nobody else gets its port, and does not listen.
    let nobody = TcpSocket::new_v4().unwrap();
    nobody.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = nobody.local_addr().unwrap();
    let controller =
        HttpController::new(&format!("http://{address}"), Secret::new("token")).unwrap();
    let error = controller.health().await.unwrap_err();
    assert_eq!(
        error.message.as_deref(),
        Some("the controller cannot be reached")
    );
    for address in ["", "example.org", "ftp://example.org"] {
        HttpController::new(address, Secret::new("token")).unwrap_err();
    }
}
