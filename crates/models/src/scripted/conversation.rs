//! The conversation so far, as a scenario sees it: which step is next and what it was shown.

use deskhand_core::model::{CallResult, Image, Item, ToolCall};

use super::trouble::StepPlace;

/// Marks the calls of an answer that only looked again, so that it is not taken for a step.
const LOOK_PREFIX: &str = "look";

/// What a request says about the scenario's progress.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    /// How many prompts there were; the last one is being worked on.
    pub(super) n_prompts: usize,
    pub(super) prompt: &'a str,
    /// What people said last in the middle of this turn.
    pub(super) steering: &'a str,
    /// What was last told of people who had mouse and keyboard in this turn.
    pub(super) handed_back: &'a str,
    /// Whether nothing was said or done since.
    is_steered: bool,
    /// What it had said of the step to play now when its answer broke off.
    said: String,
    /// What each step of this turn was shown, up to and including the step to play now.
    /// Never empty.
    shown: Vec<Shown<'a>>,
    /// The newest picture of the whole screen in this turn.
    pub(super) picture: Option<&'a Image>,
}

/// What a step was shown.
#[derive(Debug, Default)]
pub(super) struct Shown<'a> {
    /// What came of the calls of the step before.
    pub(super) results: &'a [CallResult],
    /// What came of each later look at the screen.
    pub(super) looks: Vec<&'a [CallResult]>,
}

impl Shown<'_> {
    /// The newest results: of the last look, if there was one.
    pub(super) fn newest(&self) -> &[CallResult] {
        self.looks.last().copied().unwrap_or(self.results)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &CallResult> {
        self.results
            .iter()
            .chain(self.looks.iter().copied().flatten())
    }

    /// All texts of the step before.
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
                Item::HandedBack { text, image } => {
                    conversation.handed_back = text;
                    conversation.picture = image.as_ref().or(conversation.picture);
                }
                Item::Answer { calls, .. } => {
                    conversation.is_steered = false;
                    conversation.said.clear();
                    asked = calls;
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

    /// The step to play now, counted from 0.
    pub(super) fn step(&self) -> usize {
        self.shown.len() - 1
    }

    /// Whether the last step was played and somebody said something then: it is played again.
    pub(super) fn goes_on_after(&self, n_steps: usize) -> bool {
        self.is_steered && self.step() >= n_steps
    }

    /// What each step was shown so far; the last is the one to play now.
    pub(super) fn shown(&self) -> &[Shown<'a>] {
        &self.shown
    }

    /// What the step to play now was shown.
    pub(super) fn now(&self) -> &Shown<'a> {
        &self.shown[self.step()]
    }

    /// How often this step has looked again already.
    pub(super) fn n_looks(&self) -> usize {
        self.now().looks.len()
    }

    /// Which step of which turn is to be played now, by their numbers.
    pub(super) fn place(&self) -> StepPlace {
        (self.n_prompts, self.step())
    }

    /// What is left to say of a text of which a part was said before the answer broke off.
    pub(super) fn rest<'t>(&self, text: &'t str) -> &'t str {
        text.strip_prefix(&*self.said).unwrap_or(text)
    }

    /// The id of a step's call, unique in the session since every turn has its prompt.
    pub(super) fn call_id(&self, index: usize) -> String {
        format!(
            "turn{}-step{}-call{}",
            self.n_prompts,
            self.step() + 1,
            index + 1
        )
    }

    /// The id of a call that only looks again.
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
