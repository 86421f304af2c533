//! The Discord Activity, which shows a stream inside Discord.

use deskhand_core::secret::Secret;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The Activity of this server.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Activity)]
pub struct ActivityView {
    /// The id of the application at Discord.
    pub client_id: String,
    /// The origins of the pages that may show it. No other one is talked to.
    pub hosts: Vec<String>,
}

/// Somebody who opened the Activity.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = EnterActivity)]
#[serde(deny_unknown_fields)]
pub struct EnterActivityBody {
    /// The code of their sign-in at Discord, with the scope `identify`. It is valid once.
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 200)]
    pub code: Secret,
    /// The server at Discord in which they are.
    #[schema(pattern = "^[0-9]{1,20}$")]
    pub guild_id: String,
}

/// The stream of the voice channel that somebody is in.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = EnteredActivity)]
pub struct EnteredActivityView {
    /// The token of the watch link.
    pub token: String,
}
