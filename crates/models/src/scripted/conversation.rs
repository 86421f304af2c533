//! The conversation so far, as a scenario sees it: the next step and everything that it was shown.

use deskhand_core::model::{CallResult, Image, Item, ToolCall};

use super::trouble::StepPlace;

/// Marks the calls of an answer that only looked again, so that the answer does not count as a step.
const LOOK_PREFIX: &str = "look";

/// The progress of a scenario, derived from a request.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    /// The number of prompts. The turn of the last one is still running.
    pub(super) n_prompts: usize,
    pub(super) prompt: &'a str,
    /// The last message that people sent in the middle of this turn.
    pub(super) steering: &'a str,
    /// The last report of people who had the mouse and the keyboard in this turn.
    pub(super) handed_back: &'a str,
    /// People sent a message after the last answer.
    is_steered: bool,
    /// The part of the current step's text that was said before the answer was cut off.
    said: String,
    /// The results that each step of this turn was shown, up to and including the current step. Never empty.
    shown: Vec<Shown<'a>>,
    /// The newest picture of the whole screen in this turn.
    pub(super) picture: Option<&'a Image>,
}

/// The results that a step was shown.
#[derive(Debug, Default)]
pub(super) struct Shown<'a> {
    /// The results of the previous step's calls.
    pub(super) results: &'a [CallResult],
    /// The results of each later look at the screen.
    pub(super) looks: Vec<&'a [CallResult]>,
}

impl Shown<'_> {
    /// Returns the newest results: those of the last look, if there was one.
    pub(super) fn newest(&self) -> &[CallResult] {
        self.looks.last().copied().unwrap_or(self.results)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &CallResult> {
        self.results
            .iter()
            .chain(self.looks.iter().copied().flatten())
    }

    /// Returns all texts in the results of the previous step.
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self.results.iter().map(|result| &*result.text).collect();
        texts.join("\n")
    }
}

impl<'a> Conversation<'a> {
    pub(super) fn read(items: &'a [Item]) -> Self {
        let mut conversation = Self {
            n_prompts: 0,
            prompt: "",
            steering: "",
            handed_back: "",
            is_steered: false,
            said: String::new(),
            shown: vec![Shown::default()],
            picture: None,
        };
        let mut asked: &[ToolCall] = &[];
        for item in items {
            match item {
                // A prompt starts a new turn.
                Item::Prompt { text } => {
                    conversation.n_prompts += 1;
                    conversation.prompt = text;
                    conversation.steering = "";
                    conversation.handed_back = "";
                    conversation.said.clear();
                    conversation.shown = vec![Shown::default()];
                    conversation.picture = None;
                }
                Item::Steering { text } => {
                    conversation.steering = text;
                    conversation.is_steered = true;
                }
                // Scenarios are about what people say.
                Item::Note { .. } | Item::Files(_) => {}
                Item::HandedBack { text, image } => {
                    conversation.handed_back = text;
                    conversation.picture = image.as_ref().or(conversation.picture);
                }
                Item::Answer { calls, .. } => {
                    conversation.is_steered = false;
                    conversation.said.clear();
                    asked = calls;
                    // An answer that only looked again is not a step.
                    if !is_look(calls) {
                        conversation.shown.push(Shown::default());
                    }
                }
                Item::Results(results) => conversation.see(asked, results),
                Item::CutOff { text } => conversation.said.push_str(text),
            }
        }
        conversation
    }

    fn see(&mut self, calls: &[ToolCall], results: &'a [CallResult]) {
        if let Some(shown) = self.shown.last_mut() {
            if is_look(calls) {
                shown.looks.push(results);
            } else {
                shown.results = results;
            }
        }
        let zoomed = |result: &CallResult| {
            calls
                .iter()
                .any(|call| call.id == result.call && call.input["action"] == "zoom")
        };
        let newest = results
            .iter()
            .rev()
            .filter(|result| !zoomed(result))
            .find_map(|result| result.image.as_ref());
        self.picture = newest.or(self.picture);
    }

    /// Returns the current step, counted from 0.
    pub(super) fn step(&self) -> usize {
        self.shown.len() - 1
    }

    /// Returns true if a message arrived after the last step was played. That step is then played again.
    pub(super) fn goes_on_after(&self, n_steps: usize) -> bool {
        self.is_steered && self.step() >= n_steps
    }

    /// Returns the results that each step was shown. The last entry is the current step's.
    pub(super) fn shown(&self) -> &[Shown<'a>] {
        &self.shown
    }

    /// Returns the results that the current step was shown.
    pub(super) fn now(&self) -> &Shown<'a> {
        &self.shown[self.step()]
    }

    /// Returns the number of times that this step has looked again.
    pub(super) fn n_looks(&self) -> usize {
        self.now().looks.len()
    }

    /// Returns the numbers of the current turn and step.
    pub(super) fn place(&self) -> StepPlace {
        (self.n_prompts, self.step())
    }

    /// Returns the rest of a text whose beginning was said before the answer was cut off.
    pub(super) fn rest<'t>(&self, text: &'t str) -> &'t str {
        text.strip_prefix(&*self.said).unwrap_or(text)
    }

    /// Returns the id of a step's call. It is unique in the session because every turn has its own prompt.
    pub(super) fn call_id(&self, index: usize) -> String {
        format!(
            "turn{}-step{}-call{}",
            self.n_prompts,
            self.step() + 1,
            index + 1
        )
    }

    /// Returns the id of a call that only looks again.
    pub(super) fn look_id(&self, index: usize) -> String {
        format!(
            "{LOOK_PREFIX}{}-{}",
            self.n_looks() + 1,
            self.call_id(index)
        )
    }
}

fn is_look(calls: &[ToolCall]) -> bool {
    calls
        .first()
        .is_some_and(|call| call.id.starts_with(LOOK_PREFIX))
}
