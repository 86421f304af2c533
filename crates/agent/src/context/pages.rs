//! Pages that were opened for the agent: the note about them.

use deskhand_core::event::PageOpened;

/// Returns the note about a page. The page controls its title and address, which are quoted.
pub(super) fn note(opened: &PageOpened) -> String {
    let url = opened.url.as_str();
    if let Some(problem) = &opened.problem {
        return format!("[The browser was to open {url} for you, and could not: {problem}]");
    }
    let title = opened.title.as_deref().unwrap_or_default();
    let shown = opened.shown_url.as_deref().unwrap_or(url);
    format!("[The browser has opened {url} for you. It shows the page {title:?} at {shown:?}.]")
}
