//! The capture of a tab by the page of another one, for streams that are shared through a web client.

use serde::{Deserialize, Serialize};

/// The title of the tab that pages may capture. The browser recognises the tab by it.
pub const CAPTURED_TITLE: &str = "Shared by Deskhand";

/// A wish about the capture of tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureWish {
    /// Lets pages that ask for a screen have the marked tab, with its sound. The browser, which otherwise asks a person,
    /// is started again for that, unless it allows it already.
    Allow,
    /// Marks the tab with [`CAPTURED_TITLE`].
    Mark,
}
