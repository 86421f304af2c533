//! Carrying out operations on the computer in a sandbox.

use async_trait::async_trait;
use bytes::Bytes;

use super::{Actor, ForSession, LeaseHolder, LeaseOutcome, Operation, Vocabulary};
use crate::id::RequestId;

/// The pieces of a command's output while it runs. The channel is bounded: a piece that does not fit is dropped,
/// since the reply has everything.
pub type Progress = futures::channel::mpsc::Sender<Bytes>;

/// The context of one request.
#[derive(Debug)]
pub struct Call {
    /// The id of the request. The computer answers a repeated id from memory.
    pub id: RequestId,
    pub actor: Actor,
    pub progress: Option<Progress>,
}

impl Call {
    /// Creates a call with a new id and without progress.
    pub fn by(actor: Actor) -> Self {
        Self {
            id: RequestId::new(),
            actor,
            progress: None,
        }
    }
}

/// The reason why a request was not carried out, or may not have been.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComputerError {
    /// It failed or was refused inside the sandbox. The text is for the model.
    #[error("{0}")]
    Failed(String),
    /// A person holds the lease. A request that had already begun may have been done.
    #[error("{}", refusal(*.was_begun))]
    Refused { was_begun: bool },
    /// No program listens on this port of the sandbox.
    #[error("nothing listens on port {0} of the sandbox")]
    NothingListens(u16),
    /// The sandbox has no sound card.
    #[error("the sandbox has no sound card: PulseAudio is not installed in it")]
    NoSoundCard,
    /// It was cancelled before it was done.
    #[error("the request was cancelled")]
    Cancelled,
    /// The sandbox died or the link broke after the request was sent, so it may have been done.
    #[error("the sandbox was lost during the action, so it is not known whether it was done")]
    FateUnknown,
    /// There is no running sandbox.
    #[error("the sandbox is not running")]
    Gone,
    /// The sandbox was ended on purpose, before or during the request. The text says which of the two, and is for the
    /// model.
    #[error("{0}")]
    Ended(String),
}

fn refusal(was_begun: bool) -> &'static str {
    if was_begun {
        "Cut off: a person took over mouse and keyboard during this action. It is not known \
         whether it was done."
    } else {
        "Not executed: a person has mouse and keyboard."
    }
}

/// A computer that carries out the operations of vocabulary `V`.
///
/// Callers use the typed [`ComputerExt::perform`]; implementations see the enum of all operations.
#[async_trait]
pub trait Computer<V: Vocabulary = ForSession>: Send + Sync + std::fmt::Debug {
    /// Carries out a request. The reply is the variant of the request's operation.
    async fn carry_out(&self, call: Call, request: V::Request) -> Result<V::Reply, ComputerError>;

    /// Ends a request early. It is soon answered with `Cancelled` or with its result.
    async fn cancel(&self, id: RequestId);

    /// Sets the holder of the lease, and waits until the computer knows it. From the moment of the call, no reply and
    /// no progress reaches an actor that the holder does not admit. A person must not get control if the outcome is
    /// [`LeaseOutcome::Watched`].
    async fn set_lease_holder(&self, holder: LeaseHolder) -> LeaseOutcome;
}

/// Typed requests to any [`Computer`].
pub trait ComputerExt<V: Vocabulary> {
    /// Carries out one operation.
    fn perform<O: Operation<V>>(
        &self,
        call: Call,
        operation: O,
    ) -> impl Future<Output = Result<O::Reply, ComputerError>> + Send;
}

impl<V: Vocabulary, C: Computer<V> + ?Sized> ComputerExt<V> for C {
    async fn perform<O: Operation<V>>(
        &self,
        call: Call,
        operation: O,
    ) -> Result<O::Reply, ComputerError> {
        let reply = self.carry_out(call, operation.into_request()).await?;
        O::reply_of(reply).ok_or_else(|| {
            ComputerError::Failed(format!(
                "the computer answered {} with another operation's reply",
                O::NAME
            ))
        })
    }
}
