//! A fake HTTP server that plays the part of another machine.

use std::{collections::BTreeMap, io};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// A request that the server received.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    /// The headers, by lower-case name.
    pub headers: BTreeMap<String, String>,
    pub text: String,
    /// The text as JSON, if it is JSON.
    pub body: Value,
}

/// An HTTP server that runs until it is dropped.
#[derive(Debug)]
pub struct Elsewhere {
    pub url: String,
    _hearing: JoinSet<()>,
}

impl Elsewhere {
    /// Answers each request with `answer`, each on its own connection. A client that disconnects is ignored.
    pub async fn start<F>(answer: impl Fn(Asked, Line) -> F + Send + 'static) -> Self
    where
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut hearing = JoinSet::new();
        hearing.spawn(async move {
            let mut talks = JoinSet::new();
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                let mut line = Line(BufReader::new(connection));
                // A client that connects and sends nothing asks nothing.
                if let Some(asked) = line.hear().await {
                    talks.spawn(answer(asked, line));
                }
                while talks.try_join_next().is_some() {}
            }
        });
        Self {
            url,
            _hearing: hearing,
        }
    }
}

/// A connection on which a client waits for an answer.
#[derive(Debug)]
pub struct Line(BufReader<TcpStream>);

impl Line {
    async fn hear(&mut self) -> Option<Asked> {
        let mut line = String::new();
        self.0.read_line(&mut line).await.ok()?;
        let path = line.split(' ').nth(1)?.to_owned();
        let mut headers = BTreeMap::new();
        loop {
            line.clear();
            self.0.read_line(&mut line).await.ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length: usize = headers.get("content-length")?.parse().ok()?;
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.ok()?;
        let text = String::from_utf8(body).ok()?;
        Some(Asked {
            path,
            headers,
            body: serde_json::from_str(&text).unwrap_or_default(),
            text,
        })
    }

    /// Answers with a whole text. `status` is the code and its reason phrase.
    pub async fn whole(self, status: &str, headers: &[(&str, &str)], text: &str) -> io::Result<()> {
        self.part(status, headers, text, text.len()).await
    }

    /// Closes the connection after `n_sent` bytes of the text.
    pub async fn part(
        mut self,
        status: &str,
        headers: &[(&str, &str)],
        text: &str,
        n_sent: usize,
    ) -> io::Result<()> {
        let headers = headers.iter();
        let headers: String = headers
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let length = text.len();
        let head = format!(
            "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        self.0.write_all(head.as_bytes()).await?;
        self.0.write_all(&text.as_bytes()[..n_sent]).await?;
        self.0.shutdown().await
    }

    /// Starts a stream of events.
    pub async fn begin(&mut self) -> io::Result<()> {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        self.0.write_all(head.as_bytes()).await
    }

    /// Sends one event of a stream. Vendors that name their events have the name in the data too.
    pub async fn event(&mut self, event: &Value) -> io::Result<()> {
        let name = event["type"]
            .as_str()
            .map_or(String::new(), |name| format!("event: {name}\n"));
        let event = format!("{name}data: {event}\n\n");
        self.0.write_all(event.as_bytes()).await
    }

    /// Waits until the client has disconnected. It has sent its whole request, so only the end can be read.
    pub async fn hung_up(&mut self) {
        let _end = self.0.read_u8().await;
    }
}
