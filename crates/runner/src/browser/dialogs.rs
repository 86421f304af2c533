//! Answers the dialogs of pages.

use std::time::Duration;

use serde_json::{Value, json};

use super::{BrowseError, tab::Tab};

/// The timeout for a dialog to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

impl Tab {
    /// Accepts or dismisses the open dialog, and waits for its effect.
    pub(super) async fn answer_dialog(
        &self,
        accept: bool,
        text: Option<&str>,
    ) -> Result<(), BrowseError> {
        let mark = self.mark();
        let mut params = json!({"accept": accept});
        if let Some(text) = text {
            params["promptText"] = json!(text);
        }
        let answered = self
            .page
            .call::<Value>("Page.handleJavaScriptDialog", params)
            .await;
        answered.map_err(|_refused| BrowseError::NoDialog)?;
        let number = self.number;
        let closed = self.browser.observer.until(CLOSE_TIMEOUT, |seen| {
            let is_open = seen.tab(number).is_some_and(|tab| tab.dialog.is_some());
            (!is_open).then_some(())
        });
        closed.await;
        self.settle(mark).await;
        Ok(())
    }
}
