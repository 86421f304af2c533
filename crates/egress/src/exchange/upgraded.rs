//! Connections that were upgraded to a WebSocket.

use std::{io, time::Duration};

use bytes::{Bytes, BytesMut};
use deskhand_core::network::policy::BlockReason;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, split},
    time::timeout,
};

use super::{Refused, Visit};
use crate::carry::{CutOff, both};

/// The size of the buffers.
const BUFFER_BYTES: usize = 16 * 1024;
/// The longest time for which a possible beginning of a value is held back. The program may be waiting for these bytes.
const HOLD_TIME: Duration = Duration::from_millis(50);

/// Both ends of a connection that is about to be upgraded.
#[derive(Debug)]
pub(super) struct UpgradedPair {
    program: OnUpgrade,
    host: OnUpgrade,
}

impl UpgradedPair {
    pub(super) fn new(program: OnUpgrade, host: OnUpgrade) -> Self {
        Self { program, host }
    }

    /// Returns both ends once they have been upgraded.
    pub(super) async fn ready(self) -> Option<(Upgraded, Upgraded)> {
        let (program, host) = tokio::join!(self.program, self.host);
        program.ok().zip(host.ok())
    }
}

/// Copies bytes until both directions have ended, and masks values from the host.
///
/// A stand-in that a program sends in plain text or in base64 ends the connection. Inside of a WebSocket's messages it is
/// not seen, since clients have to scramble those, and the host gets nothing but the stand-in.
pub(super) async fn carry(program: Upgraded, host: Upgraded, visit: &Visit) {
    let (mut from_program, mut to_program) = split(TokioIo::new(program));
    let (mut from_host, mut to_host) = split(TokioIo::new(host));
    let upward = async {
        let mut watch = visit.watch();
        let mut buffer = BytesMut::with_capacity(BUFFER_BYTES);
        while from_program.read_buf(&mut buffer).await? > 0 {
            if watch.sees(&buffer) {
                return Err(CutOff::Blocked(BlockReason::StandIn));
            }
            to_host.write_all(&buffer).await?;
            // TLS keeps bytes that the socket does not take at once.
            to_host.flush().await?;
            buffer.clear();
        }
        to_host.shutdown().await?;
        Ok(())
    };
    let downward = async {
        let mut mask = visit.mask();
        loop {
            let mut buffer = BytesMut::with_capacity(BUFFER_BYTES);
            let reading = from_host.read_buf(&mut buffer);
            let read: io::Result<usize> = if mask.holds() {
                match timeout(HOLD_TIME, reading).await {
                    Ok(read) => read,
                    Err(_nothing) => {
                        to_program.write_all(&mask.finish()).await?;
                        to_program.flush().await?;
                        continue;
                    }
                }
            } else {
                reading.await
            };
            if read? == 0 {
                break;
            }
            let clean: Bytes = mask.push(buffer.freeze());
            to_program.write_all(&clean).await?;
            to_program.flush().await?;
        }
        to_program.write_all(&mask.finish()).await?;
        to_program.shutdown().await?;
        Ok(())
    };
    if let Err(CutOff::Blocked(_)) = both(upward, downward).await {
        visit.report(&Refused::StandIn);
    }
}
