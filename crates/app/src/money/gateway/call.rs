//! One call of a program, from its start until it is counted.

use std::{
    io,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use deskhand_core::{
    event::GatewayUse,
    gateway::{GatewayAnswer, GatewayCall, GatewayRefusal, GatewayRefusalKind, Passing},
    id::TurnId,
    model::{Price, Usage},
};
use deskhand_store::CountGatewayUse;
use futures::{
    StreamExt, future,
    stream::{self, BoxStream},
};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::Admitted;
use crate::{database_retry::until_answered, feed::log::Log};

/// The number of pieces of an answer that may wait for the program.
const MOST_PIECES: usize = 16;
/// The timeout for a program to take a piece. After it the program counts as gone.
const SEND_TIMEOUT: Duration = Duration::from_mins(5);

pub(super) type Begun = oneshot::Sender<Result<GatewayAnswer, GatewayRefusal>>;

#[derive(Debug)]
pub(super) struct Call {
    pub(super) log: Log,
    pub(super) shutdown: CancellationToken,
    pub(super) admitted: Admitted,
    pub(super) asked: Box<dyn GatewayCall>,
}

/// The terms of a call.
#[derive(Debug)]
struct Bill {
    turn: Option<TurnId>,
    model: String,
    price: Option<Price>,
    is_free: bool,
}

impl Bill {
    /// Returns the event of a call that ended like this.
    fn used(&self, over: &Over) -> GatewayUse {
        GatewayUse {
            turn: self.turn,
            model: self.model.clone(),
            usd: self.price.map_or(0.0, |price| price.of(&over.usage)),
            usage: over.usage,
            unpriced: self.price.is_none(),
            unfinished: !over.is_whole,
        }
    }
}

/// The end of a call.
#[derive(Debug)]
struct Over {
    usage: Usage,
    is_whole: bool,
}

impl Call {
    /// Calls the vendor, reports the beginning of the answer, and passes it on to its end.
    pub(super) async fn carry_out(self, begun: Begun) {
        let Self {
            log,
            shutdown,
            mut admitted,
            asked,
        } = self;
        let bill = Bill {
            turn: admitted.turn,
            model: asked.model().to_owned(),
            price: asked.price(),
            is_free: asked.is_free(),
        };
        let n_prompt_tokens = asked.prompt_tokens();
        let answered = admitted.stop.run_until_cancelled(asked.send()).await;
        // The request is sent, and an answer may take long.
        admitted.room.release();
        let answer = match answered {
            Some(Ok(answer)) => answer,
            Some(Err(refusal)) => {
                // The program may be gone.
                let _ = begun.send(Err(refusal));
                return;
            }
            None => {
                // The vendor has read the request and does not say what it took.
                let over = Over {
                    usage: Usage {
                        input: n_prompt_tokens,
                        ..Usage::default()
                    },
                    is_whole: false,
                };
                if !bill.is_free {
                    count(&log, &shutdown, &admitted, bill.used(&over)).await;
                }
                let _ = begun.send(Err(GatewayRefusal::new(
                    GatewayRefusalKind::Idle,
                    "the agent was stopped",
                )));
                return;
            }
        };
        tracing::debug!(session.id = %admitted.session, model = bill.model, status = answer.status, "a program called a model");
        let is_counted = !bill.is_free && (200..300).contains(&answer.status);
        let (sender, pieces) = mpsc::channel(MOST_PIECES);
        let end = Arc::<OnceLock<()>>::default();
        let GatewayAnswer {
            status,
            headers,
            body,
        } = answer;
        // The program may no longer wait for it, but it costs the same.
        let _ = begun.send(Ok(GatewayAnswer {
            status,
            headers,
            body: received(pieces, Arc::clone(&end)),
        }));
        let over = pass_on(body, &sender, &admitted).await;
        if is_counted {
            count(&log, &shutdown, &admitted, bill.used(&over)).await;
        }
        if over.is_whole {
            // It is set once.
            let _ = end.set(());
        }
        // Only now does the program see the end: its next call finds this one counted.
        drop(sender);
    }
}

/// Passes an answer on until it ends or the call has to end.
async fn pass_on(
    mut body: BoxStream<'static, io::Result<Passing>>,
    program: &mpsc::Sender<Bytes>,
    admitted: &Admitted,
) -> Over {
    let mut usage = Usage::default();
    let mut is_there = true;
    loop {
        let is_whole = match admitted.stop.run_until_cancelled(body.next()).await {
            Some(Some(Ok(Passing::Usage(counted)))) => {
                usage = counted;
                continue;
            }
            Some(Some(Ok(Passing::Bytes(bytes)))) => {
                if is_there {
                    let given = give(program, bytes);
                    let given = admitted.stop.run_until_cancelled(given).await;
                    is_there = given.unwrap_or(false);
                }
                continue;
            }
            Some(None) => true,
            // It broke off, or has to end.
            Some(Some(Err(_))) | None => false,
        };
        return Over { usage, is_whole };
    }
}

/// Returns an answer as the program gets it. Without an `end` it breaks off, so that it is not taken for complete.
fn received(
    pieces: mpsc::Receiver<Bytes>,
    end: Arc<OnceLock<()>>,
) -> BoxStream<'static, io::Result<Passing>> {
    let pieces = stream::unfold(pieces, async |mut pieces| {
        let piece = Passing::Bytes(pieces.recv().await?);
        Some((Ok(piece), pieces))
    });
    let broken = stream::once(async move {
        let is_whole = end.get().is_some();
        (!is_whole).then(|| Err(io::Error::other("the answer ended early")))
    });
    pieces.chain(broken.filter_map(future::ready)).boxed()
}

/// Passes a piece to the program. Returns false if the program did not take it.
async fn give(program: &mpsc::Sender<Bytes>, bytes: Bytes) -> bool {
    let given = timeout(SEND_TIMEOUT, program.send(bytes));
    matches!(given.await, Ok(Ok(())))
}

async fn count(log: &Log, shutdown: &CancellationToken, admitted: &Admitted, used: GatewayUse) {
    let session = admitted.session;
    // If the response to an attempt is lost, the call is counted twice rather than not at all.
    let counted = until_answered(shutdown, || {
        let used = used.clone();
        log.commit(session, CountGatewayUse { used })
    });
    if let Err(error) = counted.await {
        tracing::error!(session.id = %session, error = &error as &dyn std::error::Error, "could not count the \
                                                                                          cost of a program's \
                                                                                          model call");
    }
}
