//! The ports on which programs in a sandbox listen.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The most ports that a sandbox reports.
pub const MOST_PORTS: usize = 100;
/// The longest name of a program that is reported, in characters.
pub const LONGEST_PROGRAM_NAME: usize = 32;

/// A port on which a program in the sandbox listens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct ListeningPort {
    pub port: u16,
    /// The program's name, if it is known. Programs choose their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}
