//! The session of a stream, and the link by which people watch it.

use deskhand_app::{CreateSession, CreateSessionError, FindError};
use deskhand_core::{
    budget::ChangeBudget, computer::ComputerKind, id::SessionId, policy::Policy, session::Phase,
    viewer::Viewer,
};
use deskhand_jamie::ErrorCode;
use serde_json::json;

use super::Flow;
use crate::{admission, fault::Fault, links::WatchLink};

impl Flow<'_> {
    /// Returns the stream's session, a new one if there is none that can be used.
    pub(super) async fn ensure_session(&mut self) -> Result<SessionId, Fault> {
        if let Some(session) = self.session {
            let viewer = Viewer::User(self.owner());
            let found = self.streams.0.app.sessions().find(viewer, session).await;
            if found.is_ok_and(|found| found.phase != Phase::Terminated) {
                return Ok(session);
            }
        }
        let session = self.create_session().await?;
        self.session = Some(session);
        let stream = self.request.session_id;
        let store = &self.streams.0.store;
        store.set_stream_session(stream, self.session).await?;
        Ok(session)
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
        let made = links.create(inner.owner, session, inner.settings.longest);
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

    /// Ends all links by which people watch, those of an earlier server included.
    pub(crate) async fn revoke_links(&mut self) {
        let (true, Some(session)) = (std::mem::take(&mut self.has_links), self.session) else {
            return;
        };
        let (inner, stream) = (&self.streams.0, self.request.session_id);
        self.streams.set_watch_url(stream, None);
        if let Some(links) = &inner.links
            && let Err(error) = links.revoke_all(inner.owner, session).await
        {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not revoke the links to watch"
            );
        }
        if let Err(error) = inner.store.set_stream_link(stream, None).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not forget a link to watch"
            );
        }
    }

    /// Ends the session with its computer.
    pub(crate) async fn end_session(&mut self) {
        let Some(session) = self.session.take() else {
            return;
        };
        let viewer = Viewer::User(self.owner());
        let ended = self
            .streams
            .0
            .app
            .sessions()
            .terminate(viewer, session)
            .await;
        match ended {
            Ok(()) | Err(FindError::NoSession(_)) => {}
            Err(error) => {
                tracing::warn!(session.id = %session, error = &error as &dyn std::error::Error, "could not end the session of a stream");
            }
        }
    }
}

/// Returns the title of a stream's session, for people who look at it.
fn title(channel_name: &str) -> String {
    format!("Stream for {channel_name}")
}
