//! The screen of a fake sandbox: one colour, and the greeting of an RFB server.

use std::{
    collections::HashMap,
    io,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use deskhand_core::{action::ScreenSize, sandbox::ByteStream};
use futures::{SinkExt, StreamExt, channel::mpsc};

const VERSION: &[u8] = b"RFB 003.008\n";
/// One kind of security: none.
const SECURITY: &[u8] = b"\x01\x01";
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
    };
    (client, server)
}

impl ScreenServer {
    /// Greets the client, agrees on security, and then reads its input without answering, until it leaves.
    pub(super) async fn serve(mut self) {
        // A client that has left needs no greeting.
        let _ = self.to_client.send(Bytes::from_static(VERSION)).await;
        if self.from_client.next().await.is_some() {
            let _ = self.to_client.send(Bytes::from_static(SECURITY)).await;
        }
        while self.from_client.next().await.is_some() {}
    }
}
