//! The turn: from a prompt to the agent's answer, or to an honest end without one.
//!
//! A turn asks the model, carries out what it wants done on the session's computer, shows it
//! what came of that, and so on, until the model only speaks. Everything that happens is
//! appended to the session's log while it happens, and what the model is shown is built from
//! that log alone. The app decides when turns run and closes them in the log; it is reached
//! through the ports [`TurnLog`], [`Decisions`], [`Budgets`] and [`Desk`].

mod action_text;
mod ask;
mod batch;
mod bounds;
mod buttons;
mod context;
mod decide;
mod estimate;
mod gauge;
mod hands;
mod listen;
mod loops;
mod perform;
mod pick_up;
mod places;
mod ports;
mod result_text;
mod stopwatch;
mod system_prompt;
mod turn;
mod work;

pub use action_text::action_text;
pub use context::{Sight, build as conversation};
pub use ports::{Budgets, Decisions, Desk, DeskError, Settled, TurnLog, TurnLogError};
pub use result_text::shell_text;
pub use system_prompt::{BadTemplate, PromptTemplate, SystemPrompt};
pub use turn::{ChosenModel, Originals, Turn, TurnEnd, TurnLimits, TurnReport};
