//! One call of a client: the user behind it, and the way to tell the client about its progress.

use std::time::Duration;

use deskhand_app::{App, RefusalKind};
use deskhand_core::{
    id::{SessionId, UserId},
    user::{Identity, Scope},
    viewer::Viewer,
};
use rmcp::{
    RoleServer,
    model::{InputResponses, ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use tokio::time::{Instant, interval_at};

use crate::{clip::clip, groups::Groups, refusal::CallError};

/// The interval between signs of life. Clients give up on a call that is silent for long.
pub(crate) const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// The longest message of a progress notification.
const LONGEST_PROGRESS_BYTES: usize = 200;

/// A client: the user that it acts for, and the tools that it is offered.
#[derive(Debug, Clone)]
pub struct Client {
    pub identity: Identity,
    pub groups: Groups,
}

/// One call, with everything that it may use.
pub(crate) struct Call<'a> {
    pub(crate) app: &'a App,
    /// The address of the page, without a slash at the end.
    pub(crate) public_url: &'a str,
    pub(crate) identity: Identity,
    pub(crate) context: &'a RequestContext<RoleServer>,
    /// The answers to what this call asked for when it was made before.
    pub(crate) given: InputResponses,
}

/// The progress of one call, for a client that asked for it.
pub(crate) struct Progress<'a> {
    call: &'a Call<'a>,
    token: Option<ProgressToken>,
    n_sent: u32,
}

impl Call<'_> {
    pub(crate) fn user(&self) -> UserId {
        self.identity.user
    }

    pub(crate) fn viewer(&self) -> Viewer {
        Viewer::User(self.identity.user)
    }

    /// Refuses a token whose scope is too narrow.
    pub(crate) fn require(&self, needed: Scope) -> Result<(), CallError> {
        if self.identity.scope >= needed {
            return Ok(());
        }
        let (has, needs) = (self.identity.scope.name(), needed.name());
        let message = format!(
            "this token has the scope {has}, but this tool needs {needs}: create a token with that scope"
        );
        Err(CallError::new(
            "narrow_scope",
            RefusalKind::Forbidden,
            message,
        ))
    }

    /// Waits for work that may take long, and gives the client signs of life meanwhile.
    pub(crate) async fn until_done<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        let mut sign_of_life = interval_at(Instant::now() + SIGN_OF_LIFE, SIGN_OF_LIFE);
        let mut progress = self.progress();
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = sign_of_life.tick() => progress.tell("still working").await,
            }
        }
    }

    pub(crate) fn progress(&self) -> Progress<'_> {
        Progress {
            call: self,
            token: self.context.meta.get_progress_token(),
            n_sent: 0,
        }
    }
}

impl Progress<'_> {
    /// Tells the client about the progress, if it asked for that.
    pub(crate) async fn tell(&mut self, message: &str) {
        let Some(token) = self.token.clone() else {
            return;
        };
        self.n_sent += 1;
        let mut progress = ProgressNotificationParam::new(token, f64::from(self.n_sent));
        progress.message = Some(clip(message, LONGEST_PROGRESS_BYTES));
        // A client that is gone misses nothing: its call is cancelled, too.
        let _ = self.call.context.peer.notify_progress(progress).await;
    }
}

/// Reads the id of a session.
pub(crate) fn session_id(text: &str) -> Result<SessionId, CallError> {
    // The cause would only repeat that the text is not an id.
    text.parse().map_err(|_no_id| CallError::bad_id(text))
}
