//! The servers that every network is measured with.

use std::{future::Future, net::SocketAddr};

use deskhand_core::tasks::Tasks;
use deskhand_testkit::FAR_ADDRESS;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const PIECE_BYTES: usize = 256 * 1024;

/// Servers on the far side of a network of our own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Servers {
    /// Sends without end.
    pub(super) source: SocketAddr,
    /// Reads to the end and then answers with a byte.
    pub(super) sink: SocketAddr,
    pub(super) echo: SocketAddr,
}

impl Servers {
    pub(super) async fn start(tasks: &Tasks) -> Self {
        Self {
            source: serve(tasks, send).await,
            sink: serve(tasks, read).await,
            echo: serve(tasks, echo).await,
        }
    }

    /// Returns the arguments of the program that measures.
    pub(super) fn arguments(&self, host: &str) -> String {
        let [source, sink, echo] = [self.source, self.sink, self.echo].map(|it| it.port());
        format!("{host} {source} {sink} {echo}")
    }
}

async fn serve<F>(tasks: &Tasks, handle: fn(TcpStream) -> F) -> SocketAddr
where
    F: Future<Output = std::io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind((FAR_ADDRESS, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let all = tasks.clone();
    tasks.spawn("listener", async move {
        let end = all.shutdown().clone();
        while let Some(Ok((stream, _))) = end.run_until_cancelled(listener.accept()).await {
            let end = end.clone();
            all.spawn("server", async move {
                // A client that breaks off is no matter.
                let _ = stream.set_nodelay(true);
                let _ = end.run_until_cancelled(handle(stream)).await;
            });
        }
    });
    address
}

async fn send(mut stream: TcpStream) -> std::io::Result<()> {
    let piece = vec![7; PIECE_BYTES];
    loop {
        stream.write_all(&piece).await?;
    }
}

async fn read(mut stream: TcpStream) -> std::io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    while stream.read(&mut piece).await? > 0 {}
    stream.write_all(b"x").await
}

async fn echo(stream: TcpStream) -> std::io::Result<()> {
    let (mut reader, mut writer) = stream.into_split();
    let mut piece = vec![0; 16 * 1024];
    loop {
        let n_read = reader.read(&mut piece).await?;
        if n_read == 0 {
            return Ok(());
        }
        writer.write_all(&piece[..n_read]).await?;
    }
}
