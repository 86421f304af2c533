//! Jamie, the Discord bot: people send it a link, and everybody in their voice channel can watch it together.
//!
//! [`run`] is the bot. It asks a [`Controller`] for streams and is told about their progress through a channel of
//! [`contract::StatusUpdate`]s. The [`contract`] and the [`ErrorCode`]s are shared with those who write controllers.

mod activity;
mod bot;
pub mod contract;
mod controller;
mod error_code;
mod link;
mod records;
mod settings;
mod text;
mod voice;

pub use activity::{ActivityDoor, ActivitySettings, NotLetIn};
pub use bot::{BotError, BotStanding, BotState, run};
pub use controller::{BadController, Controller, ControllerError, HttpController};
pub use error_code::{Category, ErrorCode, ErrorCodeRow, Retry};
pub use link::{MAX_LINK_BYTES, find_link, is_link};
pub use records::{Finding, RecordPage, SetupCheck, StreamRecord, StreamRecords};
pub use settings::{BadSetting, Settings};
