//! Picture and sound as watchers get them: nothing while a person has control.
//!
//! Frames of that time may still wait for a slow watcher when it is over. So whenever control has changed hands, all
//! waiting frames are left out.

use bytes::Bytes;

use super::audience::Seat;
use crate::{SoundListener, VideoViewer, live::attendance::ControlState};

/// The picture that one watcher sees.
#[derive(Debug)]
pub struct WatchedVideo {
    viewer: VideoViewer,
    control: ControlState,
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
            _seat: seat,
        }
    }

    /// Waits for the next frame, as a message of [`deskhand_core::video`]. Returns `None` when the video has ended.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            let frame = tokio::select! {
                frame = self.viewer.next() => Some(frame?),
                () = self.control.changed() => None,
            };
            if self.control.has_changed() {
                self.viewer.begin_anew();
            } else if let Some(frame) = frame
                && !self.control.is_held()
            {
                return Some(frame);
            }
        }
    }
}

impl WatchedSound {
    pub(super) fn new(listener: SoundListener, control: ControlState) -> Self {
        Self { listener, control }
    }

    /// Waits for the next frame, as a message of [`deskhand_core::sound`]. Returns `None` when the sound has ended.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            let frame = tokio::select! {
                frame = self.listener.next() => Some(frame?),
                () = self.control.changed() => None,
            };
            if self.control.has_changed() {
                self.listener.begin_anew();
            } else if let Some(frame) = frame
                && !self.control.is_held()
            {
                return Some(frame);
            }
        }
    }
}
