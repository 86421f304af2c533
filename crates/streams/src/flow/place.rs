//! The session of a stream, and the link by which people watch it.

use std::time::Duration;

use deskhand_app::{CreateSession, CreateSessionError, FindError, KeptComputer};
use deskhand_core::{
    budget::ChangeBudget,
    computer::ComputerKind,
    id::{SessionId, UserId},
    policy::Policy,
    session::Phase,
    viewer::Viewer,
};
use deskhand_jamie::ErrorCode;
use deskhand_store::StoreError;
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::{COMPUTER_TIMEOUT, Flow};
use crate::{admission, fault::Fault, links::WatchLink};

/// The shortest lifetime of a link. It is revoked with the end of the stream, which may be earlier.
const SHORTEST_LINK: Duration = Duration::from_mins(1);

impl Flow<'_> {
    /// Returns the stream's session, a new one if there is none that can be used. One that a person has ended is not
    /// replaced.
    pub(super) async fn ensure_session(&mut self) -> Result<SessionId, Fault> {
        if let Some(session) = self.session {
            let sessions = self.streams.0.app.sessions();
            match sessions.find(Viewer::System, session).await {
                Ok(found) if found.phase == Phase::Terminated => return Err(ended()),
                Ok(found) if found.owner == self.owner() => return Ok(session),
                // It was handed over, or other settings name another owner of streams.
                Ok(found) => self.leave_session(session, found.owner).await,
                Err(FindError::NoSession(_)) => return Err(ended()),
                Err(error) => {
                    tracing::error!(session.id = %session, error = &error as &dyn std::error::Error, "could not find the session of a stream");
                    let message = "the session of the stream could not be looked up";
                    return Err(Fault::new(ErrorCode::StreamDropped, message));
                }
            }
        }
        let session = self.create_session().await?;
        // Set first: the session has to end with the stream, even if it cannot be stored.
        self.session = Some(session);
        self.note_session(self.session).await?;
        Ok(session)
    }

    /// Returns true if a person has ended or deleted the session, which is the end of the stream.
    pub(super) async fn is_session_over(&self) -> bool {
        let Some(session) = self.session else {
            return false;
        };
        let sessions = self.streams.0.app.sessions();
        match sessions.find(Viewer::System, session).await {
            Ok(found) => found.phase == Phase::Terminated,
            // If it could not be read, the next try tells.
            Err(error) => matches!(error, FindError::NoSession(_)),
        }
    }

    /// Leaves the session to its new owner.
    async fn leave_session(&mut self, session: SessionId, owner: UserId) {
        tracing::info!(session.id = %session, "the session of a stream has another owner, so the stream gets a new one");
        self.tabs = None;
        self.computer = None;
        self.revoke_links(owner).await;
        self.session = None;
    }

    /// Starts the computer, and keeps it from going to sleep.
    pub(super) async fn keep_computer(&mut self, session: SessionId) -> Result<(), Fault> {
        let computers = self.streams.0.app.computers();
        let keeping = computers.keep_computer(self.owner(), session);
        let kept = timeout(COMPUTER_TIMEOUT, keeping).await;
        let kept = kept.map_err(|_late| Fault::from(ErrorCode::SandboxTimeout))??;
        self.computer = Some(kept);
        Ok(())
    }

    /// Returns true while the computer runs that shows the page.
    pub(crate) fn has_computer(&self) -> bool {
        self.computer.as_ref().is_some_and(KeptComputer::runs)
    }

    async fn note_session(&self, session: Option<SessionId>) -> Result<(), StoreError> {
        let stream = self.request.session_id;
        let store = &self.streams.0.store;
        store.set_stream_session(stream, session).await
    }

    async fn create_session(&mut self) -> Result<SessionId, Fault> {
        let inner = &self.streams.0;
        let network = admission::network_of(&inner.settings, inner.app.network().bounds());
        let metadata = json!({"jamie": {"stream": self.request.session_id}});
        let wanted = |model: Option<String>| CreateSession {
            title: Some(title(&self.request.channel_name)),
            model,
            computer: ComputerKind::Desktop,
            metadata: metadata.as_object().cloned(),
            // The task forbids what would matter.
            approvals: Some(Policy::unattended()),
            budget: ChangeBudget {
                usd: Some(inner.settings.budget_usd),
                tokens: None,
            },
            network: Some(network.clone()),
            // The owner's own sessions are what the daily limit is for.
            is_uncounted: true,
            ..CreateSession::default()
        };
        let sessions = inner.app.sessions();
        let model = inner.settings.model.clone();
        match sessions.create(inner.owner, wanted(model)).await {
            // Most pages need no model, so a missing key stops only those that do.
            Err(CreateSessionError::UnknownModel(unknown)) => {
                self.model_problem = Some(unknown.to_string());
                let created = sessions.create(inner.owner, wanted(None)).await?;
                Ok(created.id)
            }
            created => Ok(created?.id),
        }
    }

    pub(super) async fn make_link(&mut self, session: SessionId) -> Result<(), Fault> {
        let inner = &self.streams.0;
        let Some(links) = &inner.links else {
            return Ok(());
        };
        let left = self.ends_at.duration_since(Instant::now());
        let made = links.create(inner.owner, session, left.max(SHORTEST_LINK));
        let WatchLink { id, url } = made.await.map_err(|error| {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "could not make a link to watch"
            );
            Fault::from(ErrorCode::ShareFailed)
        })?;
        let stream = self.request.session_id;
        inner.store.set_stream_link(stream, Some(id)).await?;
        self.streams.set_watch_url(stream, Some(url));
        self.has_links = true;
        Ok(())
    }

    /// Ends all links by which people watch, those of an earlier server included. `owner` is that of the session.
    pub(super) async fn revoke_links(&mut self, owner: UserId) {
        let (true, Some(session)) = (self.has_links, self.session) else {
            return;
        };
        let (inner, stream) = (&self.streams.0, self.request.session_id);
        self.streams.set_watch_url(stream, None);
        if let Some(links) = &inner.links
            && let Err(error) = links.revoke_all(owner, session).await
        {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not revoke the links to watch"
            );
            return;
        }
        if let Err(error) = inner.store.set_stream_link(stream, None).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not forget a link to watch"
            );
        }
        self.has_links = false;
    }

    /// Ends the session with its computer. One that could not be ended is kept for another try.
    pub(crate) async fn end_session(&mut self) {
        self.computer = None;
        let Some(session) = self.session else {
            return;
        };
        let viewer = Viewer::User(self.owner());
        let sessions = self.streams.0.app.sessions();
        match sessions.terminate(viewer, session).await {
            Ok(()) | Err(FindError::NoSession(_)) => self.session = None,
            Err(error) => {
                tracing::warn!(session.id = %session, error = &error as &dyn std::error::Error, "could not end the session of a stream");
            }
        }
    }

    /// Ends the session, so that the next try has another one.
    pub(super) async fn discard_session(&mut self) {
        // Another server must not take it for one that a person has ended.
        if let Err(error) = self.note_session(None).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not forget the session of a stream"
            );
        }
        self.end_session().await;
        self.session = None;
    }
}

fn ended() -> Fault {
    let message = "a person ended the session of the stream";
    Fault::new(ErrorCode::StreamDropped, message)
}

/// Returns the title of a stream's session, for people who look at it.
fn title(channel_name: &str) -> String {
    format!("Stream for {channel_name}")
}
