//! Carries what comes over a stream to a program, and notices the end of the stream even if the program takes nothing.

use std::{io, pin::pin, time::Duration};

use bytes::Bytes;
use futures::{Stream, StreamExt};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
    time::timeout,
};

/// The most pieces that wait for the program.
const MOST_WAITING: usize = 16;
/// The time after which a program that takes nothing, although so many pieces wait, counts as stuck.
const STUCK_TIMEOUT: Duration = Duration::from_secs(60);
/// The time in which the program can take the last pieces after the stream has ended.
const LAST_TIMEOUT: Duration = Duration::from_secs(1);

/// Writes all pieces. Returns when the stream ends, or with the first error of either side.
pub(crate) async fn pour<E: From<io::Error>>(
    mut incoming: impl Stream<Item = Result<Bytes, E>> + Unpin,
    mut writer: impl AsyncWrite + Unpin,
) -> Result<(), E> {
    let (pieces, mut waiting) = mpsc::channel::<Bytes>(MOST_WAITING);
    let reading = async move {
        let pieces = pieces;
        while let Some(piece) = incoming.next().await {
            match timeout(STUCK_TIMEOUT, pieces.send(piece?)).await {
                Ok(Ok(())) => {}
                // The other half has failed, and says why.
                Ok(Err(_closed)) => return Ok(()),
                Err(_late) => {
                    let stuck = "the program does not read its input";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, stuck).into());
                }
            }
        }
        Ok::<(), E>(())
    };
    let mut writing = pin!(async move {
        while let Some(piece) = waiting.recv().await {
            writer.write_all(&piece).await?;
        }
        Ok::<(), E>(())
    });
    tokio::select! {
        ended = reading => ended?,
        ended = &mut writing => return ended,
    }
    // A program that does not take the last pieces has no right to them.
    timeout(LAST_TIMEOUT, writing).await.unwrap_or(Ok(()))
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    fn pieces(n: usize) -> impl Stream<Item = io::Result<Bytes>> + Unpin {
        stream::iter((0..n).map(|_| Ok(Bytes::from_static(b"12345678"))))
    }

    #[tokio::test]
    async fn everything_that_came_before_the_end_is_written() {
        let (writer, mut reader) = duplex(4);
        let mut read = Vec::new();
        let (poured, _) = tokio::join!(pour(pieces(100), writer), reader.read_to_end(&mut read));
        poured.unwrap();
        assert_eq!(read.len(), 800);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_is_noticed_although_nothing_is_read() {
        let (writer, _reader) = duplex(4);
        pour(pieces(2), writer).await.unwrap();
        // The stream goes on, and more waits than may.
        let (writer, _reader) = duplex(4);
        let endless = pieces(100).chain(stream::pending());
        let stuck: io::Error = pour(endless, writer).await.unwrap_err();
        assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
    }
}
