//! Films the screen for one stream to the server.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::Duration,
};

use deskhand_core::{
    action::Point,
    video::{VideoFrame, VideoWish},
};
use futures::{SinkExt, StreamExt};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep_until},
};
use tokio_tungstenite::tungstenite::Message;

use super::{
    VideoError,
    encoder::{FRAME_TIME, VideoEncoder},
};
use crate::{
    capture_clock,
    desktop::{Desktop, film::Film},
    link::Socket,
};

/// The least time between two key frames, which take many times the bytes of others.
const KEY_FRAME_INTERVAL: Duration = Duration::from_secs(1);
/// The interval at which an unchanged screen is encoded again, to sharpen the picture.
const REFINE_INTERVAL: Duration = Duration::from_millis(100);
/// The minimum number of these repeats. The last one is in the lowest layer, which every viewer gets.
const LEAST_REFINED: u32 = 4;
/// The time between two looks at the place of the pointer, which moves without anything being drawn.
const POINTER_INTERVAL: Duration = Duration::from_millis(100);

/// A capture that has begun. It ends on drop.
#[derive(Debug)]
pub(crate) struct VideoCapture {
    /// Present unless the screen is being filmed at this moment.
    camera: Option<Box<CameraAndEncoder>>,
    drawn: watch::Receiver<Instant>,
    pub(super) wishes: Arc<Wishes>,
    pace: FilmPace,
}

/// The wishes of the server that have not been granted.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    /// True if a key frame was wished for that is not taken note of yet.
    wants_key: AtomicBool,
    /// Wakes a capture that waits.
    key: Notify,
    /// The quality of the next frame.
    quality: AtomicU8,
}

#[derive(Debug)]
struct CameraAndEncoder {
    film: Film,
    encoder: VideoEncoder,
}

/// Decides when the next frame is due.
#[derive(Debug)]
struct FilmPace {
    shot_at: Instant,
    key_at: Instant,
    looked_at: Instant,
    /// The place of the pointer in the last frame.
    pointer: Point,
    /// True if something was drawn since the last frame.
    has_changed: bool,
    wants_key: bool,
    /// The frames since the last change.
    n_refined: u32,
    is_refined: bool,
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Shoot { key: bool },
    LookAtPointer,
    WaitUntil(Instant),
}

impl VideoCapture {
    /// Begins to film the screen. The first frame is a key frame.
    pub(crate) async fn begin(desktop: &Desktop) -> Result<Self, VideoError> {
        let (film, drawn) = desktop.film().await?;
        let opened = tokio::task::spawn_blocking(move || {
            let encoder = VideoEncoder::new(film.size())?;
            Ok::<_, VideoError>(Box::new(CameraAndEncoder { film, encoder }))
        });
        let camera = opened.await.map_err(|_join| VideoError::Thread)??;
        Ok(Self {
            camera: Some(camera),
            drawn,
            wishes: Arc::default(),
            pace: FilmPace::new(Instant::now()),
        })
    }

