//! A viewer of a session's screen, over the same WebSocket as the page.

use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::{Session, client::PATIENCE, sockets::closed};

const VERSION: &[u8] = b"RFB 003.008\n";
const NO_SECURITY: u8 = 1;
const SHARED: u8 = 1;

/// Pixels as four bytes, blue first.
const PIXEL_FORMAT: [u8; 16] = [32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0];
const BYTES_PER_PIXEL: usize = 4;

/// An RFB client with a copy of the screen. It asks for raw pixels only.
#[derive(Debug)]
pub struct Watcher {
    socket: WebSocketStream<TcpStream>,
    /// The bytes received so far. Those before `read` have been consumed.
    buffer: Vec<u8>,
    read: usize,
    width: usize,
    height: usize,
    pixels: Vec<u8>,
    n_clipboards: usize,
}

impl Watcher {
    /// Starts watching.
    pub async fn open(session: &Session) -> Self {
        let socket = session.client.socket(&session.path("/vnc")).await;
        let mut watcher = Self {
            socket,
            buffer: Vec::new(),
            read: 0,
            width: 0,
            height: 0,
            pixels: Vec::new(),
            n_clipboards: 0,
        };
        assert_eq!(watcher.take(VERSION.len()).await, VERSION);
        watcher.send(VERSION).await;
        let n_kinds = watcher.take(1).await[0];
        let kinds = watcher.take(n_kinds.into()).await;
        assert!(kinds.contains(&NO_SECURITY), "{kinds:?}");
        watcher.send(&[NO_SECURITY]).await;
        assert_eq!(watcher.take(4).await, [0; 4]);
        watcher.send(&[SHARED]).await;
        let screen = watcher.take(24).await;
        watcher.width = number(&screen[0..2]);
        watcher.height = number(&screen[2..4]);
        let name_length = number(&screen[20..24]);
        watcher.take(name_length).await;
        watcher.pixels = vec![0; watcher.width * watcher.height * BYTES_PER_PIXEL];
        watcher
            .send(&[&[0, 0, 0, 0], PIXEL_FORMAT.as_slice()].concat())
            .await;
        // One encoding: raw.
        watcher.send(&[2, 0, 0, 1, 0, 0, 0, 0]).await;
        watcher
    }

    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Returns how often the clipboard was sent up to the last update.
    pub fn n_clipboards(&self) -> usize {
        self.n_clipboards
    }

    /// Returns the colour at a point: red, green, blue.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let at = (y * self.width + x) * BYTES_PER_PIXEL;
        [self.pixels[at + 2], self.pixels[at + 1], self.pixels[at]]
    }

    /// Copies the whole screen as it is now.
    pub async fn look(&mut self) {
        self.ask(false, [0, 0, self.width, self.height]).await;
        self.take_update().await;
    }

    /// Watches only this point until it has this colour.
    pub async fn until(&mut self, (x, y): (usize, usize), colour: [u8; 3]) {
        // It may have changed since the last look.
        self.ask(false, [x, y, 1, 1]).await;
        self.take_update().await;
        while self.pixel(x, y) != colour {
            self.ask(true, [x, y, 1, 1]).await;
            self.take_update().await;
        }
    }

    /// Moves the pointer, and waits until the server has read that.
    pub async fn point(&mut self, (x, y): (u16, u16)) {
        let [x, y] = [x, y].map(u16::to_be_bytes);
        self.send(&[5, 0, x[0], x[1], y[0], y[1]]).await;
        self.ask(false, [0, 0, 1, 1]).await;
        self.take_update().await;
    }

    /// Presses or releases a key, and waits until the server has read that.
    pub async fn key(&mut self, keysym: u32, is_down: bool) {
        let [a, b, c, d] = keysym.to_be_bytes();
        self.send(&[4, u8::from(is_down), 0, 0, a, b, c, d]).await;
        self.ask(false, [0, 0, 1, 1]).await;
        self.take_update().await;
    }

    /// Waits until the server closes the connection. Returns the code and the reason.
    pub async fn closed(&mut self) -> (u16, String) {
        closed(&mut self.socket).await
    }

    /// Sends bytes as they are. They need not be valid RFB.
    pub async fn send(&mut self, bytes: &[u8]) {
        let message = Message::binary(bytes.to_vec());
        self.socket.send(message).await.unwrap();
    }

    /// Asks for a part of the screen: x, y, width, height.
    async fn ask(&mut self, only_changes: bool, part: [usize; 4]) {
        let mut request = vec![3, u8::from(only_changes)];
        for side in part {
            let side = u16::try_from(side).expect("screens are smaller");
            request.extend(side.to_be_bytes());
        }
        self.send(&request).await;
    }

    /// Reads messages up to the next update of the screen, and applies the update.
    async fn take_update(&mut self) {
        loop {
            match self.take(1).await[0] {
                0 => break,
                // A bell.
                2 => {}
                // The clipboard changed.
                3 => {
                    let head = self.take(7).await;
                    let length = number(&head[3..7]);
                    self.take(length).await;
                    self.n_clipboards += 1;
                }
                other => panic!("an unexpected message of kind {other}"),
            }
        }
        let head = self.take(3).await;
        for _ in 0..number(&head[1..3]) {
            let head = self.take(12).await;
            let [x, y, width, height] = [0, 2, 4, 6].map(|at| number(&head[at..at + 2]));
            assert_eq!(head[8..12], [0; 4], "not raw");
            let pixels = self.take(width * height * BYTES_PER_PIXEL).await;
            for (row, line) in pixels.chunks_exact(width * BYTES_PER_PIXEL).enumerate() {
                let at = ((y + row) * self.width + x) * BYTES_PER_PIXEL;
                self.pixels[at..at + line.len()].copy_from_slice(line);
            }
        }
    }

    /// Reads the next `n_bytes` bytes.
    async fn take(&mut self, n_bytes: usize) -> Vec<u8> {
        // Pings do not count.
        tokio::time::timeout(PATIENCE, self.fill(n_bytes))
            .await
            .expect("the screen went silent");
        let taken = self.buffer[self.read..self.read + n_bytes].to_vec();
        self.read += n_bytes;
        taken
    }

    /// Waits until at least `n_bytes` bytes can be read.
    async fn fill(&mut self, n_bytes: usize) {
        while self.buffer.len() - self.read < n_bytes {
            let message = self.socket.next().await;
            self.buffer.drain(..std::mem::take(&mut self.read));
            if let Message::Binary(bytes) = message.expect("the screen was closed").unwrap() {
                self.buffer.extend_from_slice(&bytes);
            }
        }
    }
}

fn number(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | usize::from(*byte))
}
