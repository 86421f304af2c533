//! The tool of ours that a vendor's computer stands for.

use deskhand_core::tool::{NativeTool, ToolSpec};

use crate::settings::BrowserTool;

/// The tool of ours that a vendor's computer stands for in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    /// The screen. If the session offers the browser too, it is a function.
    Screen,
    /// The browser, in a session that does not offer the screen.
    Page,
    /// The same, as a function `computer` whose results are a picture and an address.
    PageFunction,
}

impl Surface {
    /// Returns the surface of a session with these tools.
    pub(crate) fn of(tools: &[ToolSpec], wanted: BrowserTool) -> Self {
        let has = |native: NativeTool| tools.iter().any(|tool| tool.native == Some(native));
        match wanted {
            _ if has(NativeTool::Computer) || !has(NativeTool::Browser) => Self::Screen,
            BrowserTool::Vendor => Self::Page,
            BrowserTool::ComputerFunction => Self::PageFunction,
        }
    }
}
