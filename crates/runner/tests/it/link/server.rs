//! A fake server, which a real runner dials.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    computer::ComputerKind,
    id::RequestId,
    sandbox::{Actor, RunnerRequest},
    secret::Secret,
    tasks::Tasks,
};
use deskhand_runner::{RunError, run};
use deskhand_runner_protocol::{CONTROL_PATH, FromRunner, Outcome, RunnerConfig, ToRunner};
use futures::{SinkExt, StreamExt};
use tempfile::TempDir;
use tokio::{
    net::{UnixListener, UnixStream},
    task::JoinHandle,
};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async,
    tungstenite::{Message, handshake::server},
};

const TOKEN: &str = "a token for the test";
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
pub(super) const SCREEN: ScreenSize = ScreenSize {
    width: 640,
    height: 480,
};

/// A server that a runner dials.
pub(super) struct Server {
    listener: UnixListener,
    pub(super) runner: JoinHandle<Result<(), RunError>>,
    folder: TempDir,
}

/// The server's end of a connection from the runner.
pub(super) struct Connection {
    pub(super) path: String,
    pub(super) socket: WebSocketStream<UnixStream>,
}

impl Server {
    pub(super) fn start() -> Self {
        Self::start_with(SCREEN)
    }

    pub(super) fn start_with(screen: ScreenSize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("server.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let config = RunnerConfig {
            variables: Default::default(),
            socket: socket.to_str().unwrap().to_owned(),
            token: Secret::new(TOKEN),
            computer: ComputerKind::Desktop,
            screen,
            settle_quiet_ms: 20,
            settle_max_ms: 500,
            shell_output_bytes: 64 * 1024,
            browser_scripts: false,
            browser: Vec::new(),
            is_alone: false,
            gateway: None,
            network: None,
            network_connections: 0,
            code: Vec::new(),
        };
        let runner = Tasks::default().spawn("runner", run(config, None));
        Self {
            listener,
            runner,
            folder,
        }
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) async fn accept(&self) -> Connection {
        let accept = async {
            let (stream, _) = self.listener.accept().await.unwrap();
            let mut path = String::new();
            #[expect(clippy::result_large_err, reason = "the type is the library's")]
            let socket = accept_hdr_async(stream, |request: &server::Request, response| {
                assert_eq!(
                    request.headers()["authorization"],
                    format!("Bearer {TOKEN}")
                );
                request.uri().path().clone_into(&mut path);
                Ok(response)
            });
            let socket = socket.await.unwrap();
            Connection { path, socket }
        };
        tokio::time::timeout(PATIENCE, accept).await.unwrap()
    }

    /// Accepts a control link and waits until the runner is ready.
    pub(super) async fn ready(&self) -> Connection {
        let mut control = self.accept().await;
        assert_eq!(control.path, CONTROL_PATH);
        assert_eq!(control.next().await.0, FromRunner::Ready { screen: SCREEN });
        control
    }

    /// Ends the runner and waits for it.
    pub(super) async fn stop(self) {
        self.runner.abort();
        assert!(self.runner.await.unwrap_err().is_cancelled());
    }
}

impl Connection {
    pub(super) async fn send(&mut self, message: &ToRunner) {
        let message = message.clone().pack().unwrap();
        self.socket.send(Message::Binary(message)).await.unwrap();
    }

    pub(super) async fn request(&mut self, request: RunnerRequest) -> RequestId {
        self.request_by(Actor::Agent, request).await
    }

    pub(super) async fn request_by(&mut self, actor: Actor, request: RunnerRequest) -> RequestId {
        let id = RequestId::new();
        self.send(&ToRunner::Request { id, actor, request }).await;
        id
    }

    pub(super) async fn bytes(&mut self) -> Bytes {
        let message = tokio::time::timeout(PATIENCE, self.socket.next())
            .await
            .unwrap();
        let message = message.unwrap().unwrap();
        assert!(message.is_binary(), "{message:?}");
        message.into_data()
    }

    /// Returns the next message that is not about ports, which come and go on the machine of the tests.
    pub(super) async fn next(&mut self) -> (FromRunner, Bytes) {
        loop {
            let message = FromRunner::unpack(&self.bytes().await).unwrap();
            if !matches!(message.0, FromRunner::Ports { .. }) {
                return message;
            }
        }
    }

    /// Returns the next result, and skips all other messages.
    pub(super) async fn result(&mut self) -> (RequestId, Outcome) {
        loop {
            if let (FromRunner::Result { id, outcome }, _) = self.next().await {
                return (id, outcome);
            }
        }
    }

    /// Waits until the runner has confirmed this lease holder.
    pub(super) async fn lease_holder_set(&mut self, wanted: u64) {
        let is_it = |message| matches!(message, FromRunner::LeaseHolderSet { number, .. } if number == wanted);
        while !is_it(self.next().await.0) {}
    }

    pub(super) async fn outcome_of(&mut self, request: RunnerRequest) -> Outcome {
        let asked = self.request(request).await;
        let (id, outcome) = self.result().await;
        assert_eq!(id, asked);
        outcome
    }
}
