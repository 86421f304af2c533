//! Pages that are opened for the agent.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    browser::WebUrl,
    id::{MessageId, TurnId},
};

/// The page that a message begins with was opened in the browser, before the model read the message. A screenshot of it
/// follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = OpenedData)]
pub struct PageOpened {
    #[schema(value_type = Uuid)]
    pub turn: TurnId,
    #[schema(value_type = Uuid)]
    pub message: MessageId,
    /// The address as the message has it.
    #[schema(value_type = String)]
    pub url: WebUrl,
    /// The address of the page that is shown, as the page reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub shown_url: Option<String>,
    /// The title, which the page chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub title: Option<String>,
    /// The reason why the page could not be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<String>,
}
