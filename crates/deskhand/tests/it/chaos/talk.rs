//! What a person says in one session, and what they know of it.

use deskhand_testkit::{Client, Session};
use rand::Rng;
use reqwest::Method;
use serde_json::json;

/// Messages of one session, in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    sent: Vec<Sent>,
}

#[derive(Debug)]
struct Sent {
    content: String,
    /// Its id when the server said that it has it. Otherwise it may or may not have it.
    accepted: Option<String>,
}

impl Talk {
    /// Sends one more message, in one of the three ways.
    pub(crate) async fn say(&mut self, client: &Client, session: &str, random: &mut impl Rng) {
        let session: Session = client.session(session);
        let content = format!("m{}", self.sent.len());
        let delivery = match random.random_range(0..10) {
            0 => "interrupt",
            1 => "steer",
            _ => "queue",
        };
        let body = json!({"content": content, "delivery": delivery}).to_string();
        let path = session.path("/messages");
        let answer = client
            .try_send(Method::POST, &path, Some(body.into_bytes()))
            .await;
        let accepted = match answer {
            Ok(answer) if answer.status == 202 => {
                Some(answer.json()["id"].as_str().unwrap().to_owned())
            }
            Ok(answer) => {
                let ours = answer.status >= 500;
                assert!(ours, "{}", String::from_utf8_lossy(&answer.body));
                None
            }
            Err(_) => None,
        };
        self.sent.push(Sent { content, accepted });
    }

    /// Whether these, with id and content, are the messages that were sent: every accepted one
    /// once, any other at most once, all in order.
    pub(crate) fn check(&self, stored: &[(String, String)]) {
        let mut stored = stored.iter().peekable();
        for sent in &self.sent {
            let found = stored.next_if(|(_, content)| *content == sent.content);
            if let Some(accepted) = &sent.accepted {
                let found = found.map(|(id, _)| id);
                assert_eq!(found, Some(accepted), "{} was accepted", sent.content);
            }
        }
        assert_eq!(stored.next(), None, "twice, or out of order");
    }

    pub(crate) fn n_accepted(&self) -> usize {
        let accepted = self.sent.iter().filter(|sent| sent.accepted.is_some());
        accepted.count()
    }
}
