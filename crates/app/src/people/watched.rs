//! Picture and sound as watchers get them: nothing while a person has control.

use bytes::Bytes;

use super::audience::Seat;
use crate::{SoundListener, VideoViewer, live::attendance::ControlState};

/// The picture that one watcher sees.
#[derive(Debug)]
pub struct WatchedVideo {
    viewer: VideoViewer,
    control: ControlState,
    /// True if frames were left out because a person had control.
    was_paused: bool,
    _seat: Seat,
}

/// The sound that one watcher hears.
#[derive(Debug)]
pub struct WatchedSound {
    listener: SoundListener,
    control: ControlState,
}

impl WatchedVideo {
    pub(super) fn new(viewer: VideoViewer, control: ControlState, seat: Seat) -> Self {
        Self {
            viewer,
            control,
            was_paused: false,
            _seat: seat,
        }
    }

    /// Waits for the next frame, as a message of [`deskhand_core::video`]. Returns `None` when the video has ended.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            tokio::select! {
                frame = self.viewer.next() => {
                    let frame = frame?;
                    if !self.check() {
                        return Some(frame);
                    }
                }
                () = self.control.changed() => {
                    self.check();
                }
            }
        }
    }

    /// Returns true if the current frame must be left out.
    fn check(&mut self) -> bool {
        if self.control.is_held() {
            self.was_paused = true;
            return true;
        }
        // The frames from now on need some that were left out.
        let was_paused = std::mem::take(&mut self.was_paused);
        if was_paused {
            self.viewer.wait_for_key();
        }
        was_paused
    }
}

impl WatchedSound {
    pub(super) fn new(listener: SoundListener, control: ControlState) -> Self {
        Self { listener, control }
    }

    /// Waits for the next frame, as a message of [`deskhand_core::sound`]. Returns `None` when the sound has ended.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            let frame = self.listener.next().await?;
            if !self.control.is_held() {
                return Some(frame);
            }
        }
    }
}
