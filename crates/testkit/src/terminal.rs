//! A viewer of a terminal, over the same WebSocket as the page.

use std::cell::Cell;

use deskhand_api::terminals::{TerminalMessage, TerminalRequest, TerminalView};
use deskhand_core::terminal::ReadOnly;
use futures::{SinkExt, StreamExt};
use serde_json::json;
use tokio::net::TcpStream;
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::{Session, client::PATIENCE, sockets::closed};

/// The end of earlier output that is searched for a text.
const SEARCHED_BYTES: usize = 256 * 1024;

/// A client that keeps all output.
#[derive(Debug)]
pub struct TerminalClient {
    socket: WebSocketStream<TcpStream>,
    /// The output since the last [`TerminalClient::forget`].
    pub output: Vec<u8>,
    pub terminal: TerminalView,
    pub read_only: Option<ReadOnly>,
    /// The number of times that output was missed.
    pub n_missed: usize,
}

impl TerminalClient {
    /// Opens a new terminal and connects to it.
    pub async fn open(session: &Session) -> Self {
        Self::open_with(session, json!({})).await
    }

    /// Opens a terminal with these settings and connects to it.
    pub async fn open_with(session: &Session, body: serde_json::Value) -> Self {
        let opened = session.client.post(&session.path("/terminals"), body).await;
        assert_eq!(opened.status, 201, "{}", opened.json());
        Self::attach(session, opened.view::<TerminalView>().number).await
    }

    /// Connects to a terminal.
    pub async fn attach(session: &Session, number: u32) -> Self {
        Self::attach_at(session, &format!("/terminals/{number}")).await
    }

    /// Connects to the terminal at this path.
    pub async fn attach_at(session: &Session, path: &str) -> Self {
        let mut socket = session.client.socket(&session.path(path)).await;
        let first = tokio::time::timeout(PATIENCE, socket.next());
        let first = first.await.expect("a first message").unwrap().unwrap();
        let first = serde_json::from_str(first.to_text().unwrap()).unwrap();
        let TerminalMessage::State {
            terminal,
            read_only,
        } = first
        else {
            panic!("the first message is the state: {first:?}");
        };
        Self {
            socket,
            output: Vec::new(),
            terminal,
            read_only,
            n_missed: 0,
        }
    }

    pub async fn type_in(&mut self, text: &str) {
        let message = Message::binary(text.as_bytes().to_vec());
        self.socket.send(message).await.unwrap();
    }

    pub async fn resize(&mut self, cols: u16, rows: u16) {
        let request = TerminalRequest::Resize { cols, rows };
        let text = serde_json::to_string(&request).unwrap();
        self.socket.send(Message::text(text)).await.unwrap();
    }

    /// Waits until the output contains a text, and returns all of it.
    pub async fn until(&mut self, text: &str) -> String {
        // Output that was searched is not searched again, since a test may print a lot.
        let searched = Cell::new(self.output.len().saturating_sub(SEARCHED_BYTES));
        let is_there = |it: &Self| {
            let from = searched.replace(it.output.len());
            contains(&it.output[from.saturating_sub(text.len())..], text)
        };
        self.wait(&format!("{text:?}"), is_there).await;
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// Waits until the state matches.
    pub async fn until_state(&mut self, wanted: impl Fn(&Self) -> bool) {
        self.wait("another state", wanted).await;
    }

    /// Forgets the output so far.
    pub fn forget(&mut self) {
        self.output.clear();
    }

    /// Waits until the server closes the connection. Returns the code and the reason.
    pub async fn closed(&mut self) -> (u16, String) {
        closed(&mut self.socket).await
    }

    async fn wait(&mut self, what: &str, is_there: impl Fn(&Self) -> bool) {
        let waiting = async {
            while !is_there(self) {
                self.read().await;
            }
        };
        if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
            let shown = String::from_utf8_lossy(&self.output);
            let end = shown.char_indices().rev().nth(2000).map_or(0, |(at, _)| at);
            panic!(
                "{what} did not come; the last output was {:?}",
                &shown[end..]
            );
        }
    }

    async fn read(&mut self) {
        let message = self.socket.next().await;
        match message.expect("the terminal is there").unwrap() {
            Message::Binary(bytes) => self.output.extend_from_slice(&bytes),
            Message::Text(text) => match serde_json::from_str(&text).unwrap() {
                TerminalMessage::State {
                    terminal,
                    read_only,
                } => {
                    self.terminal = terminal;
                    self.read_only = read_only;
                }
                TerminalMessage::Replay { missed } => self.n_missed += usize::from(missed),
            },
            Message::Ping(_) | Message::Pong(_) => {}
            other @ (Message::Close(_) | Message::Frame(_)) => {
                panic!("an unexpected message: {other:?}")
            }
        }
    }
}

fn contains(output: &[u8], text: &str) -> bool {
    let text = text.as_bytes();
    output.windows(text.len()).any(|window| window == text)
}
