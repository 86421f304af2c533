//! A stand-in for Discord's web client, over TLS: a form to sign in, a channel, and a page that measures what is shared.

use std::{
    fs,
    sync::{Arc, Mutex, MutexGuard},
};

use deskhand_core::tasks::Tasks;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::TcpListener,
};

use crate::tls::HostTls;

pub(super) const NAME: &str = "client.test";
pub(super) const EMAIL: &str = "jamie@streams.test";
pub(super) const PASSWORD: &str = "Canary-51-of-a-password";
pub(super) const CHANNEL: &str = "/channels/123456789012345678/987654321098765432";
const PAGE: &str = include_str!("client.html");

/// The answer to the right password.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SignInAnswer {
    #[default]
    Welcome,
    Captcha,
    SecondFactor,
    /// The same as to a wrong password.
    Wrong,
}

/// The measurements of the page.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Received {
    /// The pictures that arrived.
    pub(super) frames: u64,
    /// The places of the bar, from left to right in 64 steps.
    pub(super) places: Vec<u8>,
    /// The largest part of a picture that had the video's blue.
    pub(super) blue: f64,
    /// The loudest tone.
    pub(super) hertz: f64,
}

#[derive(Debug, Default)]
pub(super) struct StandInState {
    pub(super) sign_in: SignInAnswer,
    pub(super) has_channel: bool,
    pub(super) refuses_share: bool,
    /// How often the right password came.
    pub(super) n_sign_ins: u64,
    /// True if somebody has tried to get past a CAPTCHA or a second factor.
    pub(super) is_touched: bool,
    /// Grows to drop the connection of the page.
    pub(super) n_drops: u64,
    pub(super) events: Vec<String>,
    pub(super) received: Received,
}

/// The stand-in, until it is dropped.
pub(super) struct StandIn {
    pub(super) url: String,
    /// Has the certificate of its authority, `ca.pem`.
    pub(super) folder: tempfile::TempDir,
    state: Arc<Mutex<StandInState>>,
    tasks: Tasks,
}

impl StandIn {
    pub(super) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tls = HostTls::of(NAME);
        fs::write(folder.path().join("ca.pem"), &tls.authority).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(StandInState {
            has_channel: true,
            ..StandInState::default()
        }));
        let (tasks, shared) = (Tasks::default(), Arc::clone(&state));
        let all = tasks.clone();
        tasks.spawn("stand-in", async move {
            let end = all.shutdown().clone();
            while let Some(Ok((stream, _))) = end.run_until_cancelled(listener.accept()).await {
                let (acceptor, state, end) =
                    (tls.acceptor.clone(), Arc::clone(&shared), end.clone());
                all.spawn("stand-in connection", async move {
                    let serving = async {
                        if let Ok(stream) = acceptor.accept(stream).await {
                            // A browser that goes away needs no answer.
                            drop(serve(stream, &state).await);
                        }
                    };
                    end.run_until_cancelled(serving).await;
                });
            }
        });
        Self {
            url: format!("https://{NAME}:{port}"),
            folder,
            state,
            tasks,
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, StandInState> {
        self.state.lock().unwrap()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.tasks.shutdown().cancel();
    }
}

/// Answers requests until the connection ends.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    state: &Mutex<StandInState>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).await? == 0 {
                return Ok(());
            }
        }
        let lower = head.to_lowercase();
        let length = lower
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length = length.and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body).await?;
        let answer = answer(&head, &body, &mut state.lock().unwrap());
        stream.get_mut().write_all(&answer).await?;
        stream.get_mut().flush().await?;
    }
}

fn answer(head: &str, body: &[u8], state: &mut StandInState) -> Vec<u8> {
    let path = head.split(' ').nth(1).unwrap_or_default();
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let (kind, cookie, body) = match path {
        "/login" if head.starts_with("POST") => {
            let (answer, cookie) = sign_in(&body, state);
            let cookie = cookie.then_some(
                "Set-Cookie: account=jamie; Max-Age=86400; Path=/; Secure; HttpOnly\r\n",
            );
            (
                "application/json",
                cookie,
                json!({"answer": answer}).to_string(),
            )
        }
        "/touched" => {
            state.is_touched = true;
            ("application/json", None, "{}".to_owned())
        }
        "/event" => {
            let event = body["event"].as_str().unwrap_or_default();
            state.events.push(event.to_owned());
            ("application/json", None, "{}".to_owned())
        }
        "/report" => {
            state.received = serde_json::from_value(body).unwrap_or_default();
            let drops = json!({"n_drops": state.n_drops});
            ("application/json", None, drops.to_string())
        }
        _ => {
            let is_signed_in = head.to_lowercase().contains("cookie: account=jamie");
            ("text/html; charset=utf-8", None, page(is_signed_in, state))
        }
    };
    let cookie = cookie.unwrap_or_default();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n{cookie}\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// Judges a sign-in. Returns the page's word for it, and true if the account is signed in.
fn sign_in(body: &Value, state: &mut StandInState) -> (&'static str, bool) {
    if body["email"] != EMAIL || body["password"] != PASSWORD {
        return ("wrong", false);
    }
    state.n_sign_ins += 1;
    match state.sign_in {
        SignInAnswer::Welcome => ("welcome", true),
        SignInAnswer::Captcha => ("captcha", false),
        SignInAnswer::SecondFactor => ("second_factor", false),
        SignInAnswer::Wrong => ("wrong", false),
    }
}

fn page(is_signed_in: bool, state: &StandInState) -> String {
    let other = json!({"path": "/channels/123456789012345678/1", "name": "Lobby"});
    let wanted = json!({"path": CHANNEL, "name": "Movie Night"});
    let channels = match state.has_channel {
        true => vec![other, wanted],
        false => vec![other],
    };
    let facts = json!({
        "isSignedIn": is_signed_in,
        "refusesShare": state.refuses_share,
        "channel": CHANNEL,
        "channels": channels,
    });
    PAGE.replace("= STATE;", &format!("= {facts};"))
}
