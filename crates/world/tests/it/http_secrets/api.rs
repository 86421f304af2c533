//! A host of the test that wants a token, and programs that call it.

use std::sync::{Arc, Mutex};

use deskhand_core::{event::EventBody, id::SessionId, network::NetworkAnswer};
use deskhand_testkit::{Client, Session, sandboxes::FakeCommand};
use deskhand_world::{SandboxLine, World};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

pub(super) const VALUE: &str = "canary-5d1e-of-alice";
pub(super) const SITE: &str = "http://api.example";
const ADDRESS: &str = "93.184.216.34";

/// An agent that works until it is stopped.
const WORK: &str = r#"
steps:
  - text: "I work."
    calls:
      - bash: {command: "work"}
  - text: "Done."
"#;
/// An agent that tries to type the secret.
const FILL: &str = r#"
steps:
  - calls:
      - fill_secret: {name: api}
  - text: "{{ last_result }}"
"#;

/// Alice's API, and her session, in which Bob may drive.
pub(super) struct Api {
    pub(super) world: World,
    pub(super) alice: Client,
    pub(super) bob: Client,
    /// The requests that the host got.
    pub(super) heard: Arc<Mutex<Vec<String>>>,
}

/// The variable with the stand-in of Alice's secret, and the secret itself.
pub(super) fn secret(value: &str, sites: &[&str]) -> Value {
    let http = json!({"headers": ["Authorization"], "env": "API_TOKEN"});
    json!({"value": value, "origins": sites, "http": http})
}

impl Api {
    pub(super) async fn start() -> Self {
        let world = World::start(&[("work", WORK), ("fill", FILL)]).await;
        let takes = std::time::Duration::from_secs(100_000);
        let work = FakeCommand {
            takes,
            ..FakeCommand::default()
        };
        world.sandboxes().on_command("work", work);
        let heard = Arc::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        serve(listener, Arc::clone(&heard));
        for name in ["api.example", "site.example"] {
            world.internet().name(name, &[ADDRESS]);
        }
        for port in [80, 8080] {
            world.internet().host(&format!("{ADDRESS}:{port}"), address);
        }
        let admin = world.client();
        let (alice, bob) = (admin.new_user("alice").await, admin.new_user("bob").await);
        alice
            .put("/api/secrets/api", secret(VALUE, &[SITE]))
            .await
            .good();
        Self {
            world,
            alice,
            bob,
            heard,
        }
    }

    /// Returns a session of Alice with these approvals, shared with Bob.
    pub(super) async fn session(&self, approvals: Value) -> Session {
        let new = json!({
            "model": "scripted/work", "approvals": approvals, "network": {"mode": "open"},
        });
        let made = self.alice.post("/api/sessions", new).await.good();
        let session = self.alice.session(made["id"].as_str().unwrap());
        let path = session.path("/people/bob");
        let right = json!({"right": "drive"});
        self.alice.put(&path, right).await.good();
        // From here on its desktop runs.
        session.shell("true").await;
        session
    }

    /// Returns a session in which the agent works on a message of Alice.
    pub(super) async fn at_work(&self, approvals: Value) -> Session {
        let session = self.session(approvals).await;
        begin(&session, 0).await;
        session
    }

    /// Returns the stand-in in the running sandbox of a session.
    pub(super) fn stand_in(&self, session: &Session) -> Option<String> {
        let sandbox = self.world.sandboxes().running(id(session))?;
        sandbox.variable("API_TOKEN").map(str::to_owned)
    }

    /// Sends a request of a program with the stand-in in its header, without waiting for the response.
    pub(super) async fn send(&self, session: &Session) -> SandboxLine {
        let stand_in = self.stand_in(session).unwrap();
        let request = format!(
            "GET /user HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer {stand_in}\r\nConnection: close\r\n\r\n"
        );
        self.send_to(session, "api.example", &request).await
    }

    pub(super) async fn send_to(
        &self,
        session: &Session,
        host: &str,
        request: &str,
    ) -> SandboxLine {
        let mut line = self.world.line(id(session));
        assert_eq!(line.connect(host, 80).await, NetworkAnswer::Connected);
        line.send(request.as_bytes());
        line
    }

    /// Sends a request of a program with the stand-in in its header, and returns the response.
    pub(super) async fn call(&self, session: &Session) -> String {
        response(self.send(session).await).await
    }

    pub(super) fn n_heard(&self) -> usize {
        self.heard.lock().unwrap().len()
    }
}

pub(super) fn id(session: &Session) -> SessionId {
    session.id.parse().unwrap()
}

/// Sends a message and waits until the agent works on it.
pub(super) async fn begin(session: &Session, after: u64) {
    session.prompt("go").await;
    let works = |body: &EventBody| matches!(body, EventBody::ToolUse(_));
    session.wait_for(after, works).await;
}

pub(super) async fn response(mut line: SandboxLine) -> String {
    let mut response = Vec::new();
    while let Some(piece) = line.next().await {
        if piece.is_empty() {
            break;
        }
        response.extend_from_slice(&piece);
    }
    String::from_utf8(response).unwrap()
}

/// Answers every request with the `Authorization` that it got.
#[expect(clippy::disallowed_methods, reason = "it ends with the test")]
fn serve(listener: TcpListener, heard: Arc<Mutex<Vec<String>>>) {
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let heard = Arc::clone(&heard);
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = stream.read_u8().await else {
                        return;
                    };
                    head.push(byte);
                }
                let head = String::from_utf8(head).unwrap();
                let lines = head.lines().filter_map(|line| line.split_once(": "));
                let mut lines =
                    lines.filter(|(name, _)| name.eq_ignore_ascii_case("authorization"));
                let (_, credentials) = lines.next().unwrap_or_default();
                let body = format!("hello, {credentials}");
                let length = body.len();
                heard.lock().unwrap().push(head.clone());
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
                stream.write_all(answer.as_bytes()).await.unwrap();
            });
        }
    });
}
