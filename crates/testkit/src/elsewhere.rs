//! Somebody on another machine, whose part a test plays over HTTP on this one.

use std::{collections::BTreeMap, io};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// What somebody was asked.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    /// By name in small letters.
    pub headers: BTreeMap<String, String>,
    pub text: String,
    /// The same as JSON, if it is.
    pub body: Value,
}

/// Hears requests until it is dropped.
#[derive(Debug)]
pub struct Elsewhere {
    pub url: String,
    _hearing: JoinSet<()>,
}

impl Elsewhere {
    /// Answers each request with `answer`, on a connection of its own. Whoever hangs up is let go.
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
                // Somebody who connects and says nothing asks nothing.
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

/// The connection on which somebody waits for an answer.
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

    /// Answers with a whole text: `status` is the number and its words.
    pub async fn whole(self, status: &str, headers: &[(&str, &str)], text: &str) -> io::Result<()> {
        self.part(status, headers, text, text.len()).await
    }

    /// Breaks the connection after so many bytes of the text.
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

    /// Begins a stream of events.
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

    /// Resolves when the other side has hung up. It has said all it had to say, so that only its
    /// end can be read.
    pub async fn hung_up(&mut self) {
        let _end = self.0.read_u8().await;
    }
}
