//! Uses the player of a page, in whichever of its frames it is.

use std::time::Duration;

use deskhand_core::browser::{BrowserFinding, PageMedia, PlayerState, PlayerWish};
use futures::future::join_all;
use serde::Deserialize;
use serde_json::json;

use super::{
    BrowseError,
    tab::{FrameHandle, Tab},
};

/// The timeout of a frame inside the page. The page is judged without those that hang.
const FRAME_TIMEOUT: Duration = Duration::from_secs(2);

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
        let frames = self.frames_within(FRAME_TIMEOUT).await?;
        let looks = join_all(frames.iter().map(|frame| self.look(frame))).await;
        for (frame, looked) in frames.into_iter().zip(looks) {
            // A frame may go away or hang while the others are asked. Without the main frame, there is no page.
            let is_main = frame.id == self.main;
            let found = match looked {
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
            Some((frame, _)) if wish != PlayerWish::Look => self.follow(&frame, wish).await?.player,
            Some((_, found)) => found.player,
            None => None,
        };
        Ok(BrowserFinding::Media(PageMedia { status, player }))
    }

    async fn look(&self, frame: &FrameHandle) -> Result<FramePlayer, BrowseError> {
        let call = player_call(PlayerWish::Look);
        if frame.id == self.main {
            self.script(frame, &call).await
        } else {
            self.script_within(FRAME_TIMEOUT, frame, &call).await
        }
    }

    /// Follows a wish as if somebody had clicked.
    async fn follow(
        &self,
        frame: &FrameHandle,
        wish: PlayerWish,
    ) -> Result<FramePlayer, BrowseError> {
        self.script_after_click(frame, &player_call(wish)).await
    }
}

fn player_call(wish: PlayerWish) -> String {
    format!("player({})", json!(wish))
}
