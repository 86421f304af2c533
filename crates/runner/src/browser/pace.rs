//! Waits for pages that are slow to handle their input.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use super::{
    Browser,
    devtools::{DevToolsError, TargetInfo},
};

impl Browser {
    /// Waits until the page in a window has handled all input so far, but no longer than `max`.
    ///
    /// The browser passes keys to its page first, and looks for its own shortcuts only among those that the page
    /// returns. If the page is slow, text typed after Control+L therefore goes to the page and not to the address
    /// bar. The process of a page handles input before anything else, so its reply to a call means that it has no
    /// input left.
    pub(crate) async fn let_page_catch_up(&self, window_name: &str, max: Duration) {
        let asked = async {
            let targets = self.devtools.targets().await?;
            let pages = targets
                .iter()
                .filter(|target| is_shown(target, window_name));
            join_all(pages.map(|page| self.ask_for_a_sign(page))).await;
            Ok::<_, DevToolsError>(())
        };
        // If the browser cannot be asked or hangs, we continue, as a user would.
        let _ = tokio::time::timeout(max, asked).await;
    }

    async fn ask_for_a_sign(&self, page: &TargetInfo) -> Result<(), DevToolsError> {
        let target = self.devtools.attach(page).await?;
        let asked: Result<Value, _> = target
            .call("Runtime.evaluate", json!({"expression": "0"}))
            .await;
        target.detach().await;
        asked.map(|_zero| ())
    }
}

/// Returns true if a target is the page that a window shows. A window's name begins with the title of its page.
fn is_shown(target: &TargetInfo, window_name: &str) -> bool {
    let title = target.title.as_str();
    target.kind == "page" && !title.is_empty() && window_name.starts_with(title)
}
