//! What Deskhand remembers: people, sessions, messages and the event log in SQL, pictures in files.
//!
//! SQL stands only in this crate. Every change of a session and the events that tell of it share
//! one transaction, which also gives the events their numbers: gap-free, in the order of commits.

mod answers;
mod approvals;
pub mod blobs;
mod budgets;
mod database;
mod decisions;
mod events;
mod figures;
mod gateway;
mod key_file;
mod lease;
mod limits;
mod messages;
mod people;
mod queue;
mod rights;
mod secrets;
mod sessions;
mod shares;
mod tokens;
mod transitions;

pub use answers::KeptAnswer;
pub use blobs::FolderBlobs;
pub use budgets::DayUse;
pub use database::{SqlError, Store, StoreError, shown_address};
pub use decisions::Settle;
pub use key_file::{Key, KeyError, KeyFile};
pub use lease::{NewLease, TakeLease, TookLease};
pub use limits::MadeLately;
pub use people::{ChangedUser, NewUser, UserChange};
pub use queue::{ChangeWaiting, NewPrompt, QueueFull, Steering, TakenPrompt};
pub use secrets::{NewSecret, PutSecret, SealedSecret};
pub use sessions::{NewSession, Unsettled};
pub use shares::{Joined, NewShare};
pub use tokens::NewToken;
pub use transitions::{Answer, PhaseMove, Transition};
