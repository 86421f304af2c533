//! Answers the dialogs of pages.

use std::time::Duration;

use deskhand_core::browser::OpenDialog;
use serde_json::{Value, json};

use super::{BrowseError, settle::Calm, tab::Tab};

/// The timeout for a dialog to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

impl Tab {
    pub(super) fn has_dialog(&self) -> bool {
        self.state(|tab| tab.dialog.is_some()).unwrap_or(false)
    }

    /// Answers the open dialog as the keyboard does: Enter accepts it, and Escape dismisses it.
    pub(super) async fn press_in_dialog(&self, keys: &str) -> Result<(), BrowseError> {
        let is = |names: &[&str]| names.iter().any(|name| keys.eq_ignore_ascii_case(name));
        if is(&["enter", "return", "kp_enter", "space", " "]) {
            let text = self.take_dialog_text();
            self.answer_dialog(true, text.as_deref()).await
        } else if is(&["escape", "esc"]) {
            self.answer_dialog(false, None).await
        } else {
            Err(self.dialog_error())
        }
    }

    /// Types into the field of a prompt.
    pub(super) async fn type_in_dialog(&self, text: &str, submit: bool) -> Result<(), BrowseError> {
        let is_prompt = |dialog: &OpenDialog| dialog.kind == "prompt";
        let has_field = self.state(|tab| tab.dialog.as_ref().is_some_and(is_prompt));
        if has_field != Some(true) {
            return Err(self.dialog_error());
        }
        if submit {
            return self.answer_dialog(true, Some(text)).await;
        }
        if let Some(tab) = self.browser.observer.seen().tab(self.number) {
            tab.dialog_text = Some(text.to_owned());
        }
        Ok(())
    }

    fn take_dialog_text(&self) -> Option<String> {
        let mut seen = self.browser.observer.seen();
        seen.tab(self.number).and_then(|tab| tab.dialog_text.take())
    }

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
        self.settle(mark, Calm::Full).await;
        Ok(())
    }
}
