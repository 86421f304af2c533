//! What the model is shown: the log as a conversation.
//!
//! The log is the only source, so a turn after a crash sees what a turn without one would have
//! seen. Answers are told apart by this rule: the thinking, text and tool uses of one answer come
//! before its first result, so whatever the model says or does after a result is a new answer.
//! Partial results, what people did by hand, and how the session and its sandbox fared are not
//! part of the conversation. That people had mouse and keyboard is: the model is told when it looks
//! for the first time after that.

use std::collections::HashMap;

use deskhand_core::{
    action::{Point, ScreenSize},
    blob::BlobName,
    event::{
        Complete, Cost, EventBody, Failure, Outcome, Said, Screenshot, Status, ToolResult, ToolUse,
    },
    id::TurnId,
    lease::{LeaseChange, LeaseChanged},
    message::Role,
    model::{CallResult, Image, Item, Original, ToolCall},
};

use crate::{gauge, listen::REFUSED, places, turn::Originals};

/// For a call whose turn ended without a word about it.
const INTERRUPTED: &str = "Interrupted: it is not known whether it was done.";
/// In place of a picture that is not shown any more.
const NO_PICTURE: &str = "[The picture is not shown any more.]";
const STOPPED_NOTE: &str = "[The previous turn was stopped by a person.]";
const ENOUGH_NOTE: &str =
    "[The previous turn came up against a bound, and a person said that it was enough.]";
const INTERRUPTED_NOTE: &str = "[The previous turn was interrupted by the next message.]";
/// For a model that said nothing.
const NUDGE: &str = "[Your last answer was empty. Go on with the task, or say that you are done.]";
/// For a model that did nothing of what it said.
const ASIDE: &str =
    "[You said what comes next and did nothing. Go on with the task, or say that you are done.]";
/// For a model whose answer became too long.
const TOO_LONG: &str = "[Your answer was cut off because it became too long. Go on from there.]";
/// For one that had not come to a word or a whole call by then.
const TOO_LONG_FOR_ANY: &str = "[Your answer was cut off because it became too long, before anything of it was whole. Go on in smaller steps.]";

/// How many pictures the agent made.
pub(crate) fn n_pictures(log: &[EventBody]) -> usize {
    log.iter().filter_map(picture).count()
}

/// The pictures that the model is shown, when it is shown this many.
pub(crate) fn newest_pictures(log: &[EventBody], kept: usize) -> impl Iterator<Item = &BlobName> {
    let newest = log.iter().rev().filter_map(picture).take(kept);
    newest.map(|screenshot| &screenshot.blob)
}

/// How a model sees the screen.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    /// How many of the oldest pictures are not shown any more.
    pub n_old: usize,
    /// Those that can be shown.
    pub images: &'a HashMap<BlobName, Image>,
    /// How big a picture of the whole screen is. One that was made for another model may be too big for this one, and
    /// places in it would be others.
    pub shown: ScreenSize,
    /// A place on the screen as the model would say it.
    pub place: &'a dyn Fn(Point) -> Point,
}

impl<'a> Sight<'a> {
    /// The picture, if the model can be shown it. A part of the screen is as big as fits.
    fn image(&self, screenshot: &Screenshot, is_part: bool) -> Option<&'a Image> {
        let Screenshot { width, height, .. } = *screenshot;
        let is_its_size = if is_part {
            width <= self.shown.width && height <= self.shown.height
        } else {
            self.shown == ScreenSize { width, height }
        };
        let image = self.images.get(&screenshot.blob);
        image.filter(|_| is_its_size && self.n_old == 0)
    }
}

/// The conversation, oldest first. It ends with a prompt or with results.
pub fn build(log: &[EventBody], sight: Sight<'_>, originals: &Originals) -> Vec<Item> {
    let mut conversation = Conversation {
        items: Vec::new(),
        said: Vec::new(),
        drivers: Vec::new(),
        turn: None,
        is_at_work: false,
        is_steering: false,
        is_whole: false,
        thinking: Blocks::default(),
        text: Blocks::default(),
        calls: Vec::new(),
        original: None,
        sight,
        originals,
    };
    for body in log {
        conversation.add(body);
    }
    conversation.finish()
}

/// Whether people had mouse and keyboard since the agent last looked for that reason.
pub(crate) fn is_to_look(log: &[EventBody]) -> bool {
    for body in log.iter().rev() {
        if let EventBody::Lease(lease) = body
            && matches!(lease.change, LeaseChange::Ended { .. })
        {
            return true;
        }
        if picture(body).is_some_and(|screenshot| screenshot.call.is_none()) {
            return false;
        }
    }
    false
}

/// The screenshot, if the agent made it.
fn picture(body: &EventBody) -> Option<&Screenshot> {
    let EventBody::Screenshot(screenshot) = body else {
        return None;
    };
    screenshot.turn.is_some().then_some(screenshot)
}

