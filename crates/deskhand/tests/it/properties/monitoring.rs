use std::collections::BTreeMap;

use deskhand_testkit::{Client, Server, ServerOptions, Session, eventually};
use futures::future::join_all;
use proptest::{collection::vec, prelude::*};
use reqwest::Method;
use serde_json::{Value, json};

use super::{for_all, knowing, without_computers};
use crate::world::serve_with;

const SPEAKS: &str = "chunk_delay_ms: 0\nsteps:\n  - text: Hello.\n";
const BREAKS: &str = "steps:\n  - error: {kind: rejected, message: no more}\n";

/// Something that is asked of the server.
#[derive(Debug, Clone, Copy)]
enum Wish {
    List,
    Show,
    Rename,
    /// The agent answers.
    Speak,
    /// The agent's model fails.
    Break,
    Malformed,
    Unknown,
    Unsigned,
    NoRoute,
    NoMethod,
}

fn wish() -> impl Strategy<Value = Wish> {
    use Wish::{Break, List, Malformed, NoMethod, NoRoute, Rename, Show, Speak, Unknown, Unsigned};
    proptest::sample::select(vec![
        List, Show, Rename, Speak, Break, Malformed, Unknown, Unsigned, NoRoute, NoMethod,
    ])
}

/// What was asked, and what must be told of it.
#[derive(Debug)]
struct Asked {
    method: Method,
    path: String,
    body: Option<Value>,
    route: &'static str,
    status: u16,
    session: Option<String>,
    signed: bool,
}

impl Wish {
    fn ask(self, speaks: &Session, breaks: &Session) -> Asked {
        const ONE: &str = "/api/sessions/{id}";
        const MESSAGES: &str = "/api/sessions/{id}/messages";
        const NOBODY: &str = "0190163d-8694-739b-aea5-966c26f8ad91";
        let said = Some(json!({"content": "go"}));
        let (method, path, body, route, status) = match self {
            Self::List => (
                Method::GET,
                "/api/sessions".to_owned(),
                None,
                "/api/sessions",
                200,
            ),
            Self::Show => (Method::GET, speaks.path(""), None, ONE, 200),
            Self::Rename => {
                let title = Some(json!({"title": "named"}));
                (Method::PATCH, speaks.path(""), title, ONE, 200)
            }
            Self::Speak => (Method::POST, speaks.path("/messages"), said, MESSAGES, 202),
            Self::Break => (Method::POST, breaks.path("/messages"), said, MESSAGES, 202),
            Self::Malformed => {
                let nothing = Some(json!([1]));
                (
                    Method::POST,
                    speaks.path("/messages"),
                    nothing,
                    MESSAGES,
                    400,
                )
            }
            Self::Unknown => (
                Method::GET,
                format!("/api/sessions/{NOBODY}"),
                None,
                ONE,
                404,
            ),
            Self::Unsigned => (Method::GET, speaks.path(""), None, ONE, 401),
            Self::NoRoute => (Method::GET, "/api/nothing".to_owned(), None, "page", 404),
            Self::NoMethod => (Method::PUT, speaks.path(""), None, ONE, 405),
        };
        let session = path
            .strip_prefix("/api/sessions/")
            .map(|rest| rest[..36].to_owned());
        Asked {
            method,
            path,
            body,
            route,
            status,
            session,
            signed: !matches!(self, Self::Unsigned),
        }
    }
}

struct World {
    server: Server,
    http: reqwest::Client,
    n_cases: u32,
    n_sessions: u32,
}

async fn open(options: ServerOptions) -> World {
    let scenarios = [("speaks", SPEAKS), ("breaks", BREAKS)];
    let mut options = without_computers(knowing(options, &scenarios));
    for (name, value) in [("FORMAT", "json"), ("LEVEL", "info,deskhand_server=debug")] {
        let name = format!("DESKHAND_LOG_{name}");
        options.variables.push((name, value.to_owned()));
    }
    World {
        server: serve_with(options),
        http: reqwest::Client::builder().no_proxy().build().unwrap(),
        n_cases: 0,
        n_sessions: 0,
    }
}

