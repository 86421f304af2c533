//! The player of a page: the video or sound that it shows, and the wishes that it is asked to follow.

use serde::{Deserialize, Serialize};

/// Something that is wanted of the largest video of a page, or of its sound if there is no video.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlayerWish {
    /// Changes nothing.
    Look,
    /// Plays with sound, from the present place.
    Play,
    /// Fills the screen.
    FillScreen,
    /// Pauses, and gives the screen back.
    Stop,
}

/// The media of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMedia {
    /// The HTTP status of the page. Absent if the page has none or does not tell.
    pub status: Option<u16>,
    /// The player that people would look at. Absent if the page has none.
    pub player: Option<PlayerState>,
}

/// The state of a player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerState {
    pub has_picture: bool,
    pub is_paused: bool,
    pub is_ended: bool,
    pub is_muted: bool,
    pub fills_screen: bool,
    /// True if there is nothing to play at the present place yet.
    pub is_waiting: bool,
    /// True if the media could not be loaded or decoded.
    pub is_broken: bool,
    pub position_ms: u64,
    /// Absent while it is unknown, and for live media.
    pub duration_ms: Option<u64>,
    /// The number of pictures shown so far.
    pub n_frames: u64,
}

impl PlayerState {
    /// Returns true if the player plays, or is about to.
    pub fn is_playing(&self) -> bool {
        !self.is_paused && !self.is_ended && !self.is_broken
    }
}
