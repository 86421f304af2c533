//! MCP servers that are programs in the sandbox.

use std::{
    future::ready,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use deskhand_core::{
    sandbox::{
        Actor, ByteStream, ComputerError, ProgramFrame, ProgramOrder, StreamTarget, Streams,
    },
    tool_server::ToolServerError,
};
use futures::{SinkExt, StreamExt};
use tokio::time::timeout;

use crate::session_computer::SessionComputer;

/// The timeout for the runner to start a program.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why a program ended, once it has. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct ProgramEnd(Arc<Mutex<Option<String>>>);

impl ProgramEnd {
    pub(super) fn reason(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, reason: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }
}

/// Starts a program, and returns the bytes of its standard streams.
pub(super) async fn start(
    computer: &SessionComputer,
    order: &ProgramOrder,
) -> Result<(ByteStream, ProgramEnd), ToolServerError> {
    let opened = computer.open(StreamTarget::Program, Actor::Agent).await;
    let mut stream = opened.map_err(|error| not_started(&error))?;
    let order = serde_json::to_vec(order);
    let order = order.map_err(|error| ToolServerError::Unreachable(error.to_string()))?;
    let sent = stream.outgoing.send(order.into()).await;
    sent.map_err(|_gone| ToolServerError::Gone)?;
    let first = timeout(START_TIMEOUT, stream.incoming.next()).await;
    let first = first.map_err(|_late| ToolServerError::Late(START_TIMEOUT.as_secs()))?;
    match first.and_then(ProgramFrame::decode) {
        Some(ProgramFrame::Started) => {}
        Some(ProgramFrame::Ended(reason)) => return Err(ToolServerError::Unreachable(reason)),
        Some(ProgramFrame::Output(_)) | None => return Err(ToolServerError::Gone),
    }
    let end = ProgramEnd::default();
    let noted = end.clone();
    let incoming = stream.incoming.filter_map(move |message| {
        let output = match ProgramFrame::decode(message) {
            Some(ProgramFrame::Output(bytes)) => Some(bytes).filter(|bytes| !bytes.is_empty()),
            Some(ProgramFrame::Ended(reason)) => {
                noted.set(reason);
                None
            }
            Some(ProgramFrame::Started) | None => None,
        };
        ready(output)
    });
    let stream = ByteStream {
        incoming: Box::pin(incoming),
        outgoing: stream.outgoing,
    };
    Ok((stream, end))
}

fn not_started(error: &ComputerError) -> ToolServerError {
    ToolServerError::Unreachable(format!("its program was not started: {error}"))
}
