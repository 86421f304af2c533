//! A session from the view of a user's program.

use deskhand_api::actions::ActView;
use deskhand_core::event::{Event, EventBody};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite;

use crate::{Answer, Client, sockets::EventStream};

/// A session as a client sees it.
#[derive(Debug, Clone)]
pub struct Session {
    pub client: Client,
    pub id: String,
}

impl Session {
    pub fn path(&self, rest: &str) -> String {
        format!("/api/sessions/{}{rest}", self.id)
    }

    pub async fn show(&self) -> Value {
        self.client.get(&self.path("")).await.good()
    }

    /// Sends a prompt. Returns its id.
    pub async fn prompt(&self, content: &str) -> String {
        let message = self
            .client
            .post(&self.path("/messages"), json!({"content": content}))
            .await;
        assert_eq!(message.status, 202, "{}", message.json());
        message.good()["id"].as_str().unwrap().to_owned()
    }

    /// Sends a message with this delivery: `queue`, `steer` or `interrupt`.
    pub async fn send(&self, content: &str, delivery: &str) -> Answer {
        let message = json!({"content": content, "delivery": delivery});
        self.client.post(&self.path("/messages"), message).await
    }

    /// Returns the conversation so far.
    pub async fn messages(&self) -> Vec<Value> {
        let messages = self.client.get(&self.path("/messages")).await.good();
        messages["messages"].as_array().unwrap().clone()
    }

    /// Carries out one action by hand.
    pub async fn act(&self, tool: &str, input: Value) -> Value {
        self.try_act(tool, input).await.good()
    }

    /// Runs a shell command in the sandbox and returns its text.
    pub async fn shell(&self, command: &str) -> String {
        let input = json!({"shell": "run", "command": command});
        let done: ActView = self.try_act("bash", input).await.view();
        done.text
    }

    async fn try_act(&self, tool: &str, input: Value) -> Answer {
        let body = json!({"tool": tool, "input": input});
        self.client.post(&self.path("/actions"), body).await
    }

    /// Returns the log after `after`, as it is sent.
    pub async fn events(&self, after: u64) -> Vec<Value> {
        let (mut after, mut events) = (after, Vec::new());
        loop {
            let path = self.path(&format!("/events?after={after}&limit=5000"));
            let mut page = self.client.get(&path).await.good();
            let page = page["events"].as_array_mut().unwrap();
            let Some(last) = page.last() else {
                return events;
            };
            // A page also ends after some bytes.
            after = last["seq"].as_u64().unwrap();
            events.append(page);
        }
    }

    /// Follows the log after `after`.
    pub async fn follow(&self, after: u64) -> EventStream {
        EventStream {
            socket: self
                .client
                .socket(&self.path(&format!("/stream?after={after}")))
                .await,
        }
    }

    /// Follows the log of a server that may be down.
    pub async fn try_follow(&self, after: u64) -> Result<EventStream, tungstenite::Error> {
        let path = self.path(&format!("/stream?after={after}"));
        let bearer = format!("Bearer {}", self.client.token());
        let headers = [("authorization", &*bearer)];
        let socket = self.client.try_socket_with(&path, &headers).await?;
        Ok(EventStream { socket })
    }

    /// Follows the log, with presence messages.
    pub async fn follow_with_people(&self, after: u64) -> EventStream {
        let path = self.path(&format!("/stream?after={after}&presence=true"));
        EventStream {
            socket: self.client.socket(&path).await,
        }
    }

    /// Waits for a past or future event after `after`.
    pub async fn wait_for(&self, after: u64, wanted: impl Fn(&EventBody) -> bool) -> Event {
        let mut stream = self.follow(after).await;
        loop {
            let event = stream.next_event().await;
            if wanted(&event.body) {
                return event;
            }
        }
    }

    /// Waits for the next end of a turn after `after`.
    pub async fn turn_end(&self, after: u64) -> Event {
        let ends = |body: &EventBody| {
            let has_failed = matches!(body, EventBody::Error(failure) if failure.turn.is_some());
            has_failed || matches!(body, EventBody::Complete(_))
        };
        self.wait_for(after, ends).await
    }

    /// Takes control for so many seconds.
    pub async fn take_control(&self, seconds: u32) -> Answer {
        let body = json!({"seconds": seconds});
        self.client.put(&self.path("/lease"), body).await
    }

    /// Gives control back.
    pub async fn hand_back(&self) -> Answer {
        self.client.delete(&self.path("/lease")).await
    }

    pub async fn terminate(&self) {
        self.client.delete(&self.path("")).await.good();
    }
}
