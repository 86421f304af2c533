//! The screen of a fake sandbox: one colour, as a picture and over RFB.

use std::{
    collections::HashMap,
    convert::Infallible,
    io,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use deskhand_core::{action::ScreenSize, sandbox::ByteStream};
use futures::{SinkExt, StreamExt, channel::mpsc};
use tokio::sync::watch;

const VERSION: &[u8] = b"RFB 003.008\n";
/// One kind of security: none.
const SECURITY: &[u8] = b"\x01\x01";
/// No problem with security.
const SECURITY_OK: [u8; 4] = [0; 4];
/// Pixels as four bytes, blue first.
const PIXEL_FORMAT: [u8; 16] = [32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0];
/// The maximum number of pieces that may wait in one direction.
const STREAM_LENGTH: usize = 16;

/// Pictures that were made before, by size and colour.
static PICTURES: Mutex<Option<Pictures>> = Mutex::new(None);

type Pictures = HashMap<(u16, u16, [u8; 3]), Bytes>;

/// Returns a PNG of one colour.
pub(super) fn picture(size: ScreenSize, colour: [u8; 3]) -> Bytes {
    let mut pictures = PICTURES.lock().unwrap_or_else(PoisonError::into_inner);
    let made = pictures.get_or_insert_default();
    let key = (size.width, size.height, colour);
    made.entry(key)
        .or_insert_with(|| encode(size, colour))
        .clone()
}

fn encode(size: ScreenSize, colour: [u8; 3]) -> Bytes {
    let (width, height) = (u32::from(size.width), u32::from(size.height));
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let pixels = colour.repeat(usize::from(size.width) * usize::from(size.height));
    let mut writer = encoder.write_header().expect("the picture has a size");
    writer
        .write_image_data(&pixels)
        .expect("all pixels are there");
    drop(writer);
    bytes.into()
}

/// The server's side of a screen stream.
pub(super) struct ScreenServer {
    to_client: mpsc::Sender<Bytes>,
    from_client: mpsc::Receiver<Bytes>,
    /// Bytes from the client that have not been read.
    unread: Vec<u8>,
}

/// The client has left.
struct Left;

/// A part of the screen that the client asked for.
struct UpdateRequest {
    only_changes: bool,
    /// Left, top, width and height.
    part: [u16; 4],
}

/// Makes a screen stream: the client's end and the server's.
pub(super) fn stream() -> (ByteStream, ScreenServer) {
    let (to_client, incoming) = mpsc::channel(STREAM_LENGTH);
    let (outgoing, from_client) = mpsc::channel(STREAM_LENGTH);
    let client = ByteStream {
        incoming: Box::pin(incoming),
        outgoing: Box::pin(outgoing.sink_map_err(io::Error::other)),
    };
    let server = ScreenServer {
        to_client,
        from_client,
        unread: Vec::new(),
    };
    (client, server)
}

impl ScreenServer {
    /// Shows a screen of this size and colour until the client leaves.
    pub(super) async fn serve(mut self, size: ScreenSize, colour: watch::Receiver<[u8; 3]>) {
        // The client may leave at any time.
        if self.greet(size).await.is_ok() {
            let Left = self.show(colour).await;
        }
    }

    /// Agrees on version and security, and tells the size.
    async fn greet(&mut self, size: ScreenSize) -> Result<(), Left> {
        self.send(VERSION).await?;
        self.take(VERSION.len()).await?;
        self.send(SECURITY).await?;
        self.take(1).await?;
        self.send(&SECURITY_OK).await?;
        // Whether the screen is shared with others: it always is.
        self.take(1).await?;
        let (width, height) = (size.width.to_be_bytes(), size.height.to_be_bytes());
        let name_length = [0; 4];
        let screen = [&width[..], &height, &PIXEL_FORMAT, &name_length].concat();
        self.send(&screen).await
    }

    /// Answers requests for pixels, and reads other messages without a reaction.
    async fn show(&mut self, mut colour: watch::Receiver<[u8; 3]>) -> Left {
        loop {
            let request = match self.next_request().await {
                Ok(request) => request,
                Err(left) => return left,
            };
            if request.only_changes {
                tokio::select! {
                    biased;
                    // The colour goes with the machine, and that ends this task.
                    _ = colour.changed() => {}
                    Err(left) = self.wait_for_input() => return left,
                }
            }
            let colour = *colour.borrow_and_update();
            if let Err(left) = self.update(request.part, colour).await {
                return left;
            }
        }
    }

    /// Reads on until the client asks for pixels.
    async fn next_request(&mut self) -> Result<UpdateRequest, Left> {
        loop {
            // The type of the message, and the rest of it.
            match self.take(1).await?[0] {
                // Other pixels than those it was told of: our clients ask for the same.
                0 => drop(self.take(19).await?),
                // Encodings: all clients know raw pixels.
                2 => {
                    let head = self.take(3).await?;
                    let n_encodings = u16::from_be_bytes([head[1], head[2]]);
                    self.take(4 * usize::from(n_encodings)).await?;
                }
                3 => {
                    let request = self.take(9).await?;
                    let part = [1, 3, 5, 7].map(|at| {
                        let side = [request[at], request[at + 1]];
                        u16::from_be_bytes(side)
                    });
                    let only_changes = request[0] != 0;
                    return Ok(UpdateRequest { only_changes, part });
                }
                // A key.
                4 => drop(self.take(7).await?),
                // The pointer.
                5 => drop(self.take(5).await?),
                other => panic!("an unexpected message of kind {other}"),
            }
        }
    }

    /// Sends a part of the screen as raw pixels.
    async fn update(&mut self, part: [u16; 4], colour: [u8; 3]) -> Result<(), Left> {
        // An update, its padding, and one rectangle.
        let mut update = vec![0, 0, 0, 1];
        update.extend(part.into_iter().flat_map(u16::to_be_bytes));
        // The encoding: raw.
        update.extend([0; 4]);
        let [red, green, blue] = colour;
        let n_pixels = usize::from(part[2]) * usize::from(part[3]);
        update.extend([blue, green, red, 0].repeat(n_pixels));
        self.send(&update).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), Left> {
        let sent = self.to_client.send(Bytes::copy_from_slice(bytes)).await;
        sent.map_err(|_closed| Left)
    }

    /// Reads the next `n_bytes` bytes.
    async fn take(&mut self, n_bytes: usize) -> Result<Vec<u8>, Left> {
        while self.unread.len() < n_bytes {
            self.read_more().await?;
        }
        Ok(self.unread.drain(..n_bytes).collect())
    }

    /// Reads whatever arrives, until the client leaves.
    async fn wait_for_input(&mut self) -> Result<Infallible, Left> {
        loop {
            self.read_more().await?;
        }
    }

    async fn read_more(&mut self) -> Result<(), Left> {
        let bytes = self.from_client.next().await.ok_or(Left)?;
        self.unread.extend_from_slice(&bytes);
        Ok(())
    }
}
