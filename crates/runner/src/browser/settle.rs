//! Waits until a page shows the effect of a verb: by its navigation, its requests and its changes, never by the clock.

use std::time::Duration;

use deskhand_core::browser::PageCondition;
use serde_json::json;
use tokio::time::Instant;

use super::{BrowseError, observer::Observed, tab::Tab};

/// The longest wait for the effect of a click or a key, unless the page opens another one.
const SETTLE_MAX: Duration = Duration::from_secs(3);
/// The longest wait for a page to load, after which it is used as it is.
pub(super) const LOAD_MAX: Duration = Duration::from_secs(15);
/// The longest wait for a page that keeps changing, such as an animation.
const QUIET_MAX_MS: u64 = 400;
/// The longest wait for the news that a page was replaced, after its scripts have ended.
const REPLACED_MAX: Duration = Duration::from_millis(200);
/// The extra time of a call beyond the time that its script takes.
const GRACE: Duration = Duration::from_secs(2);

/// The state of a tab before a verb.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    n_requests: u64,
}

/// The calm after which a verb has had its effect, unless it caused requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calm {
    /// One frame, if nothing has changed since a field was entered: text that is typed changes the document at once or
    /// with the next frame, or by a request.
    AfterTyping,
    /// Two frames.
    Full,
}

impl Tab {
    /// Returns the state before a verb, for [`Self::settle`].
    pub(super) fn mark(&self) -> Mark {
        let mut seen = self.browser.observer.seen();
        let n_requests = seen.tab(self.number).map(|tab| tab.request_mark());
        Mark {
            n_requests: n_requests.unwrap_or_default(),
        }
    }

    /// Waits until the page shows the effect of a verb, but not for ever. A dialog or the end of the tab ends the wait.
    pub(super) async fn settle(&self, mark: Mark, calm: Calm) {
        let give_up_at = Instant::now() + SETTLE_MAX;
        let mut n_frames = if calm == Calm::AfterTyping { 1 } else { 2 };
        loop {
            let quiet = format!("quiet({QUIET_MAX_MS}, {n_frames})");
            n_frames = 2;
            let was_quiet = self.script::<bool>(&self.main_frame(), &quiet).await;
            if matches!(
                was_quiet,
                Err(BrowseError::Dialog { .. } | BrowseError::NoTab(_))
            ) {
                return;
            }
            if Instant::now() > give_up_at && !self.state(|tab| tab.is_loading).unwrap_or(false) {
                return;
            }
            if self.state(|tab| tab.is_loading).unwrap_or(false) {
                self.loaded(LOAD_MAX).await;
                if Instant::now() > give_up_at {
                    return;
                }
                continue;
            }
            let is_open = |tab: &super::tab_record::TabRecord| tab.is_requesting(mark.n_requests);
            if !self.state(is_open).unwrap_or(false) {
                return;
            }
            let number = self.number;
            let left = give_up_at.saturating_duration_since(Instant::now());
            let ended = self.browser.observer.until(left, |seen: &mut Observed| {
                let tab = seen.tab(number)?;
                let is_over = !is_open(tab) || tab.is_loading || tab.dialog.is_some();
                is_over.then_some(())
            });
            if ended.await.is_none() {
                return;
            }
        }
    }

    /// Waits until the page has loaded. Returns false if it is still loading after `most`.
    pub(super) async fn loaded(&self, most: Duration) -> bool {
        let number = self.number;
        let loaded = self
            .browser
            .observer
            .until(most, |seen| match seen.tab(number) {
                None => Some(()),
                Some(tab) => {
                    (!tab.is_loading || tab.dialog.is_some() || tab.is_crashed).then_some(())
                }
            });
        loaded.await.is_some()
    }

    /// Waits for a condition.
    pub(super) async fn wait(
        &self,
        until: &PageCondition,
        timeout_ms: u64,
    ) -> Result<(), BrowseError> {
        let (kind, wanted) = match until {
            PageCondition::Text(text) => ("text", text),
            PageCondition::NoText(text) => ("no_text", text),
            PageCondition::Selector(selector) => ("selector", selector),
            PageCondition::Url(part) => return self.wait_for_url(part, timeout_ms).await,
            PageCondition::Quiet => {
                self.settle(Mark { n_requests: 0 }, Calm::Full).await;
                return Ok(());
            }
        };
        let give_up_at = Instant::now() + Duration::from_millis(timeout_ms);
        loop {
            let n_documents = self.state(|tab| tab.n_documents).unwrap_or_default();
            let left = give_up_at.saturating_duration_since(Instant::now());
            let call = format!(
                "waitFor({}, {}, {})",
                json!(kind),
                json!(wanted),
                left.as_millis()
            );
            let found = self.found_anywhere(&call, left + GRACE).await;
            match found {
                Ok(true) => return Ok(()),
                Err(
                    error @ (BrowseError::Dialog { .. }
                    | BrowseError::NoTab(_)
                    | BrowseError::Crashed(_)),
                ) => {
                    return Err(error);
                }
                _ if left.is_zero() => return Err(BrowseError::WaitedInVain(timeout_ms)),
                Ok(false) => {}
                // The page was replaced by another one, or the selector is invalid.
                Err(error) => {
                    if !self.was_replaced(n_documents).await {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Calls a helper in every frame at the same time. Returns true as soon as one of them does.
    async fn found_anywhere(&self, call: &str, timeout: Duration) -> Result<bool, BrowseError> {
        use futures::{StreamExt, stream::FuturesUnordered};
        let frames = self.frames().await?;
        // Text that must be gone is gone only if no frame has it.
        let must_all = call.starts_with("waitFor(\"no_text\"");
        let mut answers: FuturesUnordered<_> = frames
            .iter()
            .map(|frame| self.script_within::<bool>(timeout, frame, call))
            .collect();
        let mut result = Ok(must_all);
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(found) if found != must_all => return Ok(found),
                Ok(_) => {}
                Err(error) => result = Err(error),
            }
        }
        result
    }

    /// Returns true if the page was replaced by another one, and waits until that has loaded.
    async fn was_replaced(&self, n_documents: u64) -> bool {
        let number = self.number;
        let replaced = self.browser.observer.until(REPLACED_MAX, |seen| {
            let tab = seen.tab(number)?;
            (tab.is_loading || tab.n_documents > n_documents).then_some(())
        });
        replaced.await.is_some() && self.loaded(LOAD_MAX).await
    }

    async fn wait_for_url(&self, part: &str, timeout_ms: u64) -> Result<(), BrowseError> {
        let number = self.number;
        let most = Duration::from_millis(timeout_ms);
        let reached = self.browser.observer.until(most, |seen| {
            let tab = seen.tab(number)?;
            tab.url.contains(part).then_some(())
        });
        let reached = reached.await;
        reached.ok_or(BrowseError::WaitedInVain(timeout_ms))
    }

    /// Reads something of the tab's state. Returns `None` if the tab is closed.
    pub(super) fn state<T>(
        &self,
        read: impl FnOnce(&super::tab_record::TabRecord) -> T,
    ) -> Option<T> {
        let mut seen = self.browser.observer.seen();
        seen.tab(self.number).map(|tab| read(tab))
    }
}
