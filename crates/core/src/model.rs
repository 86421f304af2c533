//! The port to a model: the requests it gets and the answers it streams.

mod effort;
mod room;
mod shown;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::{
    effort::{Effort, UnknownEffort},
    room::{ContextWindow, PictureForm},
    shown::{Image, ImageFormat, NotShown, ShownFile},
};
use crate::{
    action::{Point, ScreenSize},
    attachment::Attachment,
    browser::{BrowserState, ShownPage},
    decision::DecisionKind,
    tool::ToolSpecs,
};

/// One model call.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub system: String,
    pub screen: ScreenSize,
    /// The size of the pictures of the screen: [`Model::shown`].
    pub shown: ScreenSize,
    /// The page that the model was last shown. `None` if it has seen no page yet.
    pub page: Option<ShownPage>,
    /// The tools that the model may call.
    pub tools: ToolSpecs,
    /// The conversation, oldest first. The last item is never an answer.
    pub items: Vec<Item>,
    pub options: RequestOptions,
}

/// Choices about a call that are no part of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestOptions {
    /// A name that all calls of a conversation share, so that they meet the same cache of the vendor.
    pub cache_key: Option<String>,
    /// The effort that people chose. The model's own default counts without it.
    pub effort: Option<Effort>,
}

/// A part of the conversation as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// The messages of people since the agent last spoke. A prompt starts a turn.
    Prompt { text: String },
    /// The messages of people in the middle of a turn.
    Steering { text: String },
    /// The files that came with the preceding messages and can be shown to this model.
    Files(Vec<ShownFile>),
    /// A note about what has changed, beside the messages of people. It asks for nothing.
    Note { text: String },
    /// The screen has changed without the model: people had the mouse and keyboard and gave them back, or a page was
    /// opened. The text says which; the image shows the screen since then.
    HandedBack { text: String, image: Option<Image> },
    /// One answer of the model.
    Answer {
        thinking: String,
        text: String,
        calls: Vec<ToolCall>,
        original: Option<Original>,
    },
    /// The results of all calls of the preceding answer, in their order.
    Results(Vec<CallResult>),
    /// The text of an answer that broke off. The model is to continue from there.
    CutOff { text: String },
}

/// A request of the model to use a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    /// The tool's name. There may be no such tool.
    pub tool: String,
    /// The tool's own input as JSON.
    pub input: serde_json::Value,
    /// The points that a person must agree to before the call is carried out.
    pub checks: Vec<Check>,
    /// The problem with the call, if the vendor's adapter could not read it. The text is for the model.
    pub problem: Option<String>,
}

/// An answer as the vendor sent it, to be sent back to the same vendor.
///
/// Models want signatures of their thinking and the like back unchanged. Nothing else reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Original {
    pub vendor: String,
    pub data: serde_json::Value,
}

/// The tokens that an answer used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = UsageData)]
pub struct Usage {
    /// Tokens read, without those read from or written to the vendor's cache.
    pub input: u64,
    pub cache_write: u64,
    /// The part of `cache_write` that the vendor keeps for an hour.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_hour: u64,
    pub cache_read: u64,
    pub output: u64,
    /// The tokens of the longest prompt, if this is the usage of several requests. Surcharges depend on it.
    #[serde(skip)]
    pub longest_prompt: Option<u64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// Returns the sum of all tokens.
    pub fn tokens(&self) -> u64 {
        self.prompt() + self.output
    }

    /// Returns the tokens of the prompt, cached or not.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_write + self.cache_read
    }

    /// Returns the usage of both requests together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        if self == Self::default() || other == Self::default() {
            return if self == Self::default() { other } else { self };
        }
        Self {
            input: self.input + other.input,
            cache_write: self.cache_write + other.cache_write,
            cache_write_hour: self.cache_write_hour + other.cache_write_hour,
            cache_read: self.cache_read + other.cache_read,
            output: self.output + other.output,
            longest_prompt: Some(self.longest_prompt().max(other.longest_prompt())),
        }
    }

    fn longest_prompt(&self) -> u64 {
        self.longest_prompt.unwrap_or_else(|| self.prompt())
    }
}

