//! The ports of a fake sandbox: each leads to a server of the test.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::{Bytes, BytesMut};
use deskhand_core::sandbox::{Actor, ByteStream, ListeningPort};
use futures::{SinkExt, StreamExt, channel::mpsc};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The maximum number of pieces that may wait in one direction.
const STREAM_LENGTH: usize = 16;
const PIECE_BYTES: usize = 64 * 1024;

/// The servers behind the ports of all fake sandboxes of a test. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct FakePorts(Arc<Mutex<BTreeMap<u16, FakeListener>>>);

#[derive(Debug, Clone)]
struct FakeListener {
    address: SocketAddr,
    program: String,
}

impl FakePorts {
    pub(super) fn listen(&self, port: u16, address: SocketAddr, program: &str) {
        let program = program.to_owned();
        self.lock().insert(port, FakeListener { address, program });
    }

    pub(super) fn close(&self, port: u16) {
        self.lock().remove(&port);
    }

    pub(super) fn all(&self) -> Vec<ListeningPort> {
        let ports = self.lock();
        ports
            .iter()
            .map(|(port, listener)| ListeningPort {
                port: *port,
                program: Some(listener.program.clone()),
            })
            .collect()
    }

    pub(super) async fn connect(&self, port: u16) -> Option<TcpStream> {
        let address = self.lock().get(&port)?.address;
        TcpStream::connect(address).await.ok()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u16, FakeListener>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that obeys the lease.
#[derive(Debug)]
pub(super) struct LeasedStream {
    pub(super) actor: Actor,
    pub(super) end: tokio_util::sync::CancellationToken,
}

/// Makes a stream of a connection: the client's end, and the work of copying.
pub(super) fn stream(connection: TcpStream) -> (ByteStream, impl Future<Output = ()> + Send) {
    let (mut to_client, incoming) = mpsc::channel(STREAM_LENGTH);
    let (outgoing, mut from_client) = mpsc::channel::<Bytes>(STREAM_LENGTH);
    let client = ByteStream {
        incoming: Box::pin(incoming),
        outgoing: Box::pin(outgoing.sink_map_err(io::Error::other)),
    };
    let (mut reader, mut writer) = connection.into_split();
    let copying = async move {
        let down = async {
            loop {
                let mut piece = BytesMut::with_capacity(PIECE_BYTES);
                let read = reader.read_buf(&mut piece).await;
                if !matches!(read, Ok(1..)) || to_client.send(piece.freeze()).await.is_err() {
                    return;
                }
            }
        };
        let up = async {
            while let Some(piece) = from_client.next().await {
                if writer.write_all(&piece).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = down => {}
            () = up => {}
        }
    };
    (client, copying)
}
