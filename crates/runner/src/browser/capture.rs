//! The tab that pages may capture.

use deskhand_core::browser::{BrowserFinding, CAPTURED_TITLE};
use serde_json::json;

use super::{BrowseError, tab::Tab};

impl Tab {
    /// Gives the page the title by which the browser recognises the tab to capture.
    pub(super) async fn mark_captured(&self) -> Result<BrowserFinding, BrowseError> {
        let call = format!("setTitle({})", json!(CAPTURED_TITLE));
        self.script::<bool>(&self.main_frame(), &call).await?;
        Ok(BrowserFinding::Done)
    }
}
