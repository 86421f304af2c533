//! One stream of video from the sandbox, for everybody who watches.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use deskhand_core::{
    sandbox::{Actor, ByteStream, ComputerError, StreamTarget, Streams},
    tasks::Tasks,
    video::{BadVideoFrame, VIDEO_LAYERS, VideoFrames, VideoWish},
};
use futures::{SinkExt, StreamExt};
use tokio::{
    sync::{
        Mutex, Notify,
        broadcast::{self, error::RecvError},
        watch,
    },
    time::Instant,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    SessionComputer,
    video_quality::{Delivery, QualityPace, ViewerDelivery},
};

/// The maximum number of frames that wait for a viewer, about one second. A slower viewer waits for the next key frame.
const MOST_WAITING: usize = 32;
/// The numbers of waiting frames from which a viewer is no longer sent the highest layer, and then the next one.
const LEAVE_OUT_FROM: [usize; 2] = [6, 12];
/// The number of waiting frames at which a viewer has caught up.
const CAUGHT_UP_AT: usize = 2;

/// The stream that all viewers share, while there are any.
#[derive(Debug, Default)]
pub(super) struct SharedVideo(Mutex<Weak<OpenVideo>>);

/// An open stream of video. The last viewer ends it.
#[derive(Debug)]
struct OpenVideo {
    frames: broadcast::Sender<SentFrame>,
    key_wanted: Arc<Notify>,
    delivery: Arc<Delivery>,
    /// Fires when the sandbox has ended the stream.
    ended: CancellationToken,
    _stop: DropGuard,
}

/// A frame as viewers get it.
#[derive(Debug, Clone)]
struct SentFrame {
    is_key: bool,
    layer: u8,
    message: Bytes,
}

/// Somebody who watches.
#[derive(Debug)]
pub struct VideoViewer {
    frames: broadcast::Receiver<SentFrame>,
    /// True until the key frame from which on the viewer can decode.
    waits_for_key: bool,
    /// The highest layer that the viewer is sent.
    highest_layer: u8,
    delivered: ViewerDelivery,
    video: Arc<OpenVideo>,
}

impl VideoViewer {
    fn join(video: Arc<OpenVideo>, frames: broadcast::Receiver<SentFrame>) -> Self {
        Self {
            frames,
            waits_for_key: true,
            highest_layer: VIDEO_LAYERS - 1,
            delivered: ViewerDelivery::default(),
            video,
        }
    }

    /// Waits for the next frame, as a message of [`deskhand_core::video`]. Returns `None` when the video has ended.
    ///
    /// A slow viewer is sent fewer frames: first without those that no other frame needs, then none until the next key
    /// frame.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            let n_waiting = self.frames.len();
            let received = tokio::select! {
                received = self.frames.recv() => received,
                () = self.video.ended.cancelled() => return None,
            };
            match received {
                Ok(frame) if self.takes(&frame, n_waiting) => {
                    self.video.delivery.count(&mut self.delivered);
                    return Some(frame.message);
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => self.wait_for_key(),
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Leaves out all waiting frames, and continues with a key frame.
    pub(crate) fn begin_anew(&mut self) {
        self.frames = self.frames.resubscribe();
        self.wait_for_key();
    }

    /// Leaves out all frames up to the next key frame, and asks for one.
    fn wait_for_key(&mut self) {
        self.waits_for_key = true;
        self.video.key_wanted.notify_one();
    }

    /// Returns true if the viewer is sent this frame, the first of `n_waiting`.
    fn takes(&mut self, frame: &SentFrame, n_waiting: usize) -> bool {
        if frame.is_key {
            self.waits_for_key = false;
        }
        if self.waits_for_key {
            return false;
        }
        let too_many = LEAVE_OUT_FROM.iter().filter(|from| n_waiting >= **from);
        let n_left_out = u8::try_from(too_many.count()).unwrap_or(u8::MAX);
        let bearable = (VIDEO_LAYERS - 1).saturating_sub(n_left_out);
        self.highest_layer = self.highest_layer.min(bearable);
        // A frame of a higher layer may need one that was left out, unless it comes after this one.
        if n_waiting <= CAUGHT_UP_AT && frame.layer == 0 {
            self.highest_layer = (self.highest_layer + 1).min(VIDEO_LAYERS - 1);
        }
        frame.layer <= self.highest_layer
    }
}

impl SessionComputer {
    /// Joins those who watch the video. The first one has the sandbox film its screen.
    pub(crate) async fn watch_video(&self, tasks: &Tasks) -> Result<VideoViewer, ComputerError> {
        // Held while the stream is opened, so that it is opened once.
        let mut shared = self.video.0.lock().await;
        if let Some(video) = shared.upgrade().filter(|video| !video.ended.is_cancelled()) {
            let frames = video.frames.subscribe();
            video.key_wanted.notify_one();
            return Ok(VideoViewer::join(video, frames));
        }
        // It is for everybody, so it is opened in no one's name.
        let stream = self.open(StreamTarget::Video, Actor::Agent).await?;
        let (frames, first) = broadcast::channel(MOST_WAITING);
        let (stop, ended) = (tasks.shutdown().child_token(), CancellationToken::new());
        let key_wanted = Arc::<Notify>::default();
        let delivery = Arc::<Delivery>::default();
        let pump = pump(
            stream,
            frames.clone(),
            Arc::clone(&key_wanted),
            Arc::clone(&delivery),
        );
        let (over, stopped) = (ended.clone().drop_guard(), stop.clone());
        tasks.spawn("video", async move {
            let _over = over;
            if let Some(Err(error)) = stopped.run_until_cancelled(pump).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "could not read a frame of video; closing its stream");
            }
        });
        let video = Arc::new(OpenVideo {
            frames,
            key_wanted,
            delivery,
            ended,
            _stop: stop.drop_guard(),
        });
        *shared = Arc::downgrade(&video);
        Ok(VideoViewer::join(video, first))
    }
}

