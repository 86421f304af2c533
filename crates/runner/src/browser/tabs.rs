//! Tabs: following them, choosing one, opening and closing.

use std::time::Duration;

use deskhand_core::browser::{
    Browsed, BrowserFinding, LONGEST_PAGE_LABEL, MOST_TABS, TabEntry, TabNumber, WebUrl, page_label,
};
use futures::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    BrowseError, Browser, DevToolsError,
    observer::AboutTarget,
    settings::{SET_VIEWPORT, viewport_params},
    tab::{Tab, auto_attach},
};

/// The timeout for a tab to appear or to close.
const TAB_TIMEOUT: Duration = Duration::from_secs(10);

/// The timeout for the first answer of a browser that may just have been started.
const START_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreatedTarget {
    target_id: String,
}

impl Browser {
    /// Follows all tabs from now on, if it does not do so yet.
    pub(super) async fn follow(&self) -> Result<(), BrowseError> {
        let is_new = !std::mem::replace(&mut self.observer.seen().is_on, true);
        if is_new {
            let (method, params) = ("Target.setDiscoverTargets", json!({"discover": true}));
            let discovered = self
                .devtools
                .call_within::<Value>(START_TIMEOUT, method, params, None)
                .await;
            if let Err(error) = discovered {
                self.observer.forget();
                return Err(error.into());
            }
            self.allow_downloads().await?;
            let mut seen = self.observer.seen();
            let was_restarted = |change: &_| {
                matches!(
                    change,
                    deskhand_core::browser::BrowserChange::BrowserRestarted
                )
            };
            seen.changes.retain(was_restarted);
        }
        if self.observer.seen().tabs.is_empty() {
            self.create("about:blank").await?;
        }
        self.attach_all().await;
        Ok(())
    }

    async fn allow_downloads(&self) -> Result<(), BrowseError> {
        let folder = self.settings.home.join("Downloads");
        let params = json!({
            "behavior": "allow",
            "downloadPath": folder,
            "eventsEnabled": true,
        });
        let allowed = self
            .devtools
            .call::<Value>("Browser.setDownloadBehavior", params, None);
        allowed.await?;
        Ok(())
    }

    /// Attaches to every tab that is not attached to yet.
    pub(super) async fn attach_all(&self) {
        let new: Vec<(TabNumber, String)> = {
            let seen = self.observer.seen();
            let new = seen.tabs.iter().filter(|tab| tab.session.is_none());
            new.take(MOST_TABS)
                .map(|tab| (tab.number, tab.target.clone()))
                .collect()
        };
        // A tab that cannot be attached to is reported when it is used.
        join_all(
            new.iter()
                .map(|(tab, target)| self.attach_tab(*tab, target)),
        )
        .await;
    }

    async fn attach_tab(&self, number: TabNumber, id: &str) -> Result<(), DevToolsError> {
        let target = self.devtools.attach_to(id).await?;
        let storage = {
            let mut seen = self.observer.seen();
            let storage = seen.storage_script.clone();
            let Some(tab) = seen.tab(number) else {
                return Ok(());
            };
            tab.session = Some(target.session().to_owned());
            storage
        };
        let small = json!({"maxTotalBufferSize": 0, "maxResourceBufferSize": 0});
        let mut calls = vec![
            ("Page.enable", json!({})),
            ("Runtime.enable", json!({})),
            ("Network.enable", small),
            ("Target.setAutoAttach", auto_attach()),
        ];
        let add_script = "Page.addScriptToEvaluateOnNewDocument";
        calls.extend(storage.map(|source| (add_script, json!({"source": source}))));
        let viewport = self.settings.usual_viewport();
        calls.extend(viewport.map(|viewport| (SET_VIEWPORT, viewport_params(viewport))));
        let calls = calls
            .into_iter()
            .map(|(method, params)| target.call::<Value>(method, params));
        for enabled in join_all(calls).await {
            enabled?;
        }
        let state = target.evaluate::<bool>(id, "document.readyState !== 'complete'");
        let is_loading = state.await.unwrap_or(false);
        if let Some(tab) = self.observer.seen().tab(number) {
            tab.is_loading |= is_loading;
        }
        Ok(())
    }

    /// Returns the tab for a verb: the one that is asked for, or the current one.
    pub(super) async fn tab(&self, wanted: Option<TabNumber>) -> Result<Tab, BrowseError> {
        let number = match wanted {
            Some(number) => number,
            None => self.current().await?,
        };
        let (target, session) = {
            let mut seen = self.observer.seen();
            let tab = seen.tab(number).ok_or(BrowseError::NoTab(number))?;
            (tab.target.clone(), tab.session.clone())
        };
        let session = session.ok_or(BrowseError::DevTools(DevToolsError::Late))?;
        Ok(Tab {
            browser: self.clone(),
            number,
            page: self.devtools.target(session),
            main: target,
        })
    }

    /// Returns the current tab. If people or other tools brought another one to the front, it is that one.
    async fn current(&self) -> Result<TabNumber, BrowseError> {
        let (current, candidates) = {
            let seen = self.observer.seen();
            let usable = seen
                .tabs
                .iter()
                .filter(|tab| tab.dialog.is_none() && !tab.is_crashed);
            let candidates: Vec<_> = usable.map(|tab| tab.number).collect();
            (
                seen.current.or(seen.tabs.first().map(|tab| tab.number)),
                candidates,
            )
        };
        let current = current.ok_or(DevToolsError::Gone)?;
        let mut chosen = current;
        if candidates.len() > 1 && candidates.contains(&current) && !self.is_visible(current).await
        {
            for candidate in candidates {
                if self.is_visible(candidate).await {
                    chosen = candidate;
                }
            }
        }
        self.observer.seen().current = Some(chosen);
        Ok(chosen)
    }

