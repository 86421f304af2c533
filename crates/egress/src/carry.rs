//! Copies bytes between a program and its host, and inspects the first bytes of the program.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use deskhand_core::{
    network::{NetworkHost, guard::Passage, policy::BlockReason},
    sandbox::ByteStream,
};
use futures::{SinkExt, Stream, StreamExt};
use tokio::{
    io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, split},
    time::timeout,
};

use crate::{
    claim::{Claim, MOST_BYTES, claim, is_http},
    dial::Outgoing,
    watch::StandInWatch,
};

/// The initial and the largest size of the buffer for bytes of the host. It starts small because most connections are
/// quiet.
const FIRST_BUFFER_BYTES: usize = 8 * 1024;
const BUFFER_BYTES: usize = 64 * 1024;
/// The most pieces in which a program may send the message that names its host. Each piece is parsed together with all
/// earlier ones.
const MOST_PIECES: u32 = 64;
/// The timeout for a program to finish the message that names its host.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(10);
/// The time for which the program may keep sending after the host has ended its direction.
const LINGER: Duration = Duration::from_secs(120);

/// The destination as the program asked for it.
#[derive(Debug)]
pub(crate) struct Destination {
    pub(crate) host: NetworkHost,
    pub(crate) port: u16,
}

/// The reason for cutting a connection off.
#[derive(Debug)]
pub(crate) enum CutOff {
    Blocked(BlockReason),
    /// One end is gone.
    Gone,
}

impl From<io::Error> for CutOff {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// Copies bytes until both directions have ended, or the connection must end. `first` holds the first bytes of the
/// program if they were already read and judged.
pub(crate) async fn carry(
    (first, program): (Option<Bytes>, ByteStream),
    host: Outgoing,
    destination: &Destination,
    passage: &Passage,
) {
    let ByteStream {
        mut incoming,
        mut outgoing,
    } = program;
    let (mut from_host, mut to_host) = split(host);
    let stand_ins = passage.stand_ins.as_ref();
    let mut watch = stand_ins.map(|access| StandInWatch::new(access.stand_ins.mark()));
    // A refusal can be sent as a response only if the program sent a request and the host has not answered yet.
    let (is_request, is_answered) = (AtomicBool::new(false), AtomicBool::new(false));
    let upward = async {
        let mut piece = match first {
            Some(first) => first,
            None => {
                let early = EarlyBytes {
                    to_host: &mut to_host,
                    watch: watch.as_mut(),
                };
                first_bytes(&mut incoming, Some(early), destination, passage).await?
            }
        };
        is_request.store(is_http(&piece), Ordering::Relaxed);
        // An empty message ends this direction only.
        while !piece.is_empty() {
            if watch.as_mut().is_some_and(|watch| watch.sees(&piece)) {
                return Err(CutOff::Blocked(BlockReason::StandIn));
            }
            count(passage, piece.len(), 0)?;
            to_host.write_all(&piece).await?;
            piece = incoming.next().await.ok_or(CutOff::Gone)?;
        }
        to_host.shutdown().await?;
        Ok::<(), CutOff>(())
    };
    let downward = async {
        let mut size = FIRST_BUFFER_BYTES;
        let mut buffer = BytesMut::with_capacity(size);
        while from_host.read_buf(&mut buffer).await? > 0 {
            if buffer.len() >= size {
                size = (2 * size).min(BUFFER_BYTES);
            }
            count(passage, 0, buffer.len())?;
            is_answered.store(true, Ordering::Relaxed);
            outgoing.send(buffer.split().freeze()).await?;
            buffer.reserve(size);
        }
        outgoing.send(Bytes::new()).await?;
        Ok::<(), CutOff>(())
    };
    let ended = tokio::select! {
        () = passage.ended.cancelled() => Ok(()),
        ended = both(upward, downward) => ended,
    };
    if let Err(CutOff::Blocked(reason)) = ended {
        passage.meter.blocked(reason);
        let can_be_told = is_request.into_inner() && !is_answered.into_inner();
        if reason == BlockReason::StandIn && can_be_told {
            // The program may be gone.
            let _ = outgoing.send(refusal(reason)).await;
        }
    }
}

/// Returns the response to a request that is refused, after which the connection ends.
fn refusal(reason: BlockReason) -> Bytes {
    let text = format!("Deskhand refused this request: {}.\n", reason.sentence());
    let head = format!(
        "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        text.len()
    );
    (head + &text).into()
}

/// Waits for both directions to end.
pub(crate) async fn both(
    upward: impl Future<Output = Result<(), CutOff>>,
    downward: impl Future<Output = Result<(), CutOff>>,
) -> Result<(), CutOff> {
    let (mut upward, mut downward) = (std::pin::pin!(upward), std::pin::pin!(downward));
    tokio::select! {
        ended = &mut upward => {
            ended?;
            // A response may take any time.
            downward.await
        }
        ended = &mut downward => {
            ended?;
            timeout(LINGER, upward).await.unwrap_or(Ok(()))
        }
    }
}

fn count(passage: &Passage, n_sent: usize, n_received: usize) -> Result<(), CutOff> {
    let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    if passage.meter.count(number(n_sent), number(n_received)) {
        Ok(())
    } else {
        Err(CutOff::Blocked(BlockReason::Bytes))
    }
}

/// Passes bytes on before it is clear which host they name.
pub(crate) struct EarlyBytes<'a> {
    to_host: &'a mut (dyn AsyncWrite + Send + Unpin),
    watch: Option<&'a mut StandInWatch>,
}