    /// Sends frames until the server closes the stream or the X server ends.
    pub(crate) async fn serve(mut self, socket: Socket) -> Result<(), VideoError> {
        let (mut sink, mut incoming) = socket.split();
        let wishes = Arc::clone(&self.wishes);
        let closed = async {
            while let Some(Ok(message)) = incoming.next().await {
                match message {
                    Message::Binary(bytes) => {
                        let parsed = bytes.iter().filter_map(|byte| VideoWish::parse(*byte));
                        parsed.for_each(|wish| wishes.add(wish));
                    }
                    Message::Close(_) => break,
                    Message::Text(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
                }
            }
        };
        let sending = async {
            loop {
                let frame = self.next().await?;
                sink.send(Message::Binary(frame.to_stream())).await?;
            }
        };
        let ended = tokio::select! {
            () = closed => Ok(()),
            ended = sending => ended,
        };
        // Closes the WebSocket properly if that is still possible.
        let _ = sink.close().await;
        ended
    }

    /// Waits for the next frame.
    pub(super) async fn next(&mut self) -> Result<VideoFrame, VideoError> {
        loop {
            match self.step(Instant::now())? {
                Step::Shoot { key } => {
                    if let Some(frame) = self.shoot(key).await? {
                        return Ok(frame);
                    }
                }
                Step::LookAtPointer => {
                    let pointer = self.with_camera(|camera| Ok(camera.film.pointer()?));
                    let pointer = pointer.await?;
                    self.pace.look(pointer, Instant::now());
                }
                Step::WaitUntil(then) => tokio::select! {
                    changed = self.drawn.changed() => match changed {
                        Ok(()) => self.pace.change(),
                        // The desktop has ended.
                        Err(_ended) => return Err(VideoError::Thread),
                    },
                    () = self.wishes.key.notified() => {}
                    () = sleep_until(then) => {}
                },
            }
        }
    }

    /// Takes note of changes and wishes, and returns the next thing to do.
    ///
    /// Wishes are looked at here: a machine that takes longer for a frame than there is between two never waits.
    fn step(&mut self, now: Instant) -> Result<Step, VideoError> {
        match self.drawn.has_changed() {
            Ok(true) => {
                self.drawn.mark_unchanged();
                self.pace.change();
            }
            Ok(false) => {}
            // The desktop has ended.
            Err(_ended) => return Err(VideoError::Thread),
        }
        self.pace.wants_key |= self.wishes.wants_key.swap(false, Ordering::Relaxed);
        Ok(self.pace.step(now))
    }

    async fn shoot(&mut self, key: bool) -> Result<Option<VideoFrame>, VideoError> {
        let began = Instant::now();
        let quality = self.wishes.quality.load(Ordering::Relaxed);
        let shot = self.with_camera(move |camera| {
            camera.encoder.set_quality(quality)?;
            let captured_at_us = capture_clock::now_us();
            let (picture, pointer) = camera.film.shoot()?;
            if key {
                camera.encoder.want_key();
            }
            Ok((camera.encoder.encode(picture, captured_at_us)?, pointer))
        });
        let (frame, pointer) = shot.await?;
        self.pace.shot(began, frame.as_ref(), pointer);
        Ok(frame)
    }

    /// Does something that blocks with the camera.
    async fn with_camera<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut CameraAndEncoder) -> Result<T, VideoError> + Send + 'static,
    ) -> Result<T, VideoError> {
        let mut camera = self.camera.take().ok_or(VideoError::Thread)?;
        let working = tokio::task::spawn_blocking(move || {
            let done = work(&mut camera);
            (camera, done)
        });
        let (camera, done) = working.await.map_err(|_join| VideoError::Thread)?;
        self.camera = Some(camera);
        done
    }
}

impl Wishes {
    pub(super) fn add(&self, wish: VideoWish) {
        match wish {
            VideoWish::KeyFrame => {
                self.wants_key.store(true, Ordering::Relaxed);
                self.key.notify_one();
            }
            VideoWish::Quality(quality) => self.quality.store(quality, Ordering::Relaxed),
        }
    }
}

impl FilmPace {
    fn new(now: Instant) -> Self {
        Self {
            shot_at: now - FRAME_TIME,
            key_at: now - KEY_FRAME_INTERVAL,
            looked_at: now,
            pointer: Point { x: 0, y: 0 },
            has_changed: true,
            wants_key: true,
            n_refined: 0,
            is_refined: false,
        }
    }

    fn step(&self, now: Instant) -> Step {
        let due = self.shot_at + FRAME_TIME;
        let key_at = self
            .wants_key
            .then_some(due.max(self.key_at + KEY_FRAME_INTERVAL));
        if key_at.is_some_and(|key_at| key_at <= now) {
            return Step::Shoot { key: true };
        }
        let next = if self.has_changed {
            Some(due)
        } else if self.is_refined {
            None
        } else {
            Some(self.shot_at + REFINE_INTERVAL)
        };
        if next.is_some_and(|next| next <= now) {
            return Step::Shoot { key: false };
        }
        let look_at = self.looked_at + POINTER_INTERVAL;
        if look_at <= now {
            return Step::LookAtPointer;
        }
        let wake = [key_at, next]
            .into_iter()
            .flatten()
            .fold(look_at, Instant::min);
        Step::WaitUntil(wake)
    }

    fn change(&mut self) {
        self.has_changed = true;
    }

    fn look(&mut self, pointer: Point, now: Instant) {
        self.looked_at = now;
        self.has_changed |= pointer != self.pointer;
    }

    fn shot(&mut self, began: Instant, frame: Option<&VideoFrame>, pointer: Point) {
        // The beat is kept if a frame is only a little late.
        let on_beat = self.shot_at + FRAME_TIME;
        self.shot_at = if began < on_beat + FRAME_TIME {
            on_beat
        } else {
            began
        };
        self.looked_at = began;
        self.pointer = pointer;
        self.n_refined = if self.has_changed {
            0
        } else {
            self.n_refined + 1
        };
        self.has_changed = false;
        let is_lowest = frame.is_some_and(|frame| frame.layer == 0);
        self.is_refined = self.n_refined >= LEAST_REFINED && is_lowest;
        if frame.is_some_and(|frame| frame.is_key) {
            self.wants_key = false;
            self.key_at = began;
        }
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
