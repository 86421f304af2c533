//! Films a real X server, decodes what was encoded, and compares the colours.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use deskhand_core::{
    action::ScreenSize,
    tasks::Tasks,
    video::{VideoFrame, VideoWish},
};
use openh264::{decoder::Decoder, formats::YUVSource};
use tempfile::TempDir;
use tokio::{sync::mpsc, time::timeout};
use x11rb::{
    connection::Connection,
    protocol::xproto::{ConnectionExt as _, CreateGCAux, Rectangle},
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

use super::*;
use crate::desktop::{BrowserSettings, Desktop, DesktopConfig};

const SIZE: ScreenSize = ScreenSize {
    width: 640,
    height: 360,
};
const RED: u32 = 0x00c8_2828;
const GREEN: u32 = 0x0028_a046;
const BLUE: u32 = 0x0028_50dc;
/// The most by which a colour may differ after it was encoded.
const TOLERANCE: u8 = 14;

/// A desktop on which a test paints.
struct Stage {
    desktop: Desktop,
    x: RustConnection,
    root: u32,
    tasks: Tasks,
    _notices: mpsc::Receiver<String>,
    _folder: TempDir,
}

impl Stage {
    async fn open() -> Self {
        let folder = TempDir::new().unwrap();
        let (tasks, (sender, notices)) = (Tasks::default(), mpsc::channel(16));
        let config = DesktopConfig {
            screen: SIZE,
            settle_quiet: Duration::from_millis(100),
            settle_max: Duration::from_secs(1),
            browser: Vec::new(),
            browser_settings: BrowserSettings::default(),
            runtime_dir: folder.path().join("run"),
            variables: BTreeMap::new(),
            browser_variables: BTreeMap::new(),
        };
        let desktop = Desktop::start(config, tasks.clone(), sender).await.unwrap();
        let (x, screen) = RustConnection::connect(Some(desktop.display())).unwrap();
        let root = x.setup().roots[screen].root;
        Self {
            desktop,
            x,
            root,
            tasks,
            _notices: notices,
            _folder: folder,
        }
    }

    /// Paints three columns.
    fn paint(&self, colours: [u32; 3]) {
        for (colour, x) in colours.into_iter().zip([0, 213, 426]) {
            let pen = self.x.generate_id().unwrap();
            let look = CreateGCAux::new().foreground(colour);
            self.x.create_gc(pen, self.root, &look).unwrap();
            let column = Rectangle {
                x,
                y: 0,
                width: 214,
                height: SIZE.height,
            };
            let painted = self.x.poly_fill_rectangle(self.root, pen, &[column]);
            painted.unwrap().check().unwrap();
            self.x.free_gc(pen).unwrap();
        }
        self.x.sync().unwrap();
    }

    /// Begins to film. Frames are sent until the stage ends.
    async fn film(&self) -> Filming {
        let mut capture = VideoCapture::begin(&self.desktop).await.unwrap();
        let (sender, frames) = mpsc::channel(64);
        let wishes = Arc::clone(&capture.wishes);
        let shutdown = self.tasks.shutdown().clone();
        let filming = async move {
            while let Ok(frame) = capture.next().await {
                sender.send(frame).await.unwrap();
            }
        };
        self.tasks.spawn("film", async move {
            shutdown.run_until_cancelled(filming).await;
        });
        Filming { frames, wishes }
    }

    async fn end(self) {
        self.tasks.shutdown().cancel();
        drop(self.desktop);
        assert!(self.tasks.end(Duration::from_secs(5)).await);
    }
}

/// The frames of one capture.
struct Filming {
    frames: mpsc::Receiver<VideoFrame>,
    wishes: Arc<capture::Wishes>,
}

impl Filming {
    async fn next(&mut self) -> VideoFrame {
        let frame = timeout(Duration::from_secs(20), self.frames.recv()).await;
        frame.expect("a frame in time").unwrap()
    }

    /// Returns the frames until there was none for a second.
    async fn rest(&mut self) -> Vec<VideoFrame> {
        let mut frames = Vec::new();
        while let Ok(frame) = timeout(Duration::from_secs(1), self.frames.recv()).await {
            frames.push(frame.unwrap());
        }
        frames
    }
}

/// Decodes frames, and returns colours of the last picture.
struct Viewer {
    decoder: Decoder,
    rgb: Vec<u8>,
}

impl Viewer {
    fn new() -> Self {
        Self {
            decoder: Decoder::new().unwrap(),
            rgb: Vec::new(),
        }
    }

    fn see(&mut self, frame: &VideoFrame) {
        if let Some(picture) = self.decoder.decode(&frame.picture).unwrap() {
            let (width, height) = (usize::from(SIZE.width), usize::from(SIZE.height));
            assert_eq!(picture.dimensions(), (width, height));
            self.rgb.resize(3 * width * height, 0);
            picture.write_rgb8(&mut self.rgb);
        }
    }

    /// Returns true if the three columns have these colours.
    fn shows(&self, colours: [u32; 3]) -> bool {
        colours.into_iter().zip([100, 320, 540]).all(|(colour, x)| {
            let at = 3 * (300 * usize::from(SIZE.width) + x);
            let [_, red, green, blue] = colour.to_be_bytes();
            let wanted = [red, green, blue];
            self.rgb.get(at..at + 3).is_some_and(|seen| {
                let pairs = seen.iter().zip(wanted);
                pairs
                    .into_iter()
                    .all(|(seen, wanted)| seen.abs_diff(wanted) <= TOLERANCE)
            })
        })
    }
}

#[tokio::test]
async fn what_is_painted_is_seen_in_its_colours() {
    let stage = Stage::open().await;
    stage.paint([RED, GREEN, BLUE]);
    let mut filming = stage.film().await;
    let mut viewer = Viewer::new();
    let first = filming.next().await;
    assert!(first.is_key && first.layer == 0 && first.size == SIZE);
    viewer.see(&first);
    while !viewer.shows([RED, GREEN, BLUE]) {
        viewer.see(&filming.next().await);
    }
    stage.paint([BLUE, RED, GREEN]);
    let mut numbers = Vec::new();
    while !viewer.shows([BLUE, RED, GREEN]) {
        let frame = filming.next().await;
        assert!(!frame.is_key, "nobody asked for one");
        numbers.push(frame.number);
        viewer.see(&frame);
    }
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    stage.end().await;
}

#[tokio::test]
async fn a_screen_at_rest_is_sent_no_more_and_a_key_frame_comes_when_it_is_asked_for() {
    let stage = Stage::open().await;
    stage.paint([RED, GREEN, BLUE]);
    let mut filming = stage.film().await;
    let last = filming.rest().await.pop().unwrap();
    assert_eq!(last.layer, 0, "everybody gets the last one");
    filming.wishes.add(VideoWish::KeyFrame);
    let key = filming.next().await;
    assert!(key.is_key && key.number == last.number.wrapping_add(1));
    let mut late = Viewer::new();
    late.see(&key);
    assert!(late.shows([RED, GREEN, BLUE]), "it needs no other frame");
    stage.end().await;
}

#[tokio::test]
async fn the_lower_layers_alone_can_be_decoded() {
    let stage = Stage::open().await;
    let mut filming = stage.film().await;
    let (mut slow, mut n_left_out) = (Viewer::new(), 0);
    let mut seen = [false; 3];
    for n in 0..40 {
        let colours = match n % 3 {
            0 => [RED, GREEN, BLUE],
            1 => [GREEN, BLUE, RED],
            _ => [BLUE, RED, GREEN],
        };
        stage.paint(colours);
        let frame = filming.next().await;
        seen[usize::from(frame.layer)] = true;
        if frame.layer == 0 {
            slow.see(&frame);
        } else {
            n_left_out += 1;
        }
    }
    assert_eq!(seen, [true; 3]);
    assert!((25..=32).contains(&n_left_out), "{n_left_out}");
    stage.paint([RED, GREEN, BLUE]);
    for frame in filming.rest().await {
        if frame.layer == 0 {
            slow.see(&frame);
        }
    }
    assert!(slow.shows([RED, GREEN, BLUE]));
    stage.end().await;
}
