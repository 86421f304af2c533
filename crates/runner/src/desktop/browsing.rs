//! Verbs of the browser on a desktop.

use deskhand_core::{
    action::{Point, Region},
    browser::{Browse, Browsed, ElementAt, PointedElement},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Desktop;
use crate::browser::{BrowseError, Browser};

impl Desktop {
    /// Carries out a verb in the browser, in turn with the actions on the screen.
    ///
    /// A browser that has ended is started again. A cancelled verb ends at once and leaves nothing pressed.
    pub async fn browse(
        &self,
        browse: &Browse,
        cancel: CancellationToken,
    ) -> Result<Browsed, BrowseError> {
        let mut acted_at = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(BrowseError::Cancelled),
            acted_at = self.0.acted_at.lock() => acted_at,
        };
        let browser = self.0.browser.ready_for(&browse.verb).await?;
        let secrets = self.0.guarded.all();
        let browsed = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                browser.let_go().await;
                Err(BrowseError::Cancelled)
            }
            browsed = browser.browse(browse, &secrets) => browsed,
        };
        if !browse.verb.is_look() {
            *acted_at = Instant::now();
        }
        browsed
    }

    /// Returns the element that a click or a key would be for.
    pub async fn find_element(&self, at: &ElementAt) -> Option<PointedElement> {
        let browser = self.0.browser.running()?;
        match at {
            ElementAt::Screen(point) => self.element_on_screen(&browser, Some(*point)).await,
            ElementAt::Pointer => self.element_on_screen(&browser, None).await,
            ElementAt::ScreenFocus(key) => {
                let focused = self.0.seat.run(|seat| seat.focused_client_pid()).await;
                let has_focus = focused.is_ok_and(|pid| pid == Some(browser.pid));
                if !has_focus {
                    return None;
                }
                browser.find_focused(*key).await
            }
            ElementAt::Page { .. }
            | ElementAt::PageFocus { .. }
            | ElementAt::PageField { .. }
            | ElementAt::PageDialog { .. } => browser.find_on_page(at).await,
        }
    }

    /// Returns the element at a point, or at the pointer, if the browser's window is on top there.
    async fn element_on_screen(
        &self,
        browser: &Browser,
        point: Option<Point>,
    ) -> Option<PointedElement> {
        let pid = browser.pid;
        let found = self.0.seat.run(move |seat| {
            let point = point.map_or_else(|| seat.pointer(), Ok)?;
            let window = seat.window_at(point, pid)?;
            Ok(window.map(|window: Region| (point, window)))
        });
        let (point, window) = found.await.ok()??;
        browser.find_on_screen(point, window).await
    }

    /// Forgets everything about the browser's tabs, and follows them no longer.
    pub(crate) async fn leave_browser(&self) {
        if let Some(browser) = self.0.browser.running() {
            browser.leave().await;
        }
    }
}