/// The price of a million tokens, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    pub cache_write: f64,
    pub cache_read: f64,
    pub output: f64,
    /// The higher price of long prompts, if there is one.
    pub long: Option<LongPrompts>,
    pub source: PriceSource,
}

/// The surcharge for requests whose prompt is long. It holds for the whole request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongPrompts {
    /// Longer prompts than this cost more.
    pub over_tokens: u64,
    /// The factor for everything that is read.
    pub input_factor: f64,
    pub output_factor: f64,
}

/// The origin of a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceSource {
    /// The table of published prices.
    Listed,
    /// The settings of this server, or a scenario.
    Set,
    /// The model is not in the table. This is the price of the dearest model of its family.
    Guessed { like: &'static str },
}

/// The price of writing to a cache for an hour, in prices of input.
const HOUR_FACTOR: f64 = 2.0;

impl Price {
    /// Returns the price of an answer.
    #[expect(
        clippy::cast_precision_loss,
        reason = "token counts stay far below 2^53"
    )]
    pub fn of(&self, usage: &Usage) -> f64 {
        // Several requests are no long prompt. If one of them is, all of them count as long, since a bound may not be
        // passed by an estimate that is too low.
        let long = self
            .long
            .filter(|long| usage.longest_prompt() > long.over_tokens);
        let (input_factor, output_factor) =
            long.map_or((1.0, 1.0), |long| (long.input_factor, long.output_factor));
        let millions = |tokens: u64| tokens as f64 / 1e6;
        let minutes = usage.cache_write.saturating_sub(usage.cache_write_hour);
        let read = millions(usage.input) * self.input
            + millions(minutes) * self.cache_write
            + millions(usage.cache_write_hour) * self.input * HOUR_FACTOR
            + millions(usage.cache_read) * self.cache_read;
        read * input_factor + millions(usage.output) * self.output * output_factor
    }

    /// Returns true if the price is not known for sure.
    pub fn is_guessed(&self) -> bool {
        matches!(self.source, PriceSource::Guessed { .. })
    }
}

/// A point about a call that a person must agree to, whatever the session's policy says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Check {
    pub kind: DecisionKind,
    /// The question for people.
    pub prompt: String,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    pub call: String,
    pub text: String,
    pub is_error: bool,
    pub image: Option<Image>,
    /// The state of the browser, if the call was one of the browser.
    pub browser: Option<BrowserState>,
}

/// The text of a call that was not carried out because an earlier one of the same answer failed. A vendor requires
/// exactly this text for its computer.
pub const HALTED: &str = "Not executed: an earlier computer action in this turn failed.";

/// The beginning of the text of a call that a person refused with words. The words follow.
pub const REFUSED_BECAUSE: &str = "Not executed: a person was asked and said no, with these words:";

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
    /// The tokens that the answer has used so far. Each report includes the ones before it.
    Usage(Usage),
    /// The last piece.
    End(End),
}

/// The way in which an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model finished. Without calls in the answer, the turn is over.
    Done,
    /// The answer was cut off because it became too long.
    Unfinished,
    /// The model announced its next step and did not take it.
    Aside,
}

/// The reason why a model gave no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// A retry would fail too.
    #[error("{0}")]
    Rejected(String),
    /// The conversation does not fit into the model's window. A shorter one would.
    #[error("{0}")]
    TooLong(String),
    /// The model refuses to do this.
    #[error("{0}")]
    Refused(String),
    /// A retry may work later.
    #[error("{message}")]
    Unavailable {
        message: String,
        /// The delay before a retry that the vendor asks for.
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

/// The pictures of a long conversation that a model is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pictures {
    /// At least the newest ones. Older ones are dropped many at a time, so that the beginning of the conversation
    /// stays the same from one request to the next and the vendor's cache can be used.
    Newest,
    /// All of them: the vendor requires that earlier parts of the conversation never change.
    All,
}

/// A model that looks at a screen and decides what to do.
pub trait Model: Send + Sync + std::fmt::Debug {
    /// Returns the size of the pictures that the model gets of a screen. They keep the screen's aspect ratio.
    fn shown(&self, screen: ScreenSize) -> ScreenSize {
        screen
    }

