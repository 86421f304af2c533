//! The turn: from a prompt to the agent's answer, or to an honest end without one.
//!
//! A turn calls the model, carries out its calls with the session's [`tools`], shows it the results, and repeats this
//! until the model only speaks. Everything is appended to the session's log as it happens, and the model sees only a
//! view of that log. The app decides when turns run and closes them in the log; a turn reaches the app through the
//! ports [`TurnLog`], [`Decisions`], [`Budgets`] and [`Desk`].

mod after;
mod album;
mod approve;
mod ask;
mod batch;
mod bounds;
mod briefing;
mod call_context;
mod call_remote;
mod context;
mod cut;
mod estimate;
mod gauge;
mod hands;
mod harness;
mod journal;
mod listen;
mod loops;
mod machine;
pub mod model_check;
mod open_pages;
mod page_picture;
mod people;
mod pick_up;
mod place_files;
mod ports;
mod shell_progress;
mod stopwatch;
mod summarize;
mod system_prompt;
pub mod tools;
mod turn;
mod work;

pub use briefing::Briefing;
pub use context::{ShownFiles, Sight, build as conversation};
pub use harness::{Harness, OwnLoop};
pub use ports::{
    Budgets, Decisions, Desk, DeskError, PlaceError, RemoteTools, Settled, TurnLog, TurnLogError,
};
pub use system_prompt::{
    BadTemplate, PromptTemplate, SystemPrompt, secrets::UsableSecret, servers::ServerNote,
    surroundings::Surroundings,
};
pub use turn::{ChosenModel, Originals, Turn, TurnEnd, TurnLimits, TurnReport};
