//! Somebody who follows a session's log through everything, from the number they last saw.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use deskhand_testkit::Client;
use serde_json::Value;
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
};
use tokio_tungstenite::tungstenite;

/// How long to wait before dialling again.
const PAUSE: Duration = Duration::from_millis(20);

/// What a reader has seen, and what they found wrong.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) events: Vec<Value>,
    pub(crate) faults: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Reader {
    seen: Arc<Mutex<Seen>>,
    cut: Arc<Notify>,
}

impl Reader {
    /// Begins to read, wherever the server is at the moment.
    pub(crate) fn start(
        tasks: &mut JoinSet<()>,
        server: watch::Receiver<Client>,
        session: String,
    ) -> Self {
        let seen = Arc::<Mutex<Seen>>::default();
        let cut = Arc::<Notify>::default();
        tasks.spawn(read(server, session, Arc::clone(&seen), Arc::clone(&cut)));
        Self { seen, cut }
    }

    /// Breaks the connection.
    pub(crate) fn cut(&self) {
        self.cut.notify_one();
    }

    pub(crate) fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }
}

async fn read(
    server: watch::Receiver<Client>,
    session: String,
    seen: Arc<Mutex<Seen>>,
    cut: Arc<Notify>,
) {
    loop {
        let after = seen.lock().unwrap().events.len() as u64;
        let client = server.borrow().clone();
        match client.session(&session).try_follow(after).await {
            Ok(mut stream) => loop {
                let text = tokio::select! {
                    next = stream.try_next() => next,
                    () = cut.notified() => break,
                };
                let Ok(text) = text else { break };
                seen.lock().unwrap().take(&text);
            },
            Err(tungstenite::Error::Http(refusal)) if refusal.status().is_client_error() => {
                let fault = format!("after {after}: {refusal:?}");
                seen.lock().unwrap().faults.push(fault);
            }
            // It is away, or its database is.
            Err(_) => {}
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl Seen {
    fn take(&mut self, text: &str) {
        let event: Value = serde_json::from_str(text).unwrap();
        let expected = self.events.len() as u64 + 1;
        if event["seq"] != expected {
            let fault = format!("expected event {expected}, came {event}");
            self.faults.push(fault);
        }
        self.events.push(event);
    }
}