    /// Translates a point on the screen into the model's own coordinates.
    fn place(&self, at: Point, _screen: ScreenSize) -> Point {
        at
    }

    fn pictures(&self) -> Pictures {
        Pictures::Newest
    }

    /// Returns the form of the pictures that the model is shown.
    fn picture_form(&self) -> PictureForm {
        PictureForm::default()
    }

    /// Returns the room that the model has for a conversation.
    fn window(&self) -> ContextWindow {
        ContextWindow::default()
    }

    /// Returns a file in the form that this model is shown. A picture is scaled to the size that the model sees. Blocks
    /// for long enough that async tasks must not call it directly.
    fn show(&self, _file: &Attachment, _bytes: Bytes) -> Result<ShownFile, NotShown> {
        Err(NotShown::Kind)
    }

    /// Returns the price of the model. `None` if it costs nothing, or nobody knows.
    fn price(&self) -> Option<Price> {
        None
    }

    /// Returns true if the model costs money and nobody knows how much.
    fn has_unknown_price(&self) -> bool {
        false
    }

    /// Calls the model. Dropping the stream cancels the call.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Chunk, ModelError>>;
}

/// The error for a name that no model has.
#[derive(Debug, thiserror::Error)]
#[error("there is no model {name:?}: {reason}")]
pub struct UnknownModel {
    pub name: String,
    /// The cause, and the models that exist instead.
    pub reason: String,
}

/// All models of this server.
pub trait Models: Send + Sync + std::fmt::Debug {
    /// Returns the model called `name` (`vendor/name`).
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, UnknownModel>;

    /// Returns the name of the model that a session uses by default.
    fn default_model(&self) -> String;

    /// Lists the models that are known by name, usable ones first. A vendor may have other usable models.
    fn list(&self) -> Vec<ListedModel>;

    /// Returns the day of the table of prices, as `2026-11-16`. Returns `None` if there is no table.
    fn prices_of(&self) -> Option<&'static str> {
        None
    }
}

/// A model that a user may choose.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedModel {
    /// `vendor/name`.
    pub name: String,
    /// The reason why it cannot be used, and the way out.
    pub problem: Option<String>,
    pub price: Option<Price>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price {
        input: 2.0,
        cache_write: 2.5,
        cache_read: 0.2,
        output: 10.0,
        long: Some(LongPrompts {
            over_tokens: 1_000_000,
            input_factor: 2.0,
            output_factor: 1.5,
        }),
        source: PriceSource::Listed,
    };

    fn cost(usage: Usage) -> f64 {
        (PRICE.of(&usage) * 1e6).round() / 1e6
    }

    #[test]
    fn writing_to_a_cache_for_an_hour_costs_twice_the_input() {
        let write = |cache_write_hour| Usage {
            cache_write: 100_000,
            cache_write_hour,
            ..Usage::default()
        };
        assert_eq!(cost(write(0)), 0.25);
        assert_eq!(cost(write(100_000)), 0.4);
        assert_eq!(cost(write(50_000)), 0.325);
        assert_eq!(write(50_000).tokens(), 100_000);
    }

    #[test]
    fn a_long_prompt_makes_the_whole_request_dearer() {
        let request = |input| Usage {
            input,
            cache_read: 500_000,
            output: 100_000,
            ..Usage::default()
        };
        assert_eq!(cost(request(500_000)), 1.0 + 0.1 + 1.0);
        assert_eq!(cost(request(500_001)), 2.200_004 + 1.5);
    }

    #[test]
    fn several_short_prompts_are_no_long_one() {
        let request = |input| Usage {
            input,
            ..Usage::default()
        };
        let short = request(600_000);
        assert_eq!(short.plus(Usage::default()), short);
        assert_eq!(cost(short.plus(short)), 2.4);
        assert_eq!(cost(short.plus(short).plus(short)), 3.6);
        assert_eq!(cost(short.plus(request(1_400_000))), 8.0);
    }
}