/// The conversation as far as the log was read.
struct Conversation<'a> {
    items: Vec<Item>,
    /// What people said, and notes about earlier turns, since the model last spoke.
    said: Vec<String>,
    /// Who had mouse and keyboard since the model was last told. It is asked for nothing while
    /// somebody has.
    drivers: Vec<String>,
    turn: Option<TurnId>,
    /// Whether the model has spoken in this turn, so that whatever is said to it steers it.
    is_at_work: bool,
    /// Whether what was said steers it.
    is_steering: bool,
    /// Whether the model had said all of the answer that is being put together.
    is_whole: bool,
    /// The answer that is being put together.
    thinking: Blocks,
    text: Blocks,
    calls: Vec<Call>,
    /// The same as its vendor gave it.
    original: Option<Original>,
    /// Of the pictures to come.
    sight: Sight<'a>,
    originals: &'a Originals,
}

struct Call {
    call: ToolCall,
    result: Option<CallResult>,
}

impl Conversation<'_> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "most kinds of event are no part of what the model is told"
    )]
    fn add(&mut self, body: &EventBody) {
        match body {
            EventBody::Message(message) if message.role == Role::User => {
                self.end_answer();
                self.is_steering = self.is_at_work;
                self.said.push(message.content.clone());
            }
            EventBody::Thinking(said) => {
                self.speak();
                self.thinking.push(said);
            }
            EventBody::Text(said) => {
                self.speak();
                self.text.push(said);
            }
            EventBody::ToolUse(tool_use) => self.tool_use(tool_use),
            EventBody::ToolResult(result) => self.tool_result(result),
            EventBody::Screenshot(screenshot) => self.screenshot(screenshot),
            EventBody::Error(Failure {
                turn: Some(_),
                message,
                code,
            }) => {
                // What a model does not want to have said is not told to it.
                if code == REFUSED {
                    self.forget_answer();
                }
                self.end_turn();
                self.said
                    .push(format!("[The previous turn ended early: {message}]"));
            }
            EventBody::Complete(Complete { outcome, .. }) => {
                self.end_turn();
                let note = match outcome {
                    Outcome::Done => None,
                    Outcome::Stopped => Some(STOPPED_NOTE),
                    Outcome::Interrupted => Some(INTERRUPTED_NOTE),
                    Outcome::Enough => Some(ENOUGH_NOTE),
                };
                self.said.extend(note.map(str::to_owned));
            }
            // The turn before may have broken off without a word.
            EventBody::Status(Status {
                turn: Some(turn), ..
            }) if self.turn != Some(*turn) => {
                self.end_turn();
                self.turn = Some(*turn);
            }
            // The turn was held up and goes on. An answer that broke off is given again.
            EventBody::Status(Status {
                turn: Some(_),
                prompt: None,
                ..
            }) if !self.is_whole && self.calls.is_empty() => self.forget_answer(),
            EventBody::Lease(LeaseChanged { name, .. }) if !self.drivers.contains(name) => {
                self.drivers.push(name.clone());
            }
            EventBody::Cost(cost) if !cost.broken_off => self.answered(cost),
            EventBody::Retry(_) => self.cut_off(),
            EventBody::Notice(notice) => {
                self.end_answer();
                self.is_steering |= self.is_at_work;
                self.said.push(gauge::note(notice));
            }
            // The rest says nothing to the model: an answer that broke off is none, the agent's message repeats its text, and
            // the results tell what people decided.
            _ => {}
        }
    }

    /// An answer that is not whole counts for nothing.
    fn forget_answer(&mut self) {
        if !self.is_whole {
            self.thinking = Blocks::default();
            self.text = Blocks::default();
        }
    }

    /// The answer is whole. One that leaves the model with nothing to react to is followed by a note.
    fn answered(&mut self, cost: &Cost) {
        self.is_whole = true;
        self.original = self.originals.get(&(cost.turn, cost.step)).cloned();
        if self.calls.iter().any(|call| call.result.is_none()) {
            return;
        }
        let note = match (cost.unfinished, self.text.is_empty()) {
            (true, false) => TOO_LONG,
            (true, true) => TOO_LONG_FOR_ANY,
            (false, true) => NUDGE,
            (false, false) if cost.aside => ASIDE,
            (false, false) => return,
        };
        self.end_answer();
        self.is_steering |= self.said.is_empty();
        self.said.push(note.to_owned());
    }

    /// The answer broke off, and the model is asked to go on from there.
    fn cut_off(&mut self) {
        if self.is_whole {
            return;
        }
        self.thinking = Blocks::default();
        let text = std::mem::take(&mut self.text).whole();
        if !text.trim().is_empty() {
            self.end_prompt();
            self.items.push(Item::CutOff { text });
        }
    }

    /// The model speaks: after calls, that is a new answer.
    fn speak(&mut self) {
        if !self.calls.is_empty() {
            self.end_answer();
        }
        self.is_at_work = true;
        self.is_whole = false;
    }

    fn tool_use(&mut self, tool_use: &ToolUse) {
        if tool_use.turn.is_none() {
            return;
        }
        if self.calls.iter().any(|call| call.result.is_some()) {
            self.end_answer();
        }
        self.is_at_work = true;
        self.calls.push(Call {
            call: ToolCall {
                id: tool_use.call.clone(),
                tool: tool_use.tool.clone(),
                input: tool_use.input.clone(),
                checks: tool_use.checks.clone(),
                problem: None,
            },
            result: None,
        });
    }

    fn tool_result(&mut self, result: &ToolResult) {
        if result.turn.is_none() || result.partial {
            return;
        }
        let open = self
            .calls
            .iter_mut()
            .find(|call| call.call.id == result.call && call.result.is_none());
        if let Some(call) = open {
            let has_places = call.call.tool == "computer" && !result.is_error;
            call.result = Some(CallResult {
                call: result.call.clone(),
                text: if has_places {
                    places::moved(&result.text, self.sight.place)
                } else {
                    result.text.clone()
                },
                is_error: result.is_error,
                image: None,
            });
        }
    }

    /// A picture stands behind its result.
    fn screenshot(&mut self, screenshot: &Screenshot) {
        if screenshot.turn.is_none() {
            return;
        }
        let sight = self.sight;
        self.sight.n_old = sight.n_old.saturating_sub(1);
        if screenshot.call.is_none() {
            return self.handed_back(sight.image(screenshot, false).cloned());
        }
        let mut calls = self.calls.iter_mut().rev();
        let is_its = |call: &&mut Call| Some(&call.call.id) == screenshot.call.as_ref();
        let Some(call) = calls.find(is_its) else {
            return;
        };
        let is_part = call.call.input["action"] == "zoom";
        let Some(result) = call.result.as_mut() else {
            return;
        };
        result.image = sight.image(screenshot, is_part).cloned();
        if result.image.is_none() {
            if !result.text.is_empty() {
                result.text.push('\n');
            }
            result.text.push_str(NO_PICTURE);
        }
    }

    /// The agent is told who had mouse and keyboard, and shown what they left.
    fn handed_back(&mut self, image: Option<Image>) {
        let names = match &std::mem::take(&mut self.drivers)[..] {
            [] => return,
            [name] => name.clone(),
            [names @ .., last] => format!("{} and {last}", names.join(", ")),
        };
        self.end_answer();
        self.end_prompt();
        let mut text = format!(
            "[{names} had mouse and keyboard and gave them back. The screen has changed since you \
             last saw it."
        );
        text.push_str(match image {
            Some(_) => " This is how it looks now.]",
            None => " Look at it before you go on.]",
        });
        self.items.push(Item::HandedBack { text, image });
    }

    /// Nothing more belongs to the answer that is being put together.
    ///
    /// An answer of thinking alone is left out: it asked for nothing and said nothing.
    fn end_answer(&mut self) {
        let thinking = std::mem::take(&mut self.thinking).whole();
        let text = std::mem::take(&mut self.text).whole();
        let calls = std::mem::take(&mut self.calls);
        let original = self.original.take();
        if text.trim().is_empty() && calls.is_empty() {
            return;
        }
        self.end_prompt();
        let (calls, results): (Vec<_>, Vec<_>) = calls
            .into_iter()
            .map(|call| {
                let result = call.result.unwrap_or_else(|| CallResult {
                    call: call.call.id.clone(),
                    text: INTERRUPTED.to_owned(),
                    is_error: true,
                    image: None,
                });
                (call.call, result)
            })
            .unzip();
        self.items.push(Item::Answer {
            thinking,
            text,
            calls,
            original,
        });
        if !results.is_empty() {
            self.items.push(Item::Results(results));
        }
    }

    fn end_prompt(&mut self) {
        let said = std::mem::take(&mut self.said);
        if said.is_empty() {
            return;
        }
        let text = said.join("\n\n");
        self.items.push(if std::mem::take(&mut self.is_steering) {
            Item::Steering { text }
        } else {
            Item::Prompt { text }
        });
    }

    fn end_turn(&mut self) {
        self.end_answer();
        if self.is_steering {
            self.end_prompt();
        }
        self.is_at_work = false;
    }

    fn finish(mut self) -> Vec<Item> {
        self.end_answer();
        self.end_prompt();
        self.handed_back(None);
        self.items
    }
}

/// Blocks of thinking or text, put together from their pieces.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    newest: Option<(TurnId, u32)>,
    text: String,
}

impl Blocks {
    pub(crate) fn push(&mut self, said: &Said) {
        let block = (said.turn, said.block);
        if self.newest.is_some_and(|newest| newest != block) {
            self.text.push_str("\n\n");
        }
        self.newest = Some(block);
        self.text.push_str(&said.text);
    }

    /// What comes next belongs to the same text, whatever its number.
    pub(crate) fn join(&mut self) {
        self.newest = None;
    }

    fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(crate) fn whole(self) -> String {
        self.text
    }
}
