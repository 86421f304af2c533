//! Uses the player of a page, in whichever of its frames it is.

use deskhand_core::browser::{BrowserFinding, PageMedia, PlayerState, PlayerWish};
use serde::Deserialize;
use serde_json::json;

use super::{
    BrowseError,
    tab::{FrameHandle, Tab},
};

/// The player of one frame.
#[derive(Deserialize)]
struct FramePlayer {
    status: Option<u16>,
    /// Larger for the player that people would rather look at.
    weight: u64,
    player: Option<PlayerState>,
}

impl Tab {
    /// Follows a wish, and returns the state of the player after it.
    pub(super) async fn use_player(&self, wish: PlayerWish) -> Result<BrowserFinding, BrowseError> {
        let mut best: Option<(FrameHandle, FramePlayer)> = None;
        let mut status = None;
        for frame in self.frames().await? {
            // A frame may go away while the others are asked. Without the main frame, there is no page.
            let is_main = frame.id == self.main;
            let found = match self.player(&frame, PlayerWish::Look).await {
                Ok(found) => found,
                Err(error) if is_main => return Err(error),
                Err(_) => continue,
            };
            if is_main {
                status = found.status;
            }
            let is_better = best
                .as_ref()
                .is_none_or(|(_, best)| found.weight > best.weight);
            if found.player.is_some() && is_better {
                best = Some((frame, found));
            }
        }
        let player = match best {
            Some((frame, _)) if wish != PlayerWish::Look => self.player(&frame, wish).await?.player,
            Some((_, found)) => found.player,
            None => None,
        };
        Ok(BrowserFinding::Media(PageMedia { status, player }))
    }

    async fn player(
        &self,
        frame: &FrameHandle,
        wish: PlayerWish,
    ) -> Result<FramePlayer, BrowseError> {
        let call = format!("player({})", json!(wish));
        match wish {
            PlayerWish::Look => self.script(frame, &call).await,
            PlayerWish::Play | PlayerWish::FillScreen | PlayerWish::Stop => {
                self.script_after_click(frame, &call).await
            }
        }
    }
}