/// Passes on frames until the stream ends, each written anew from its fields, and wishes for key frames and qualities.
async fn pump(
    stream: ByteStream,
    frames: broadcast::Sender<SentFrame>,
    key_wanted: Arc<Notify>,
    delivery: Arc<Delivery>,
) -> Result<(), BadVideoFrame> {
    let ByteStream {
        mut incoming,
        mut outgoing,
    } = stream;
    let (quality, mut wanted_quality) = watch::channel(0);
    let asking = async {
        loop {
            let wish = tokio::select! {
                () = key_wanted.notified() => VideoWish::KeyFrame,
                Ok(()) = wanted_quality.changed() => {
                    VideoWish::Quality(*wanted_quality.borrow_and_update())
                }
            };
            let wish = Bytes::copy_from_slice(&[wish.to_byte()]);
            if outgoing.send(wish).await.is_err() {
                // The stream is ending, which reading it shows.
                std::future::pending::<()>().await;
            }
        }
    };
    let passing = async {
        let mut reader = VideoFrames::default();
        let mut pace = QualityPace::new(Instant::now());
        while let Some(piece) = incoming.next().await {
            reader.push(&piece);
            while let Some(frame) = reader.read()? {
                if let Some(changed) = pace.count(Instant::now(), &delivery) {
                    tracing::debug!(quality = changed, "the quality of a video changes");
                    quality.send_replace(changed);
                }
                // Fails only if the last viewer is just leaving.
                let _ = frames.send(SentFrame {
                    is_key: frame.is_key,
                    layer: frame.layer,
                    message: frame.to_message(),
                });
            }
        }
        Ok(())
    };
    tokio::select! {
        passed = passing => passed,
        never = asking => never,
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// The frames of a stream in the order in which the encoder makes them.
    struct Stage {
        viewer: VideoViewer,
        frames: broadcast::Sender<SentFrame>,
        n_sent: u8,
    }

    impl Stage {
        fn new() -> Self {
            let (frames, receiver) = broadcast::channel(MOST_WAITING);
            let video = Arc::new(OpenVideo {
                frames: frames.clone(),
                key_wanted: Arc::default(),
                delivery: Arc::default(),
                ended: CancellationToken::new(),
                _stop: CancellationToken::new().drop_guard(),
            });
            Self {
                viewer: VideoViewer::join(video, receiver),
                frames,
                n_sent: 0,
            }
        }

        fn send(&mut self, n_frames: u8, is_key: bool) {
            for _ in 0..n_frames {
                let layer = [0, 2, 1, 2][usize::from(self.n_sent % 4)];
                let message = Bytes::copy_from_slice(&[self.n_sent, layer]);
                let frame = SentFrame {
                    is_key,
                    layer,
                    message,
                };
                self.frames.send(frame).unwrap();
                self.n_sent += 1;
            }
        }

        /// Returns the numbers of the frames that the viewer is sent.
        fn sent(&mut self) -> Vec<u8> {
            std::iter::from_fn(|| self.viewer.next().now_or_never().flatten())
                .map(|message| message[0])
                .collect()
        }

        fn has_asked_for_key(&self) -> bool {
            let asked = self.viewer.video.key_wanted.notified();
            asked.now_or_never().is_some()
        }
    }

    #[tokio::test]
    async fn a_viewer_in_time_is_sent_everything_from_a_key_frame_on() {
        let mut stage = Stage::new();
        stage.send(4, false);
        assert!(stage.sent().is_empty());
        for n in 4..20 {
            stage.send(1, n == 4);
            assert_eq!(stage.sent(), [n]);
        }
    }

    #[tokio::test]
    async fn a_slow_viewer_loses_the_higher_layers_first() {
        let mut stage = Stage::new();
        stage.send(1, true);
        stage.sent();
        stage.send(16, false);
        // Until it has caught up, only the lowest layer. Then one layer more with each frame of the lowest.
        assert_eq!(stage.sent(), [4, 8, 12, 16]);
        stage.send(1, false);
        assert!(stage.sent().is_empty(), "it is of the highest layer");
        stage.send(1, false);
        assert_eq!(stage.sent(), [18]);
        let mut later = Vec::new();
        for _ in 0..8 {
            stage.send(1, false);
            later.extend(stage.sent());
        }
        assert_eq!(later, [20, 21, 22, 23, 24, 25, 26]);
        assert!(!stage.has_asked_for_key());
    }

    #[tokio::test]
    async fn a_viewer_that_falls_behind_waits_for_a_key_frame() {
        let mut stage = Stage::new();
        stage.send(1, true);
        stage.sent();
        stage.send(40, false);
        assert!(stage.sent().is_empty());
        assert!(stage.has_asked_for_key());
        stage.send(3, false);
        stage.send(1, true);
        assert_eq!(stage.sent(), [44]);
    }

    #[tokio::test]
    async fn watching_ends_with_the_video() {
        let mut stage = Stage::new();
        stage.viewer.video.ended.cancel();
        assert_eq!(stage.viewer.next().await, None);
    }
}
