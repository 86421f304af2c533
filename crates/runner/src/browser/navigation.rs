//! Opens pages, and goes back and forth between them.

use std::time::Duration;

use deskhand_core::browser::{LONGEST_PAGE_LABEL, page_label};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    BrowseError, DevToolsError,
    settle::{Calm, LOAD_MAX, Mark},
    tab::Tab,
};

/// The timeout for the first bytes of a page.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// The error of a page that became a download, or that another navigation replaced.
const ABORTED: &str = "net::ERR_ABORTED";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigateAnswer {
    error_text: Option<String>,
    #[serde(default)]
    is_download: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    current_index: usize,
    entries: Vec<HistoryEntry>,
}

#[derive(Deserialize)]
struct HistoryEntry {
    id: i64,
}

impl Tab {
    /// Opens an address, and waits until its page has loaded. A page that loads for long is used as it is.
    pub(super) async fn navigate(&self, url: &str) -> Result<(), BrowseError> {
        let mark = self.mark();
        let answered = self.page.call_within::<NavigateAnswer>(
            RESPONSE_TIMEOUT,
            "Page.navigate",
            json!({"url": url}),
        );
        let answer = match self.unless_interrupted(answered).await {
            // The page asks if it may be left.
            Err(BrowseError::Dialog { .. }) => return Ok(()),
            Err(BrowseError::DevTools(DevToolsError::Late)) => {
                // Whatever the answer, the page did not open.
                let _: Result<Value, _> = self.page.call("Page.stopLoading", json!({})).await;
                return Err(BrowseError::NoResponse(RESPONSE_TIMEOUT.as_secs()));
            }
            answer => answer?,
        };
        if let Some(error) = answer.error_text
            && !answer.is_download
            && error != ABORTED
        {
            return Err(BrowseError::Navigation(page_label(
                &error,
                LONGEST_PAGE_LABEL,
            )));
        }
        self.arrive(mark).await;
        Ok(())
    }

    async fn arrive(&self, mark: Mark) {
        if self.loaded(LOAD_MAX).await {
            self.settle(mark, Calm::Full).await;
        }
    }

    /// Goes through the history by this many steps.
    pub(super) async fn travel(&self, steps: isize) -> Result<(), BrowseError> {
        let mark = self.mark();
        let history = self.page.call("Page.getNavigationHistory", json!({}));
        let history: History = self.unless_interrupted(history).await?;
        let index = history.current_index.checked_add_signed(steps);
        let entry = index.and_then(|index| history.entries.get(index));
        let entry = entry.ok_or(BrowseError::NoHistory)?;
        self.leave_page("Page.navigateToHistoryEntry", json!({"entryId": entry.id}))
            .await?;
        self.arrive(mark).await;
        Ok(())
    }

    pub(super) async fn reload(&self) -> Result<(), BrowseError> {
        let mark = self.mark();
        if self.state(|tab| tab.is_crashed).unwrap_or_default() {
            return self.revive(mark).await;
        }
        self.leave_page("Page.reload", json!({})).await?;
        self.arrive(mark).await;
        Ok(())
    }

    /// Calls a method that replaces the page, and waits until that begins or the page asks if it may be left.
    async fn leave_page(&self, method: &'static str, params: Value) -> Result<(), BrowseError> {
        let n_before = self.state(|tab| tab.n_documents).unwrap_or_default();
        let url = self.state(|tab| tab.url.clone());
        let asked = self.page.call::<Value>(method, params);
        match self.unless_interrupted(asked).await {
            Ok(_) | Err(BrowseError::Dialog { .. }) => {}
            Err(error) => return Err(error),
        }
        let number = self.number;
        let begun = self.browser.observer.until(RESPONSE_TIMEOUT, |seen| {
            let tab = seen.tab(number)?;
            let is_other = tab.n_documents > n_before || Some(&tab.url) != url.as_ref();
            (is_other || tab.dialog.is_some()).then_some(())
        });
        begun.await;
        Ok(())
    }

    /// Loads a crashed page again, and follows it with a new session: the old one is of no use any more.
    async fn revive(&self, mark: Mark) -> Result<(), BrowseError> {
        // The answer may be lost with the old session.
        let _: Result<Value, _> = self.page.call("Page.reload", json!({})).await;
        if let Some(tab) = self.browser.observer.seen().tab(self.number) {
            // The browser and the old session both report the crash, and all of that comes before the answer.
            tab.is_crashed = false;
            tab.session = None;
            tab.frames.clear();
        }
        self.page.clone().detach().await;
        self.browser.attach_all().await;
        self.browser
            .tab(Some(self.number))
            .await?
            .arrive(mark)
            .await;
        Ok(())
    }
}
