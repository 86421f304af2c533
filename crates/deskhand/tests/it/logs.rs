//! What the server logs of a request: its name, its session, and no secret.

use deskhand_testkit::{Server, ServerOptions, eventually};
use reqwest::Response;

use crate::world::serve_with;

const HEADER: &str = "x-request-id";
const SESSION: &str = "01234567-89ab-7cde-8f01-23456789abcd";

#[tokio::test]
async fn the_log_names_the_request_and_its_session_in_text_and_in_json() {
    for format in ["text", "json"] {
        let server = logging(format);
        // Without its database every request fails, and says so in the log.
        for file in ["deskhand.db", "deskhand.db-wal"] {
            std::fs::write(server.data_dir().join(file), "no database").unwrap();
        }
        let answer = ask(&server, &format!("/api/sessions/{SESSION}"), "my.request-1").await;
        assert_eq!(answer.status(), 500);
        assert_eq!(answer.headers()[HEADER], "my.request-1");
        eventually("the failure is logged with its request", || {
            let log = server.log();
            let mut lines = log.lines();
            lines.any(|line| {
                let parts = ["a request failed", "my.request-1", SESSION];
                parts.iter().all(|part| line.contains(part))
            })
        });
        assert!(!server.log().contains(&server.token()));
    }
}

#[tokio::test]
async fn a_request_without_a_sane_name_gets_one() {
    let server = logging("text");
    for name in ["", "a b", "\"", &"x".repeat(65)] {
        let answer = ask(&server, "/api/me", name).await;
        let given = answer.headers()[HEADER].to_str().unwrap();
        assert_ne!(given, name);
        assert_eq!(given.len(), 36, "{given}");
    }
    let page = ask(&server, "/", "the-page").await;
    assert_eq!(page.headers()[HEADER], "the-page");
}

fn logging(format: &str) -> Server {
    serve_with(ServerOptions {
        variables: vec![("DESKHAND_LOG_FORMAT".to_owned(), format.to_owned())],
        ..ServerOptions::default()
    })
}

async fn ask(server: &Server, path: &str, name: &str) -> Response {
    reqwest::Client::builder()
        .no_proxy()
        .build()
        .unwrap()
        .get(format!("{}{path}", server.url()))
        .bearer_auth(server.token())
        .header(HEADER, name)
        .send()
        .await
        .unwrap()
}
