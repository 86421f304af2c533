//! Serves the stream of one file.

use std::{sync::Arc, time::Duration};

use deskhand_core::file::{
    FileFrame, FileProblem, FileProblemKind, FileTransfer, FileWire, FromTransfer, ToTransfer,
    WireError,
};
use tokio::{sync::mpsc, task::spawn_blocking, time::timeout};

use super::{
    archive::Packing,
    home, leased,
    read::{Pieces, Reading},
    write::{Part, WriteEnd},
};
use crate::barrier::Passage;

/// The timeout for the first head.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout for a piece that does not come or go. The server gives up earlier.
const PIECE_TIMEOUT: Duration = Duration::from_secs(120);
/// The most pieces between the file and the stream.
const MOST_PIECES: usize = 4;

/// The reason why a transfer ended without a result.
#[derive(Debug, thiserror::Error)]
enum TransferError {
    /// The other side hears of it.
    #[error(transparent)]
    Problem(#[from] FileProblem),
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// Carries out the transfer that the other side asks for, for as long as it may. The passage is absent if it never may.
pub(crate) async fn serve(mut wire: FileWire, passage: Option<Passage>) {
    let served = match passage.map(Arc::new) {
        // Read the request before it is refused: otherwise the other side may meet a closed stream instead of the reason.
        None => in_time(BEGIN_TIMEOUT, wire.head::<ToTransfer>())
            .await
            .and(Err(TransferError::Problem(leased()))),
        Some(passage) => tokio::select! {
            biased;
            () = passage.barred().cancelled() => Err(TransferError::Problem(leased())),
            served = carry_out(&mut wire, &passage) => served,
        },
    };
    match served {
        Ok(()) => {}
        Err(TransferError::Problem(problem)) => {
            // If the other side is gone, nobody needs the reason.
            let refused = FromTransfer::Refused(problem);
            let _ = timeout(BEGIN_TIMEOUT, wire.send_head(&refused)).await;
        }
        Err(TransferError::Wire(error)) => {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "a file's stream broke off"
            );
        }
    }
    wire.close().await;
}

async fn carry_out(wire: &mut FileWire, passage: &Arc<Passage>) -> Result<(), TransferError> {
    let ToTransfer::Begin(transfer) = in_time(BEGIN_TIMEOUT, wire.head()).await? else {
        return Err(WireError::Order.into());
    };
    let home = home()?;
    match transfer {
        FileTransfer::Read {
            path,
            range,
            range_of,
        } => {
            let path = path.absolute(&home);
            let open = move || Reading::open(&path, range, range_of.as_deref());
            let reading = blocking(open).await?;
            let head = FromTransfer::Reading {
                stat: reading.stat.clone(),
                first: reading.first,
                length: Some(reading.length),
            };
            send(wire, head, move |pieces| reading.send_all(pieces)).await
        }
        FileTransfer::Archive { path, format: _ } => {
            let path = path.absolute(&home);
            let packing = blocking(move || Packing::open(&path)).await?;
            let head = FromTransfer::Reading {
                stat: packing.stat.clone(),
                first: 0,
                length: None,
            };
            send(wire, head, move |pieces| packing.send_all(pieces)).await
        }
        FileTransfer::Write {
            path,
            length,
            condition,
            is_executable,
        } => {
            let end = WriteEnd {
                length,
                condition,
                is_executable,
            };
            receive(wire, path.absolute(&home), end, passage).await
        }
    }
}

/// Sends a head, and then everything that `produce` makes in a thread of its own.
async fn send(
    wire: &mut FileWire,
    head: FromTransfer,
    produce: impl FnOnce(&Pieces) + Send + 'static,
) -> Result<(), TransferError> {
    wire.send_head(&head).await?;
    let (sender, mut pieces) = mpsc::channel(MOST_PIECES);
    // The thread ends when the receiver does.
    let producing = spawn_blocking(move || produce(&sender));
    while let Some(piece) = pieces.recv().await {
        in_time(PIECE_TIMEOUT, wire.send_packed(piece?)).await?;
    }
    if producing.await.is_err() {
        return Err(FileProblem::new(FileProblemKind::Failed, "reading failed").into());
    }
    Ok(wire.send_head(&FromTransfer::Ended).await?)
}

/// Writes what arrives to a file. It takes its place only after the end was announced.
///
/// The threads and the unfinished file hold the passage. So nothing changes after another holder of the lease was
/// confirmed, even if nobody waits for a thread any more.
async fn receive(
    wire: &mut FileWire,
    path: String,
    end: WriteEnd,
    passage: &Arc<Passage>,
) -> Result<(), TransferError> {
    let begun = end.condition.clone();
    let holding = Some(Arc::clone(passage));
    let part = changing(passage, move || Part::begin(&path, &begun, holding)).await?;
    wire.send_head(&FromTransfer::Writing).await?;
    let (sender, pieces) = mpsc::channel(MOST_PIECES);
    // The thread ends when the sender is gone, and the file with it if nobody waits for the thread any more.
    let writing = spawn_blocking(move || part.take_all(pieces));
    loop {
        match in_time(PIECE_TIMEOUT, wire.next()).await? {
            FileFrame::Data(piece) => {
                // If the thread has failed, it has the reason.
                if sender.send(piece).await.is_err() {
                    break;
                }
            }
            FileFrame::Head(head) => {
                let ToTransfer::End = serde_json::from_slice(&head).map_err(WireError::from)?
                else {
                    return Err(WireError::Order.into());
                };
                break;
            }
        }
    }
    drop(sender);
    let part = writing.await.map_err(|panicked| broken(&panicked))??;
    let (stat, is_new) = changing(passage, move || part.finish(&end)).await?;
    Ok(wire
        .send_head(&FromTransfer::Written { stat, is_new })
        .await?)
}

async fn in_time<T>(
    longest: Duration,
    work: impl Future<Output = Result<T, WireError>>,
) -> Result<T, TransferError> {
    match timeout(longest, work).await {
        Ok(done) => Ok(done?),
        Err(_elapsed) => Err(WireError::Closed.into()),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileProblem> + Send + 'static,
) -> Result<T, FileProblem> {
    spawn_blocking(work)
        .await
        .map_err(|panicked| broken(&panicked))?
}

/// Changes files in a thread that holds the passage, unless it is barred by then.
async fn changing<T: Send + 'static>(
    passage: &Arc<Passage>,
    work: impl FnOnce() -> Result<T, FileProblem> + Send + 'static,
) -> Result<T, FileProblem> {
    let passage = Arc::clone(passage);
    blocking(move || {
        if passage.barred().is_cancelled() {
            return Err(leased());
        }
        work()
    })
    .await
}

fn broken(panicked: &tokio::task::JoinError) -> FileProblem {
    FileProblem::new(FileProblemKind::Failed, panicked.to_string())
}
