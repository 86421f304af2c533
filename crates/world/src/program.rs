//! Programs in sandboxes that call models through the gateway.

use bytes::Bytes;
use deskhand_core::{
    gateway::{Entrance, GatewayConnection},
    id::SessionId,
    sandbox::ByteStream,
    secret::Secret,
};
use futures::{SinkExt, StreamExt, channel::mpsc};

const TOKEN: &str = "dhg_program";

/// A program in the sandbox of a session.
#[derive(Debug, Clone)]
pub struct Program {
    pub(crate) entrance: Entrance,
    pub(crate) session: SessionId,
}

/// The answer to a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramAnswer {
    pub status: u16,
    /// The body as it was sent, with the marks of its pieces.
    pub body: String,
}

/// A request whose body does not come. The connection is closed on drop.
#[derive(Debug)]
pub struct HeldRequest {
    _connection: Connection,
}

/// A connection to the gateway.
#[derive(Debug)]
struct Connection {
    to_server: mpsc::UnboundedSender<Bytes>,
    from_server: mpsc::UnboundedReceiver<Bytes>,
}

impl Program {
    /// Sends a request and returns its whole answer.
    pub async fn ask(&self, path: &str, body: &str) -> ProgramAnswer {
        let mut connection = self.connect();
        let head = head(path, body.len(), "connection: close");
        connection.send(&head);
        connection.send(body);
        let heard = connection.until(|_| false).await;
        let (head, body) = heard.split_once("\r\n\r\n").unwrap_or((&heard, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        ProgramAnswer {
            status: status.unwrap_or_default(),
            body: body.to_owned(),
        }
    }

    /// Announces a request of `length` bytes and sends none of them. Returns when the gateway waits for them.
    pub async fn hold(&self, path: &str, length: usize) -> HeldRequest {
        let mut connection = self.connect();
        connection.send(&head(path, length, "expect: 100-continue"));
        let heard = connection.until(|heard| heard.contains("\r\n\r\n")).await;
        assert!(heard.starts_with("HTTP/1.1 100 "), "{heard}");
        HeldRequest {
            _connection: connection,
        }
    }

    fn connect(&self) -> Connection {
        let (to_server, incoming) = mpsc::unbounded();
        let (outgoing, from_server) = mpsc::unbounded();
        let stream = ByteStream {
            incoming: Box::pin(incoming),
            outgoing: Box::pin(outgoing.sink_map_err(std::io::Error::other)),
        };
        let is_taken = self.entrance.bring(GatewayConnection {
            session: self.session,
            token: Secret::new(TOKEN),
            stream,
        });
        assert!(is_taken, "the gateway takes connections");
        Connection {
            to_server,
            from_server,
        }
    }
}

impl Connection {
    fn send(&self, text: &str) {
        // A gateway that has refused the request may have hung up.
        let _ = self
            .to_server
            .unbounded_send(Bytes::copy_from_slice(text.as_bytes()));
    }

    /// Reads until this is enough, or to the end.
    async fn until(&mut self, is_enough: impl Fn(&str) -> bool) -> String {
        let mut heard = String::new();
        while let Some(piece) = self.from_server.next().await {
            heard.push_str(&String::from_utf8_lossy(&piece));
            if is_enough(&heard) {
                break;
            }
        }
        heard
    }
}

fn head(path: &str, length: usize, more: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{more}\r\n\r\n"
    )
}