impl World {
    /// Asks under a name of its own.
    async fn ask(&self, asked: &Asked, name: &str) {
        let url = format!("{}{}", self.server.url(), asked.path);
        let mut request = self.http.request(asked.method.clone(), url);
        request = request.header("x-request-id", name);
        if asked.signed {
            request = request.bearer_auth(self.server.token());
        }
        if let Some(body) = &asked.body {
            request = request.body(body.to_string());
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), asked.status, "{asked:?}");
    }

    /// Lines of the log with this text in them.
    fn lines(&self, text: &str) -> Vec<Value> {
        let log = self.server.log();
        let lines = log.lines().filter(|line| line.contains(text));
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// **Feature: computer-use-backend, Property 8: System monitoring and logging**
///
/// Whatever is asked, also at once and also in vain, leaves one line in the log with its name, its
/// session and what came of it, and is counted once; every turn leaves its beginning, its end and its
/// outcome; figures and health say how things are.
#[test]
fn everything_that_happens_is_logged_and_counted_once() {
    for_all(
        &vec(wish(), 1..12),
        &open,
        &async |world: &mut World, wishes| {
            world.n_cases += 1;
            world.n_sessions += 2;
            let client = world.server.client();
            let speaks = client.new_session("scripted/speaks").await;
            let breaks = client.new_session("scripted/breaks").await;
            let before = figures(&client).await;
            let asked: Vec<_> = wishes
                .iter()
                .map(|wish| wish.ask(&speaks, &breaks))
                .collect();
            let name = |n: usize| format!("case-{}.{n}.", world.n_cases);
            let asking = asked.iter().enumerate();
            join_all(asking.map(async |(n, asked)| world.ask(asked, &name(n)).await)).await;
            let count =
                |wanted: fn(&Wish) -> bool| wishes.iter().filter(|wish| wanted(wish)).count();
            let n_spoken = count(|wish| matches!(wish, Wish::Speak));
            let n_broken = count(|wish| matches!(wish, Wish::Break));
            for (session, n_turns) in [(&speaks, n_spoken), (&breaks, n_broken)] {
                let mut end = 0;
                for _ in 0..n_turns {
                    end = session.turn_end(end).await.seq;
                }
            }

            for (n, asked) in asked.iter().enumerate() {
                check_line(world, asked, &name(n));
            }
            for (session, n_turns, outcome) in
                [(&speaks, n_spoken, "done"), (&breaks, n_broken, "failed")]
            {
                eventually("every turn is logged", || {
                    let lines = world.lines(&session.id);
                    let count =
                        |text: &str| lines.iter().filter(|line| line["message"] == text).count();
                    count("a turn began") == n_turns && count("a turn ended") == n_turns
                });
                let lines = world.lines(&session.id);
                let mut ends = lines
                    .iter()
                    .filter(|line| line["message"] == "a turn ended");
                assert!(ends.all(|line| line["outcome"] == outcome), "{lines:?}");
            }

            let after = figures(&client).await;
            let mut expected = BTreeMap::new();
            for Asked {
                route,
                method,
                status,
                ..
            } in &asked
            {
                let name = format!(
                    r#"deskhand_http_requests_total{{route="{route}",method="{method}",status="{status}"}}"#
                );
                *expected.entry(name).or_insert(0.0) += 1.0;
            }
            for (outcome, n_turns) in [("done", n_spoken), ("failed", n_broken)] {
                let name =
                    format!(r#"deskhand_turn_duration_seconds_count{{outcome="{outcome}"}}"#);
                if n_turns > 0 {
                    expected.insert(name, n_turns as f64);
                }
            }
            assert_eq!(grown(&before, &after), expected);
            let states = after
                .iter()
                .filter(|(name, _)| name.starts_with("deskhand_sessions{"));
            assert_eq!(
                states.map(|(_, n)| n).sum::<f64>(),
                f64::from(world.n_sessions)
            );
            assert_eq!(after["deskhand_waiting_prompts"], 0.0);
            check_health(&client).await;
            assert!(!world.server.log().contains(&world.server.token()));
        },
    );
}

/// One line says what came of a request.
fn check_line(world: &World, asked: &Asked, name: &str) {
    eventually("the request is logged", || !world.lines(name).is_empty());
    let lines = world.lines(name);
    let [line] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(line["message"], "a request was answered");
    assert_eq!(line["status"], asked.status, "{line}");
    assert!(line["duration_ms"].is_number(), "{line}");
    let span = &line["span"];
    assert_eq!(span["request.id"], name, "{line}");
    assert_eq!(span["method"], asked.method.as_str(), "{line}");
    assert_eq!(
        span["session.id"].as_str(),
        asked.session.as_deref(),
        "{line}"
    );
}

/// It has a database and no computers.
async fn check_health(client: &Client) {
    let health = client.with_token("").get("/health").await.good();
    assert_eq!(health["status"], "degraded", "{health}");
    assert_eq!(health["parts"]["database"]["status"], "healthy", "{health}");
    assert_eq!(
        health["parts"]["sandboxes"]["status"], "degraded",
        "{health}"
    );
}

/// The figures by name and labels.
async fn figures(client: &Client) -> BTreeMap<String, f64> {
    let text = String::from_utf8(client.get("/metrics").await.body).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let figures = lines.filter_map(|line| line.rsplit_once(' '));
    figures
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

/// What was counted meanwhile of requests and turns, but for what this test does to find out.
fn grown(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let counted = after.iter().filter(|(name, _)| {
        let is_ours =
            name.contains("/metrics") || name.contains("/stream") || name.contains("/health");
        let is_count = name.starts_with("deskhand_http_requests_total")
            || name.starts_with("deskhand_turn_duration_seconds_count");
        is_count && !is_ours
    });
    let grown = counted.map(|(name, value)| {
        let before = before.get(name).copied().unwrap_or_default();
        (name.clone(), value - before)
    });
    grown.filter(|(_, growth)| *growth > 0.0).collect()
}
