//! Carries bytes between a program and its host, and looks at the program's first bytes on the way.

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

/// The size of the buffer for bytes of the host, at first and after much has come at once. Most connections are quiet.
const FIRST_BUFFER_BYTES: usize = 8 * 1024;
const BUFFER_BYTES: usize = 64 * 1024;
/// The most pieces in which that message may come: every piece is looked at together with those before.
const MOST_PIECES: u32 = 64;
/// The time in which a program has to finish the message in which it names its host.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(10);
/// The time for which one direction stays open without a byte after the other has ended.
const LINGER: Duration = Duration::from_secs(120);

/// The destination as the program asked for it.
#[derive(Debug)]
pub(crate) struct Destination {
    pub(crate) host: NetworkHost,
    pub(crate) port: u16,
}

/// The reason why a connection is cut off.
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

/// Carries bytes until both directions have ended, or the connection has to end. `first` are the first bytes of the
/// program, if they were taken and judged already.
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
    // Whether a refusal can be answered: the program has sent a request, and nothing has come back.
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
            // A program that is gone misses nothing.
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

/// Waits for both directions. After one has ended, the other has a while to follow.
pub(crate) async fn both(
    upward: impl Future<Output = Result<(), CutOff>>,
    downward: impl Future<Output = Result<(), CutOff>>,
) -> Result<(), CutOff> {
    let (mut upward, mut downward) = (std::pin::pin!(upward), std::pin::pin!(downward));
    tokio::select! {
        ended = &mut upward => {
            ended?;
            // The host may have much to say to a question: there is no bound on that.
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

/// The way of bytes that are passed on before it is clear which host they name.
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

/// Reads the first bytes of a program until it is clear which host they name, and judges that.
///
/// The beginning of a first line is passed on at once where the host is at hand: it may belong to a protocol in which a
/// program waits for an answer to less than a line. Returns nothing if the program ends before that.
pub(crate) async fn first_bytes(
    incoming: &mut (impl Stream<Item = Bytes> + Unpin),
    mut early: Option<EarlyBytes<'_>>,
    destination: &Destination,
    passage: &Passage,
) -> Result<Bytes, CutOff> {
    // A program may wait for its host to speak first, for as long as it likes.
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
                        // It ended in the middle. The host gets no half of a message that may name another host.
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
