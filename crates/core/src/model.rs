//! The port to a model: what it is shown, and what it streams back.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    action::{Point, ScreenSize},
    blob::BlobFormat,
    decision::DecisionKind,
    tool::ToolSpecs,
};

/// One model call.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub system: String,
    pub screen: ScreenSize,
    /// How big the pictures of it are: [`Model::shown`].
    pub shown: ScreenSize,
    /// The tools that it may call.
    pub tools: ToolSpecs,
    /// The conversation, oldest first. The last item is no answer.
    pub items: Vec<Item>,
}

/// A part of the conversation as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// What people said since the agent last spoke. It begins a turn.
    Prompt { text: String },
    /// What people said in the middle of a turn.
    Steering { text: String },
    /// People had mouse and keyboard and gave them back: who, and how the screen looks since.
    HandedBack { text: String, image: Option<Image> },
    /// One answer of the model.
    Answer {
        thinking: String,
        text: String,
        calls: Vec<ToolCall>,
        original: Option<Original>,
    },
    /// What came of all calls of the answer before, in their order.
    Results(Vec<CallResult>),
    /// What the model had said when its answer broke off. It is to go on from there.
    CutOff { text: String },
}

/// The model wants a tool used.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    /// The tool's name, which may be one that there is not.
    pub tool: String,
    /// The tool's own input as JSON.
    pub input: serde_json::Value,
    /// What a person must agree to before it is carried out.
    pub checks: Vec<Check>,
    /// What is wrong with it, where the model's vendor could not read it. The text is for the model.
    pub problem: Option<String>,
}

/// An answer as the vendor sent it, for the same vendor: models want signatures of their thinking
/// and the like back unchanged. Nobody else reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Original {
    pub vendor: String,
    pub data: serde_json::Value,
}

/// What an answer took, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = UsageData)]
pub struct Usage {
    /// Read, and neither from the vendor's cache nor into it.
    pub input: u64,
    pub cache_write: u64,
    pub cache_read: u64,
    pub output: u64,
}

impl Usage {
    /// All of them.
    pub fn tokens(&self) -> u64 {
        self.input + self.cache_write + self.cache_read + self.output
    }
}

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    pub cache_write: f64,
    pub cache_read: f64,
    pub output: f64,
}

impl Price {
    /// What an answer cost.
    #[expect(clippy::cast_precision_loss, reason = "nobody uses so many tokens")]
    pub fn of(&self, usage: &Usage) -> f64 {
        let millions = |tokens: u64| tokens as f64 / 1e6;
        millions(usage.input) * self.input
            + millions(usage.cache_write) * self.cache_write
            + millions(usage.cache_read) * self.cache_read
            + millions(usage.output) * self.output
    }
}

/// Something about a call that a person must agree to, whatever the session's policy says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Check {
    pub kind: DecisionKind,
    /// What people are asked.
    pub prompt: String,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    pub call: String,
    pub text: String,
    pub is_error: bool,
    pub image: Option<Image>,
}

/// A picture for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    pub bytes: Bytes,
    pub format: BlobFormat,
}

/// A piece of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// A thinking block begins.
    ThinkingStart,
    Thinking(String),
    /// A text block begins.
    TextStart,
    Text(String),
    /// A whole tool call.
    Call(ToolCall),
    Original(Original),
    /// What the answer took so far. It includes what was told before.
    Usage(Usage),
    /// The last piece.
    End(End),
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As the model wanted. Without calls before it the turn is over.
    Done,
    /// In the middle: it became too long.
    Unfinished,
    /// With words about what comes next, and nothing of it.
    Aside,
}

/// Why a model gave no whole answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It would fail again.
    #[error("{0}")]
    Rejected(String),
    /// The model does not want to do this.
    #[error("{0}")]
    Refused(String),
    /// It may work later.
    #[error("{message}")]
    Unavailable {
        message: String,
        /// When the vendor wants to be asked again.
        retry_after: Option<Duration>,
    },
}

impl ModelError {
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::Unavailable {
            message: message.into(),
            retry_after: None,
        }
    }
}

/// Which pictures of a long conversation a model is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pictures {
    /// At least the newest. Older ones are left out many at a time, so that what comes before stays
    /// the same from one request to the next, as a vendor's cache wants it.
    Newest,
    /// All: the vendor wants what was once said to stay as it is.
    All,
}

/// Something that looks at a screen and says what to do.
pub trait Model: Send + Sync + std::fmt::Debug {
    /// How big the pictures of a screen are that it is shown. They have the screen's shape.
    fn shown(&self, screen: ScreenSize) -> ScreenSize {
        screen
    }

    /// A place on the screen as it would say it.
    fn place(&self, at: Point, _screen: ScreenSize) -> Point {
        at
    }

    fn pictures(&self) -> Pictures {
        Pictures::Newest
    }

    /// What it costs, if that is known.
    fn price(&self) -> Option<Price> {
        None
    }

    /// Asks the model. Dropping the stream gives the call up.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>>;
}

/// No model has this name.
#[derive(Debug, thiserror::Error)]
#[error("there is no model {name:?}: {reason}")]
pub struct UnknownModel {
    pub name: String,
    /// Why, and what there is instead.
    pub reason: String,
}

/// All models of this server.
pub trait Models: Send + Sync + std::fmt::Debug {
    /// The model called `name` (`vendor/name`).
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, UnknownModel>;

    /// What a session uses when nobody says otherwise.
    fn default_model(&self) -> String;

    /// The models that are known by name, usable ones first. Others of a vendor may be usable as well.
    fn list(&self) -> Vec<ListedModel>;
}

/// A model that somebody may choose.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedModel {
    /// `vendor/name`.
    pub name: String,
    /// Why it cannot be used, and the way out.
    pub problem: Option<String>,
    pub price: Option<Price>,
}
