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
/// The timeout for receiving or sending one piece. The server's own timeout is shorter.
const PIECE_TIMEOUT: Duration = Duration::from_secs(120);
/// The most pieces between the file and the stream.
const MOST_PIECES: usize = 4;

/// The error that ended a transfer.
#[derive(Debug, thiserror::Error)]
enum TransferError {
    /// Reported to the other side.
    #[error(transparent)]
    Problem(#[from] FileProblem),
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// Carries out the requested transfer until it is barred. `passage` is absent if the actor is not admitted.
pub(crate) async fn serve(mut wire: FileWire, passage: Option<Passage>) {
    let served = match passage.map(Arc::new) {
        // Read the request before refusing it. Otherwise the other side might see a closed stream instead of the
        // reason.
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
            // The other side may be gone.
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

/// Sends a head, and then everything that `produce` sends from a blocking thread.
async fn send(
    wire: &mut FileWire,
    head: FromTransfer,
    produce: impl FnOnce(&Pieces) + Send + 'static,
) -> Result<(), TransferError> {
    wire.send_head(&head).await?;
    let (sender, mut pieces) = mpsc::channel(MOST_PIECES);
    // The thread ends when the receiver is dropped.
    let producing = spawn_blocking(move || produce(&sender));
    while let Some(piece) = pieces.recv().await {
        in_time(PIECE_TIMEOUT, wire.send_packed(piece?)).await?;
    }
    if producing.await.is_err() {
        return Err(FileProblem::new(FileProblemKind::Failed, "reading failed").into());
    }
    Ok(wire.send_head(&FromTransfer::Ended).await?)
}

/// Writes the received data to a file, which gets its name only after [`ToTransfer::End`].
///
/// The threads and the unfinished file hold the passage, so no file changes after another lease holder was confirmed,
/// even if this task is gone.
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
    // The thread ends when the sender is dropped. If this task is gone by then, the unfinished file is removed.
    let writing = spawn_blocking(move || part.take_all(pieces));
    loop {
        match in_time(PIECE_TIMEOUT, wire.next()).await? {
            FileFrame::Data(piece) => {
                // The thread has failed, and returns the reason below.
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
