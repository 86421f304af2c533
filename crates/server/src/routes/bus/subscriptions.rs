//! The sessions whose events a client of the bus has subscribed to.

use std::collections::HashMap;

use bytes::Bytes;
use deskhand_api::bus::{BusMessage, BusRequest, EventData, SessionData};
use deskhand_app::{Feed, InternalError};
use deskhand_core::{id::SessionId, user::Identity, viewer::Viewer};
use futures::{
    FutureExt, StreamExt,
    future::{AbortHandle, Abortable, BoxFuture},
    stream::FuturesUnordered,
};
use serde_json::value::RawValue;

use super::refused;
use crate::{Shared, problem::Problem};

/// The most sessions that a client may be subscribed to at a time.
const MOST: usize = 20;

/// The subscriptions of one client.
pub(super) struct Subscriptions {
    shared: Shared,
    identity: Identity,
    ends: HashMap<SessionId, AbortHandle>,
    feeds: FuturesUnordered<Abortable<BoxFuture<'static, Heard>>>,
}

/// The next events of a session's log, and the feed they came from.
struct Heard {
    session: SessionId,
    feed: Feed,
    events: Result<Vec<Bytes>, InternalError>,
}

impl Subscriptions {
    pub(super) fn new(shared: Shared, identity: Identity) -> Self {
        Self {
            shared,
            identity,
            ends: HashMap::new(),
            feeds: FuturesUnordered::new(),
        }
    }

    /// Returns the next events. Waits forever if there are no subscriptions.
    pub(super) async fn next(&mut self) -> Vec<BusMessage> {
        let heard = loop {
            match self.feeds.next().await {
                Some(Ok(heard)) => break heard,
                // The subscription was ended meanwhile.
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        };
        let session = heard.session;
        match heard.events {
            Ok(events) => {
                self.listen(session, heard.feed);
                let events = events
                    .into_iter()
                    .filter_map(|event| message(session, &event));
                events.collect()
            }
            Err(error) => {
                self.ends.remove(&session);
                vec![refused(Some(session), error.into())]
            }
        }
    }

    /// Handles a client's request and returns the response.
    pub(super) async fn ask(&mut self, viewer: Viewer, text: &str) -> BusMessage {
        let request = match serde_json::from_str(text) {
            Ok(request) => request,
            Err(error) => {
                let message = format!("the message is not valid: {error}");
                return refused(None, Problem::malformed(message));
            }
        };
        match request {
            BusRequest::Subscribe { session, after } => {
                match self.subscribe(viewer, session, after).await {
                    Ok(()) => BusMessage::Subscribed(SessionData { session }),
                    Err(problem) => refused(Some(session), problem),
                }
            }
            BusRequest::Unsubscribe { session } => {
                self.end(session);
                BusMessage::Unsubscribed(SessionData { session })
            }
        }
    }

    /// Ends subscriptions to sessions that the client may no longer see. Returns a message for each.
    pub(super) async fn look_again(&mut self, viewer: Viewer) -> Vec<BusMessage> {
        let mut refusals = Vec::new();
        let sessions: Vec<_> = self.ends.keys().copied().collect();
        for session in sessions {
            if let Err(error) = self.shared.app.sessions().find(viewer, session).await {
                self.end(session);
                refusals.push(refused(Some(session), error.into()));
            }
        }
        refusals
    }

    async fn subscribe(
        &mut self,
        viewer: Viewer,
        session: SessionId,
        after: u64,
    ) -> Result<(), Problem> {
        self.shared.rates.count(&self.identity)?;
        self.end(session);
        if self.ends.len() >= MOST {
            let message = format!("a connection can follow at most {MOST} sessions");
            return Err(Problem::too_many("too_many_subscriptions", message));
        }
        let sessions = self.shared.app.sessions();
        let feed = sessions.follow(viewer, session, after).await?;
        self.listen(session, feed);
        Ok(())
    }

    fn listen(&mut self, session: SessionId, mut feed: Feed) {
        let (end, ended) = AbortHandle::new_pair();
        let next = async move {
            let events = feed.next().await;
            Heard {
                session,
                feed,
                events,
            }
        };
        self.feeds.push(Abortable::new(next.boxed(), ended));
        self.ends.insert(session, end);
    }

    fn end(&mut self, session: SessionId) {
        if let Some(end) = self.ends.remove(&session) {
            end.abort();
        }
    }
}

/// Wraps an event of a session, which is already JSON.
fn message(session: SessionId, event: &Bytes) -> Option<BusMessage> {
    let event = String::from_utf8(event.to_vec()).ok()?;
    let event = RawValue::from_string(event).ok()?;
    Some(BusMessage::Event(EventData { session, event }))
}