    /// Reads the title of a tab again: a browser without a screen does not tell when it changes.
    pub(super) async fn read_title(&self, tab: &Tab) {
        let params = json!({"targetId": tab.main});
        let asked = self.devtools.call("Target.getTargetInfo", params, None);
        // A tab that is gone keeps its title.
        let asked: Result<AboutTarget, _> = asked.await;
        if let (Ok(about), Some(tab)) = (asked, self.observer.seen().tab(tab.number)) {
            tab.title = about.target_info.title;
        }
    }

    /// Returns the target of the tab that verbs use.
    pub(super) fn current_target(&self) -> Option<String> {
        let mut seen = self.observer.seen();
        let current = seen.current?;
        seen.tab(current).map(|tab| tab.target.clone())
    }

    async fn is_visible(&self, tab: TabNumber) -> bool {
        let Ok(tab) = Box::pin(self.tab(Some(tab))).await else {
            return false;
        };
        let visible = "document.visibilityState === 'visible'";
        let visible = tab.page.evaluate::<bool>(&tab.main, visible);
        tab.unless_interrupted(visible).await.unwrap_or(false)
    }

    pub(super) fn list_tabs(&self) -> Vec<TabEntry> {
        let seen = self.observer.seen();
        let entry = |tab: &super::tab_record::TabRecord| TabEntry {
            tab: tab.number,
            url: tab.url.clone(),
            title: page_label(&tab.title, LONGEST_PAGE_LABEL),
            is_current: seen.current == Some(tab.number),
        };
        seen.tabs.iter().take(MOST_TABS).map(entry).collect()
    }

    /// Opens a tab and makes it the current one.
    pub(super) async fn new_tab(&self, url: Option<&WebUrl>) -> Result<(), BrowseError> {
        if self.observer.seen().tabs.len() >= MOST_TABS {
            return Err(BrowseError::TooManyTabs);
        }
        let number = self.create("about:blank").await?;
        self.attach_all().await;
        self.observer.seen().current = Some(number);
        match url {
            Some(url) => self.tab(Some(number)).await?.navigate(url.as_str()).await,
            None => Ok(()),
        }
    }

    async fn create(&self, url: &str) -> Result<TabNumber, BrowseError> {
        let created: CreatedTarget = self
            .devtools
            .call("Target.createTarget", json!({"url": url}), None)
            .await?;
        let found = self.observer.until(TAB_TIMEOUT, |seen| {
            let tab = seen.tabs.iter().find(|tab| tab.target == created.target_id);
            tab.map(|tab| tab.number)
        });
        let number = found.await.ok_or(DevToolsError::Late)?;
        // The caller knows that it opens.
        self.observer.seen().changes.retain(|change| {
            !matches!(change, deskhand_core::browser::BrowserChange::TabOpened { tab, .. } if *tab == number)
        });
        Ok(number)
    }

    /// Brings a tab to the front and makes it the current one.
    pub(super) async fn select_tab(&self, tab: &Tab) -> Result<(), BrowseError> {
        let params = json!({"targetId": tab.main});
        self.devtools
            .call::<Value>("Target.activateTarget", params, None)
            .await?;
        self.observer.seen().current = Some(tab.number);
        Ok(())
    }

    /// Closes the browser, and waits until it has ended.
    pub(crate) async fn close(&self) -> Result<Browsed, BrowseError> {
        let closing = self
            .devtools
            .call::<Value>("Browser.close", json!({}), None);
        // The answer may be lost with the browser.
        let _ = closing.await;
        let ended = async {
            let asked = || {
                self.devtools
                    .call::<Value>("Browser.getVersion", json!({}), None)
            };
            while !self.devtools.is_closed() && asked().await.is_ok() {}
        };
        let ended = tokio::time::timeout(TAB_TIMEOUT, ended).await;
        ended.map_err(|_late| DevToolsError::Late)?;
        Ok(Browsed {
            page: None,
            finding: BrowserFinding::Done,
            changes: Vec::new(),
            tabs: Vec::new(),
            frame: None,
            viewport: None,
        })
    }

    /// Closes a tab. Its page may ask first, with a dialog. The browser stays open with an empty tab.
    pub(super) async fn close_tab(&self, tab: &Tab) -> Result<(), BrowseError> {
        if self.observer.seen().tabs.len() == 1 {
            self.create("about:blank").await?;
            self.attach_all().await;
        }
        let number = tab.number;
        let closed: Result<Value, _> = tab.page.call("Page.close", json!({})).await;
        // The answer may be lost with the tab.
        if !matches!(
            closed,
            Ok(_) | Err(DevToolsError::Late | DevToolsError::Refused(_))
        ) {
            closed?;
        }
        let ended = self
            .observer
            .until(TAB_TIMEOUT, |seen| match seen.tab(number) {
                None => Some(true),
                Some(tab) => tab.dialog.is_some().then_some(false),
            });
        match ended.await {
            Some(true) => Ok(()),
            Some(false) => Err(tab.dialog_error()),
            None => Err(DevToolsError::Late.into()),
        }
    }
}
