//! Persistence: people, sessions, messages and the event log in SQL, pictures in files.
//!
//! All SQL is in this crate. Every change to a session goes through [`Store::commit`], which stores it together with
//! its events and numbers them: without gaps, in the order of commits.

mod answers;
mod approvals;
mod attachments;
mod audit;
pub mod blobs;
mod briefing;
mod budgets;
mod commit;
mod counts;
mod database;
mod decision_files;
mod decisions;
mod edit;
mod evals;
mod events;
mod gateway;
mod handover;
mod key_file;
mod layouts;
mod lease;
mod limits;
mod messages;
mod network;
mod offers;
mod people;
mod queue;
mod retention;
mod rights;
mod sealed;
mod secrets;
mod servers;
mod sessions;
mod shared_ports;
mod shares;
mod sign_ins;
mod standing;
mod streams;
mod tokens;
mod transitions;
mod waiting;
mod watch_links;

pub use answers::{AppendEvents, KeptAnswer, NoSuchSession};
pub use attachments::{AddAttachment, AttachmentRefused, AttachmentRoom};
pub use blobs::FolderBlobs;
pub use briefing::FixBriefing;
pub use budgets::DayUse;
pub use commit::{Change, Committed, HeldSession, Hold, Refused};
pub use database::{SqlError, Store, StoreError, shown_address};
pub use decisions::{NotAtWork, RaiseDecision, SettleDecision, SettleRefused};
pub use edit::{EditRefused, EditSession};
pub use evals::{EvalPage, EvalProgress, EvalRow, NewEval, NewTrial, TrialEnd, TrialRow};
pub use gateway::CountGatewayUse;
pub use handover::{AcceptOffer, NoOffer};
pub use key_file::{Key, KeyError, KeyFile, Keys};
pub use lease::{EndLease, LeaseRefused, NotTheLease, TakeLease};
pub use limits::MadeLately;
pub use messages::MessageChoice;
pub use network::{AttemptOutcome, DestinationCount, RecordNetwork};
pub use offers::{NewOffer, OfferEnd, Offered};
pub use people::{ChangedUser, NewUser, UserChange};
pub use queue::{
    ChangeWaiting, NothingToTake, PromptRefused, QueuePrompt, Steering, TakePrompt, TakeSteering,
    WaitingRefused,
};
pub use rights::{Departure, Granted};
pub use sealed::{SealVersion, SealedIn, SealedSecret, SealedValue};
pub use secrets::{NewSecret, PutSecret};
pub use servers::{DatabaseClaim, InUse, NewServer};
pub use sessions::{NewSession, Unsettled};
pub use shares::{Joined, NewShare};
pub use sign_ins::{CodeReason, NewCode, NewSignIn, sign_in_id};
pub use streams::{MoveStream, NewStream, StreamAdmission, StreamFigures, StreamPage, StreamRow};
pub use tokens::NewToken;
pub use transitions::{CannotMove, FinalAnswer, PhaseMove, Transition};
pub use waiting::{ClearHeld, HoldWaiting, NoQueue};
