//! Pages of the event log, and the other messages of its stream.

use deskhand_core::{event::Event, id::UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A page of events, in order.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = EventsPage)]
pub struct EventsView {
    pub events: Vec<Event>,
}

/// A message about people between the events of a stream, if the client asks for it. It has no number and is not
/// stored.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum PresenceMessage {
    CollaboratorJoin(Collaborator),
    CollaboratorLeave(Collaborator),
}

/// A person who has the session open.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Collaborator {
    #[schema(value_type = Uuid)]
    pub id: UserId,
    pub name: String,
}
