//! The account's sign-in to the web client.

use deskhand_app::PlayerError;
use deskhand_core::{id::SessionId, vault::SecretName};
use deskhand_jamie::ErrorCode;

use super::{
    CLIENT_TIMEOUT,
    client::{ClientPage, ClientView, Control, EMAIL, LOG_IN, PASSWORD},
    profile,
};
use crate::{fault::Fault, flow::Flow, settings::ShareSettings, step::Step};

impl Flow<'_> {
    /// Opens the voice channel, and signs in if the web client asks for it.
    pub(super) async fn sign_in(
        &mut self,
        session: SessionId,
        share: &ShareSettings,
    ) -> Result<(), Fault> {
        self.open_channel(session, share).await?;
        let is_known = |page: &ClientPage| page.view() != ClientView::Unknown;
        let mut page = self.client_until(session, CLIENT_TIMEOUT, is_known).await?;
        if page.view() == ClientView::Unknown {
            let failed = ClientView::Unknown.fault();
            page = self.ask_about_client(session, Step::SignIn, failed).await?;
        }
        if page.view() == ClientView::Form {
            self.enter(session, &page, EMAIL, &share.email).await?;
            self.enter(session, &page, PASSWORD, &share.password)
                .await?;
            let log_in = page.find(LOG_IN);
            let log_in = log_in.ok_or_else(|| ClientView::Form.fault())?;
            self.click(session, self.client_tab()?, log_in).await?;
            let is_over =
                |page: &ClientPage| !matches!(page.view(), ClientView::Unknown | ClientView::Form);
            page = self.client_until(session, CLIENT_TIMEOUT, is_over).await?;
        }
        let is_signed_in = matches!(page.view(), ClientView::SignedIn | ClientView::NoChannel);
        if !is_signed_in {
            return Err(page.view().fault());
        }
        self.keep_profile(session, share).await;
        Ok(())
    }

    /// Has a secret typed into a field. Neither this server's log nor the session's has its value.
    async fn enter(
        &self,
        session: SessionId,
        page: &ClientPage,
        field: Control,
        name: &SecretName,
    ) -> Result<(), Fault> {
        let at = page.find(field).ok_or_else(|| ClientView::Form.fault())?;
        self.click(session, self.client_tab()?, at).await?;
        let computers = self.streams.0.app.computers();
        let typed = computers.type_own_secret(self.owner(), session, name.clone());
        match typed.await {
            Err(PlayerError::Page(reason)) => {
                tracing::warn!(stream.id = %self.request.session_id, secret = %name, reason, "a secret of the account was not typed");
                let message = "the account's e-mail or password could not be typed";
                Err(Fault::new(ErrorCode::InvalidCreds, message))
            }
            typed => Ok(typed?),
        }
    }

    /// Gives the browser the sign-in of an earlier stream. Without it, the account signs in again.
    pub(super) async fn load_profile(&self, session: SessionId, share: &ShareSettings) {
        let state = match profile::read(&share.profile).await {
            Ok(Some(state)) => state,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, path = %share.profile.display(), "could not read the sign-in of an earlier stream");
                return;
            }
        };
        let computers = self.streams.0.app.computers();
        let loaded = computers.load_browser_state(self.owner(), session, state);
        if let Err(error) = loaded.await {
            tracing::warn!(%error, "could not use the sign-in of an earlier stream");
        }
    }

    /// Keeps the sign-in for later streams. Nothing but the web client is open at this time, so nothing else is kept.
    async fn keep_profile(&self, session: SessionId, share: &ShareSettings) {
        if self.tabs.is_none_or(|tabs| tabs.page.is_some()) {
            return;
        }
        let computers = self.streams.0.app.computers();
        let state = match computers.browser_state(self.owner(), session).await {
            Ok(state) => state,
            Err(error) => {
                tracing::warn!(%error, "could not keep the sign-in for later streams");
                return;
            }
        };
        if let Err(error) = profile::write(&share.profile, &state).await {
            tracing::warn!(%error, path = %share.profile.display(), "could not keep the sign-in for later streams");
        }
    }
}
