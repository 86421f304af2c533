//! Saves and loads the state of the browser: its cookies, and the local storage of pages.
//!
//! The file has the form that Playwright gives it, so that states can be exchanged.

use deskhand_core::browser::BrowserFinding;
use futures::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{BrowseError, Browser, DevToolsError, browse_failed};
use crate::put_file;

/// The largest file of a state that is read.
const LARGEST_STATE_BYTES: u64 = 10 * 1024 * 1024;
/// The properties of a cookie that can be set.
const COOKIE_FIELDS: [&str; 8] = [
    "name", "value", "domain", "path", "expires", "httpOnly", "secure", "sameSite",
];

#[derive(Debug, Serialize, Deserialize)]
struct SavedState {
    cookies: Vec<Value>,
    #[serde(default)]
    origins: Vec<SavedOrigin>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavedOrigin {
    origin: String,
    local_storage: Vec<SavedItem>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedItem {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct Cookies {
    cookies: Vec<Value>,
}

impl Browser {
    /// Saves all cookies, and the local storage of the pages that are open.
    pub(super) async fn save_state(&self, path: &str) -> Result<BrowserFinding, BrowseError> {
        let all: Cookies = self
            .devtools
            .call("Storage.getCookies", json!({}), None)
            .await?;
        let mut origins: Vec<SavedOrigin> = Vec::new();
        let tabs: Vec<_> = self.list_tabs().into_iter().map(|tab| tab.tab).collect();
        for number in tabs {
            let tab = self.tab(Some(number)).await?;
            let frame = tab.main_frame();
            let call =
                "storage() && { origin: location.origin, localStorage: deskhandPage.storage() }";
            // A page without an origin has no storage.
            if let Ok(saved) = tab.script::<SavedOrigin>(&frame, call).await
                && !saved.local_storage.is_empty()
                && origins.iter().all(|known| known.origin != saved.origin)
            {
                origins.push(saved);
            }
        }
        let cookies = all.cookies.iter().map(settable).collect();
        let state = SavedState { cookies, origins };
        let bytes = serde_json::to_vec_pretty(&state);
        let bytes = bytes.map_err(|_bad| DevToolsError::Strange("Storage.getCookies"))?;
        self.write_private(path, bytes).await
    }

    /// Writes a file that others cannot read. A link that a program has left under the name does not lead elsewhere.
    async fn write_private(
        &self,
        path: &str,
        bytes: Vec<u8>,
    ) -> Result<BrowserFinding, BrowseError> {
        let path = self.path(path);
        let folder = path.parent().map(ToOwned::to_owned).unwrap_or_default();
        let n_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let target = path.clone();
        let writing = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder)?;
            put_file::replace(&folder, &target, &bytes)
        });
        let written = writing.await.unwrap_or_else(|join| Err(join.into()));
        written.map_err(browse_failed(path.clone()))?;
        Ok(BrowserFinding::File {
            path: path.to_string_lossy().into_owned(),
            n_bytes,
        })
    }

    /// Loads cookies now, and local storage into pages as they are opened. What a page has stored itself is kept.
    pub(super) async fn load_state(&self, path: &str) -> Result<BrowserFinding, BrowseError> {
        let path = self.path(path);
        let about = tokio::fs::metadata(&path).await;
        let about = about.map_err(browse_failed(path.clone()))?;
        if !about.is_file() || about.len() > LARGEST_STATE_BYTES {
            return Err(BrowseError::BadState(path));
        }
        let bytes = tokio::fs::read(&path).await;
        let bytes = bytes.map_err(browse_failed(path.clone()))?;
        let state: SavedState =
            serde_json::from_slice(&bytes).map_err(|_json| BrowseError::BadState(path.clone()))?;
        let cookies: Vec<Value> = state.cookies.iter().map(settable).collect();
        let set = self
            .devtools
            .call::<Value>("Storage.setCookies", json!({"cookies": cookies}), None)
            .await;
        set.map_err(|_refused| BrowseError::BadState(path.clone()))?;
        self.load_storage(&state.origins).await?;
        Ok(BrowserFinding::Done)
    }

    async fn load_storage(&self, origins: &[SavedOrigin]) -> Result<(), BrowseError> {
        if origins.is_empty() {
            return Ok(());
        }
        let script = format!(
            "(() => {{ const all = {}; const saved = all.find(one => one.origin === location.origin); \
             for (const {{ name, value }} of saved?.localStorage ?? []) \
             if (localStorage.getItem(name) === null) localStorage.setItem(name, value); }})();",
            json!(origins)
        );
        let sessions: Vec<String> = {
            let mut seen = self.observer.seen();
            seen.storage_script = Some(script.clone());
            let sessions = seen.tabs.iter().filter_map(|tab| tab.session.clone());
            sessions.collect()
        };
        let added = sessions.into_iter().map(|session| {
            let target = self.devtools.target(session);
            let (now, later) = (json!({"expression": script}), json!({"source": script}));
            async move {
                // A page that is gone or shows a dialog gets it with its next document.
                let _: Result<Value, _> = target.call("Runtime.evaluate", now).await;
                let method = "Page.addScriptToEvaluateOnNewDocument";
                target.call::<Value>(method, later).await
            }
        });
        for result in join_all(added).await {
            result?;
        }
        Ok(())
    }
}

/// Returns the properties of a cookie that can be set.
fn settable(cookie: &Value) -> Value {
    let mut fields = serde_json::Map::new();
    for name in COOKIE_FIELDS {
        // A cookie without an end ends with the browser.
        let is_endless = name == "expires" && cookie[name].as_f64().is_none_or(|time| time < 0.0);
        if !cookie[name].is_null() && !is_endless {
            fields.insert(name.to_owned(), cookie[name].clone());
        }
    }
    Value::Object(fields)
}
