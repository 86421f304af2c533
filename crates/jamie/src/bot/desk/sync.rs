//! Learns from the controller which streams there are, so that nothing depends on the bot's memory alone.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;
use uuid::Uuid;

use super::Desk;
use crate::{
    bot::{
        reporter::Outlet,
        streams::{Report, StreamInfo},
    },
    contract::{SessionView, StreamState},
    controller::ControllerError,
    error_code::ErrorCode,
};

/// The time that the controller has to answer before a person is answered from memory.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(1);
/// The longest wait between two tries to reach the controller at the start.
const MAX_RECOVERY_WAIT: Duration = Duration::from_secs(30);

impl Desk {
    /// Learns at the start which streams are active. The controller may start later than the bot.
    pub(in crate::bot) async fn recover(self: Arc<Self>) {
        let mut wait = Duration::from_secs(1);
        while let Err(error) = self.learn().await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not ask the controller for its streams; trying again"
            );
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.tasks.shutdown().cancelled() => return,
            }
            wait = (wait * 2).min(MAX_RECOVERY_WAIT);
        }
        self.tell_ends().await;
    }

    /// Asks about streams again and again, as long as there are any.
    pub(in crate::bot) async fn keep_asking(self: Arc<Self>, every: Duration) {
        let shutdown = self.tasks.shutdown().clone();
        while !shutdown.is_cancelled() {
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = shutdown.cancelled() => return,
            }
            if !self.streams.list().is_empty() {
                self.refresh().await;
            }
        }
    }

    /// Tells requesters about streams that ended while there was no bot.
    async fn tell_ends(&self) {
        let asked = tokio::time::timeout(REFRESH_TIMEOUT, self.controller.ended_lately());
        let Ok(Ok(views)) = asked.await else {
            tracing::warn!("could not ask the controller for the streams that have ended");
            return;
        };
        for view in views {
            // Without a message, nobody knows what has been told.
            let has_message = view.status_message.is_some() && view.status.is_final();
            if let Some(outlet) = outlet(&view)
                && has_message
                && !self.streams.has_known(view.session_id)
            {
                let (_, reports) = watch::channel(Report::from(&view));
                self.follow(Arc::new(StreamInfo::from(&view)), outlet, reports, None);
            }
        }
    }

    /// Compares the bot's streams with the controller's. If it does not answer, the next question comes soon.
    pub(super) async fn refresh(&self) {
        if let Err(error) = self.learn().await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "could not ask the controller for its streams"
            );
        }
    }

    async fn learn(&self) -> Result<(), ControllerError> {
        // A stream that is accepted while the controller answers may be missing in its list.
        let accepted = self.streams.accepted();
        // One that ends meanwhile may still be in it.
        let n_ended = self.streams.n_ended();
        let listed = tokio::time::timeout(REFRESH_TIMEOUT, self.controller.sessions()).await;
        let views = listed.map_err(|_late| ControllerError::from(ErrorCode::Timeout))??;
        for session_id in accepted {
            if !views.iter().any(|view| view.session_id == session_id) {
                self.settle(session_id).await;
            }
        }
        for view in &views {
            match self.streams.adopt(view, n_ended) {
                Some((info, reports)) => {
                    if let Some(outlet) = outlet(view) {
                        self.follow(info, outlet, reports, None);
                    }
                }
                None => self.streams.report(view.session_id, view.into()),
            }
        }
        Ok(())
    }

    /// Ends a stream that is no longer active, and whose last update was lost.
    async fn settle(&self, session_id: Uuid) {
        let asked = tokio::time::timeout(REFRESH_TIMEOUT, self.controller.session(session_id));
        match asked.await {
            Ok(Ok(view)) => self.streams.report(session_id, Report::from(&view)),
            Ok(Err(error)) if error.code == ErrorCode::NotFound => {
                self.streams
                    .report(session_id, Report::new(StreamState::Ended));
            }
            // The next person who asks tries again.
            Ok(Err(_)) | Err(_) => {}
        }
    }
}

/// Returns the place where the requester reads about a stream that was started before the bot.
fn outlet(view: &SessionView) -> Option<Outlet> {
    Some(Outlet::Direct {
        user_id: view.requester_id?,
        status: view.status_message,
    })
}
