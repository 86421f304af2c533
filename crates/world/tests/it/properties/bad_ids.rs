use deskhand_testkit::{Answer, Client, Operation};
use deskhand_world::{World, WorldOptions};
use proptest::{prelude::*, sample::Index};
use reqwest::Method;
use serde_json::{Value, json};

use super::for_all;

/// Any part of a path that is not the session.
const SOMETHING: &str = "0190163d-8694-739b-aea5-966c26f8ad91";

#[derive(Debug, Clone)]
enum BadId {
    /// Well formed, and nobody's.
    Unknown(String),
    /// Somebody else's.
    Foreign,
    /// An id with a mistake.
    Mistyped { at: Index, with: char },
    /// Whatever may stand in a path.
    Nonsense(String),
}

fn bad_id() -> impl Strategy<Value = BadId> {
    let mistyped = (any::<Index>(), "[g-z+ %]").prop_map(|(at, with)| BadId::Mistyped {
        at,
        with: with.chars().next().unwrap(),
    });
    let nonsense = prop_oneof!["[a-zA-Z0-9_-]{1,50}", r"\PC{1,20}", "-?[0-9]{1,30}"]
        .prop_filter("that is another path", |text| {
            !matches!(&**text, "." | "..")
        });
    prop_oneof![
        "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}".prop_map(BadId::Unknown),
        Just(BadId::Foreign),
        mistyped,
        nonsense.prop_map(BadId::Nonsense),
    ]
}

struct Stranger {
    // Kept for its end.
    _world: World,
    client: Client,
    operations: Vec<Operation>,
    foreign: String,
}

async fn open(options: WorldOptions) -> Stranger {
    let world = World::with(options).await;
    let admin = world.client();
    let foreign = admin.new_session("scripted/demo").await.id;
    let mut operations = admin.document().await.operations();
    operations.retain(|operation| operation.path.starts_with("/api/sessions/{"));
    Stranger {
        client: admin.new_user("bob").await,
        operations,
        foreign,
        _world: world,
    }
}

/// **Feature: computer-use-backend, Property 3: Error handling for invalid inputs**
///
/// Whatever is asked of a session that is not there, or not there for the caller, is refused as
/// not found, in the one shape of all problems, and nobody learns which of the two it is.
#[test]
fn every_route_refuses_every_session_that_is_not_there() {
    let cases = (bad_id(), any::<Index>());
    for_all(
        &cases,
        &open,
        &async |stranger: &mut Stranger, (bad, which)| {
            let id = match &bad {
                BadId::Unknown(id) => id.clone(),
                BadId::Foreign => stranger.foreign.clone(),
                BadId::Mistyped { at, with } => {
                    let at = at.index(stranger.foreign.len());
                    let mut id = stranger.foreign.clone();
                    id.replace_range(at..=at, &with.to_string());
                    id
                }
                BadId::Nonsense(text) => text.clone(),
            };
            let operation = which.get(&stranger.operations);
            let answer = ask(&stranger.client, operation, &id).await;
            let told = format!("{} {}: {answer:?}", operation.method, operation.path);
            assert_eq!(answer.status, 404, "{told}");
            let error = &answer.json()["error"];
            assert!(
                error["message"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "{told}"
            );
            let told_if_unknown = match bad {
                BadId::Unknown(_) => return assert_eq!(answer.code(), "no_session"),
                BadId::Mistyped { .. } | BadId::Nonsense(_) => return,
                BadId::Foreign => ask(&stranger.client, operation, SOMETHING).await,
            };
            let same = String::from_utf8(told_if_unknown.body).unwrap();
            let text = String::from_utf8(answer.body).unwrap();
            assert_eq!(
                text,
                same.replace(SOMETHING, &id),
                "no difference can be seen"
            );
        },
    );
}

async fn ask(client: &Client, operation: &Operation, id: &str) -> Answer {
    let (begin, rest) = operation.path.split_once("{id}").unwrap();
    let mut path = format!("{begin}{}", escaped(id));
    // What else the path names.
    for (n, part) in rest.split(['{', '}']).enumerate() {
        path.push_str(match part {
            "seq" | "n" | "port" if n % 2 == 1 => "1",
            _ if n % 2 == 1 => SOMETHING,
            part => part,
        });
    }
    if operation.method == "POST" && rest == "/attachments" {
        path.push_str("?name=a.txt");
    }
    let is_socket = ["/stream", "/vnc", "/terminals/{n}"]
        .iter()
        .any(|end| operation.path.ends_with(end));
    if is_socket && operation.method == "GET" {
        return client.upgrade(&path).await;
    }
    let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
    let body = body(operation).map(|body| body.to_string().into_bytes());
    client.send(method, &path, body).await
}

/// A good body, where one is needed.
fn body(operation: &Operation) -> Option<Value> {
    operation.description.get("requestBody")?;
    let (_, rest) = operation.path.split_once("{id}").unwrap();
    match (operation.method.as_str(), rest) {
        ("PATCH", "") => Some(json!({"title": "named"})),
        ("POST", "/messages") | ("PATCH", "/queue/{message}") => Some(json!({"content": "hello"})),
        ("POST", "/actions") => {
            Some(json!({"tool": "bash", "input": {"shell": "run", "command": "true"}}))
        }
        ("POST", "/shares") | ("PUT", "/people/{user}") => Some(json!({"right": "view"})),
        ("POST", "/files/{path}") => Some(json!({"action": "make_folder"})),
        ("PUT", "/files/{path}") => Some(json!("the text of a file")),
        ("POST", "/terminals" | "/watch-links") => Some(json!({})),
        ("PATCH", "/terminals/{n}") => Some(json!({"name": "another"})),
        ("POST", "/attachments") => Some(json!("the content of a file")),
        ("PUT", "/clipboard") => Some(json!({"text": "copied"})),
        ("PUT", "/lease") => Some(json!({"seconds": 60})),
        ("POST", "/decisions/{decision}/answer") => Some(json!({"yes": true})),
        other => panic!("what would be a good body for {other:?}?"),
    }
}

/// As it stands in a path.
fn escaped(id: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    id.bytes().map(byte).collect()
}
