//! A server that says what it is told to, and keeps what it was asked.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// What is answered to one request.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
    /// How much of the body is sent before the connection breaks.
    sent: usize,
}

impl Reply {
    /// A stream of events.
    pub(crate) fn stream(body: &str) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            body: body.to_owned(),
            sent: body.len(),
        }
    }

    /// A refusal.
    pub(crate) fn refusal(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: Vec::new(),
            ..Self::stream(&body.to_string())
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn broken_at(self, sent: usize) -> Self {
        Self { sent, ..self }
    }
}

/// A request that came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) text: String,
    /// The same as JSON, if it is.
    pub(crate) body: Value,
}

impl Asked {
    /// As it stands in a snapshot, without what differs from one run to the next.
    pub(crate) fn shown(&self) -> String {
        let usual = ["host", "content-length", "accept", "accept-encoding"];
        let headers = self
            .headers
            .iter()
            .filter(|(name, _)| !usual.contains(&name.as_str()))
            .map(|(name, value)| format!("{name}: {value}\n"));
        let headers: String = headers.collect();
        format!("POST {}\n{headers}\n{:#}", self.path, self.body)
    }
}

/// Gives its replies one after the other, the last one again and again. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: String,
    state: Arc<Mutex<State>>,
    _tasks: JoinSet<()>,
}

#[derive(Debug)]
struct State {
    replies: VecDeque<Reply>,
    asked: Vec<Asked>,
}

impl Server {
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State {
            replies: replies.into_iter().collect(),
            asked: Vec::new(),
        }));
        let mut tasks = JoinSet::new();
        let serving = Arc::clone(&state);
        tasks.spawn(async move {
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                // One after the other: nobody here asks twice at once.
                answer(connection, &serving).await;
            }
        });
        Self {
            address,
            state,
            _tasks: tasks,
        }
    }

    /// What it was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.lock().unwrap().asked.clone()
    }
}

async fn answer(connection: TcpStream, state: &Mutex<State>) {
    let mut connection = BufReader::new(connection);
    // Somebody who connects and says nothing asks nothing.
    let Some(asked) = read(&mut connection).await else {
        return;
    };
    let reply = {
        let mut state = state.lock().unwrap();
        state.asked.push(asked);
        match state.replies.len() {
            1 => state.replies[0].clone(),
            _ => state.replies.pop_front().unwrap(),
        }
    };
    let headers = reply.headers.iter();
    let headers: String = headers
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let head = format!(
        "HTTP/1.1 {} So\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n",
        reply.status,
        reply.body.len()
    );
    let body = &reply.body.as_bytes()[..reply.sent];
    // Whoever has heard enough may go.
    let _gone = connection.write_all(head.as_bytes()).await;
    let _gone = connection.write_all(body).await;
    let _gone = connection.shutdown().await;
}

async fn read(connection: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    connection.read_line(&mut line).await.ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        connection.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length: usize = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    connection.read_exact(&mut body).await.ok()?;
    let text = String::from_utf8(body).ok()?;
    Some(Asked {
        path,
        headers,
        body: serde_json::from_str(&text).unwrap_or_default(),
        text,
    })
}
