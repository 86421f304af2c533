//! Watch links, and what their watchers learn about a session.

use deskhand_core::{id::WatchLinkId, watch_link::WatchLink};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A watch link to create.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = CreateWatchLink)]
#[serde(deny_unknown_fields)]
pub struct WatchLinkBody {
    /// The seconds for which it is valid, at most 30 days. A day by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 60, maximum = 2_592_000)]
    pub lifetime_seconds: Option<u64>,
}

/// A link by which everybody can watch a session.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = WatchLink)]
pub struct WatchLinkView {
    #[schema(value_type = Uuid)]
    pub id: WatchLinkId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// A new watch link.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = MadeWatchLink)]
pub struct MadeWatchLinkView {
    #[serde(flatten)]
    pub about: WatchLinkView,
    /// The whole link, shown only once.
    #[schema(format = "uri")]
    pub url: String,
}

/// The valid watch links of a session.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = WatchLinks)]
pub struct WatchLinksView {
    pub links: Vec<WatchLinkView>,
}

/// The state of what a watch link shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchStage {
    /// The computer does not run yet, or not at the moment.
    NotStarted,
    Live,
    /// The session has ended.
    Ended,
}

/// What a watch link shows.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Watch)]
pub struct WatchView {
    pub state: WatchStage,
    /// The title of the session. It may be empty.
    pub title: String,
    /// True while a person has control. Watchers see and hear nothing then.
    pub paused: bool,
    /// The number of people who watch by links.
    pub n_watchers: usize,
    /// The names of the first 20 of them. Those who give none are called Guest.
    #[schema(max_items = 20)]
    pub watchers: Vec<String>,
}

impl From<WatchLink> for WatchLinkView {
    fn from(link: WatchLink) -> Self {
        Self {
            id: link.id,
            created_at: link.created_at,
            expires_at: link.expires_at,
        }
    }
}
