//! Somebody who hears a session's computer, over the same WebSocket as the page.

use deskhand_core::sound::SoundFrame;
use futures::StreamExt;
use tokio::net::TcpStream;
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::{Client, Session, client::PATIENCE, sockets::closed};

/// A client that takes frames of sound.
#[derive(Debug)]
pub struct Listener {
    socket: WebSocketStream<TcpStream>,
}

impl Listener {
    /// Starts listening.
    pub async fn open(session: &Session) -> Self {
        Self::at(&session.client, &session.path("/sound")).await
    }

    /// Starts listening at a path.
    pub async fn at(client: &Client, path: &str) -> Self {
        Self {
            socket: client.socket(path).await,
        }
    }

    /// Returns the next frame.
    pub async fn next(&mut self) -> SoundFrame {
        let next = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Binary(bytes))) => return SoundFrame::parse(bytes).unwrap(),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    other => panic!("the sound ended: {other:?}"),
                }
            }
        };
        let next = tokio::time::timeout(PATIENCE, next).await;
        next.expect("a frame in time")
    }

    /// Waits until the server closes the connection. Returns the code and the reason.
    pub async fn closed(&mut self) -> (u16, String) {
        closed(&mut self.socket).await
    }
}
