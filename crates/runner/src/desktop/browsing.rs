//! Verbs of the browser on a desktop.

use deskhand_core::browser::{Browse, Browsed};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Desktop;
use crate::browser::BrowseError;

impl Desktop {
    /// Carries out a verb in the browser, in turn with the actions on the screen.
    ///
    /// A browser that has ended is started again. A cancelled verb ends at once and leaves nothing pressed.
    pub async fn browse(
        &self,
        browse: &Browse,
        cancel: CancellationToken,
    ) -> Result<Browsed, BrowseError> {
        let mut acted_at = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(BrowseError::Cancelled),
            acted_at = self.0.acted_at.lock() => acted_at,
        };
        let browser = self.0.browser.ready_for(&browse.verb).await?;
        let secrets = self.0.guarded.all();
        let browsed = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                browser.let_go().await;
                Err(BrowseError::Cancelled)
            }
            browsed = browser.browse(browse, &secrets) => browsed,
        };
        if !browse.verb.is_look() {
            *acted_at = Instant::now();
        }
        browsed
    }

    /// Forgets everything about the browser's tabs, and follows them no longer.
    pub(crate) async fn leave_browser(&self) {
        if let Some(browser) = self.0.browser.running() {
            browser.leave().await;
        }
    }
}