impl EarlyBytes<'_> {
    async fn pass(&mut self, bytes: &[u8], passage: &Passage) -> Result<(), CutOff> {
        if let Some(watch) = &mut self.watch
            && watch.sees(bytes)
        {
            return Err(CutOff::Blocked(BlockReason::StandIn));
        }
        count(passage, bytes.len(), 0)?;
        Ok(self.to_host.write_all(bytes).await?)
    }
}

/// Reads the first bytes of a program until it is clear which host they name, and judges that host.
///
/// With `early`, the beginning of a first line is passed on at once: in some protocols a program waits for an answer to
/// less than a line. Returns the bytes that are not passed on yet, which are none if the program ends its direction.
pub(crate) async fn first_bytes(
    incoming: &mut (impl Stream<Item = Bytes> + Unpin),
    mut early: Option<EarlyBytes<'_>>,
    destination: &Destination,
    passage: &Passage,
) -> Result<Bytes, CutOff> {
    // No timeout: a program may wait for its host to speak first.
    let mut seen = incoming.next().await.ok_or(CutOff::Gone)?;
    if seen.is_empty() {
        return Ok(seen);
    }
    let mut n_passed = 0;
    while claim(&seen) == Claim::FirstLine {
        if let Some(early) = &mut early {
            early.pass(&seen[n_passed..], passage).await?;
            n_passed = seen.len();
        }
        let more = incoming.next().await.ok_or(CutOff::Gone)?;
        if more.is_empty() {
            return Ok(seen.slice(n_passed..));
        }
        seen = [seen, more].concat().into();
    }
    let reading = async {
        let mut n_pieces = 1;
        loop {
            match claim(&seen) {
                Claim::Unfinished if seen.len() < MOST_BYTES && n_pieces < MOST_PIECES => {
                    n_pieces += 1;
                    let more = incoming.next().await;
                    let more = more.ok_or(CutOff::Gone)?;
                    if more.is_empty() {
                        // The message is incomplete, and the rest might have named another host.
                        return Err(CutOff::Blocked(BlockReason::OtherName));
                    }
                    seen = [seen, more].concat().into();
                }
                Claim::Unfinished | Claim::FirstLine | Claim::Unreadable => {
                    return Err(CutOff::Blocked(BlockReason::OtherName));
                }
                Claim::None => return Ok(seen),
                Claim::Hosts(claimed) => {
                    for claimed in &claimed {
                        let Destination { host, port } = destination;
                        let judged = passage.rules.judge_claim(host, *port, claimed);
                        judged.map_err(CutOff::Blocked)?;
                    }
                    return Ok(seen);
                }
            }
        }
    };
    let read = timeout(CLAIM_TIMEOUT, reading).await;
    let seen = read.unwrap_or(Err(CutOff::Blocked(BlockReason::OtherName)))?;
    Ok(seen.slice(n_passed..))
}
