//! Reads the log event by event and builds the conversation.

use deskhand_core::{
    attachment::Attachment,
    event::{
        Complete, Cost, EventBody, Failure, FilesPlaced, MessageSaid, Outcome, Screenshot, Status,
    },
    id::TurnId,
    lease::LeaseChanged,
    message::Role,
    model::{Image, Item},
};

use super::{
    PictureOf, Sight, answer::Answer, covered, files, pages, shortened, unanswered::Unanswered,
};
use crate::{gauge, listen::REFUSED, turn::Originals};

const STOPPED_NOTE: &str = "[The previous turn was stopped by a person.]";
const ENOUGH_NOTE: &str = "[The previous turn reached a limit, and a person chose to end it.]";
const LOOK_NOTE: &str = "[The screen as it is now:]";
const INTERRUPTED_NOTE: &str = "[The previous turn was interrupted by the next message.]";

/// The conversation up to the current event: finished items, then the messages of people since, then the answer that
/// is being assembled.
pub(super) struct Conversation<'a> {
    items: Vec<Item>,
    unanswered: Unanswered,
    answer: Answer,
    /// The people who had the mouse and keyboard since the model was last told. The model is not called while a
    /// person has them.
    drivers: Vec<String>,
    /// The note about the page that was just opened. A picture of it may follow.
    opened: Option<String>,
    turn: Option<TurnId>,
    /// True if the model has spoken in this turn, so that messages steer it.
    is_at_work: bool,
    /// All files that came with messages so far.
    attached: Vec<Attachment>,
    /// The model's view of the pictures that follow.
    sight: Sight<'a>,
    originals: &'a Originals,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(sight: Sight<'a>, originals: &'a Originals) -> Self {
        Self {
            items: Vec::new(),
            unanswered: Unanswered::default(),
            answer: Answer::default(),
            drivers: Vec::new(),
            opened: None,
            turn: None,
            is_at_work: false,
            attached: Vec::new(),
            sight,
            originals,
        }
    }

    /// Begins with the part of the log that a summary covers.
    pub(super) fn cover(&mut self, log: &[EventBody]) {
        let Some(EventBody::Summary(summary)) = log.last() else {
            return;
        };
        for body in log {
            if let EventBody::Message(message) = body {
                self.attached.extend_from_slice(&message.attachments);
            }
            if let EventBody::Status(Status {
                turn: Some(turn), ..
            }) = body
            {
                self.turn = Some(*turn);
            }
        }
        self.is_at_work = self.turn == Some(summary.turn);
        let text = covered::retold(log, &self.sight);
        self.items.push(Item::Prompt { text });
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a new kind of event is not part of the conversation unless it is listed here"
    )]
    pub(super) fn add(&mut self, body: &EventBody) {
        if !matches!(body, EventBody::Screenshot(_)) {
            self.opened_unseen();
        }
        match body {
            EventBody::Message(message) if message.role == Role::User => self.message(message),
            EventBody::Placed(placed) => self.placed(placed),
            EventBody::Opened(opened) => self.opened = Some(pages::note(opened)),
            EventBody::Thinking(said) => {
                self.speak();
                self.answer.think(said);
            }
            EventBody::Text(said) => {
                self.speak();
                self.answer.say(said);
            }
            EventBody::ToolUse(tool_use) if tool_use.turn.is_some() => {
                if self.answer.has_results() {
                    self.end_answer();
                }
                self.is_at_work = true;
                self.answer.call(tool_use);
            }
            EventBody::ToolResult(result) if result.turn.is_some() && !result.partial => {
                self.answer.result(result, self.sight.place);
            }
            EventBody::Screenshot(screenshot) if screenshot.turn.is_some() => {
                self.screenshot(screenshot);
            }
            EventBody::Cost(cost) if !cost.broken_off && !cost.summary => self.answered(cost),
            EventBody::Retry(retry) => {
                if retry.refused {
                    self.answer.forget();
                }
                self.cut_off();
            }
            EventBody::Notice(notice) => {
                if let Some(note) = gauge::note(notice) {
                    self.note(note);
                }
            }
            EventBody::Summary(_) => {
                self.end_answer();
                shortened::shorten_results(&mut self.items);
            }
            EventBody::Told(told) => {
                self.end_answer();
                self.unanswered.told(&told.text);
            }
            EventBody::Lease(LeaseChanged { name, .. }) if !self.drivers.contains(name) => {
                self.drivers.push(name.clone());
            }
            EventBody::Status(status) => self.status(status),
            EventBody::Error(failure) => self.failed(failure),
            EventBody::Complete(complete) => self.completed(complete),
            // The agent's message repeats its text, and the results contain what people decided. Actions by hand and
            // model calls of programs are not the agent's. Settings are in the system prompt, and their changes are told.
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> Vec<Item> {
        self.opened_unseen();
        self.end_answer();
        self.end_prompt();
        self.handed_back(None);
        self.items
    }

    /// Adds a person's message with its attachments.
    fn message(&mut self, message: &MessageSaid) {
        self.end_answer();
        self.unanswered
            .message(message.content.clone(), self.is_at_work);
        let shown = files::shown(&message.attachments, self.sight.files);
        self.unanswered.files(shown);
        self.attached.extend_from_slice(&message.attachments);
    }

    /// Adds a note about the paths of a message's files.
    fn placed(&mut self, placed: &FilesPlaced) {
        self.end_answer();
        let note = files::note(&self.attached, &placed.files, self.sight.files);
        self.unanswered.note(note);
    }

    /// Adds a note for the model.
    fn note(&mut self, text: String) {
        self.end_answer();
        if self.is_at_work {
            self.unanswered.steering_note(text);
        } else {
            self.unanswered.note(text);
        }
    }

    /// Starts a new answer if the current one has calls.
    fn speak(&mut self) {
        if self.answer.has_calls() {
            self.end_answer();
        }
        self.is_at_work = true;
    }

    /// Adds the cost of an answer, which completes it.
    fn answered(&mut self, cost: &Cost) {
        let original = self.originals.get(&(cost.turn, cost.step)).cloned();
        let Some(note) = self.answer.complete(cost, original) else {
            return;
        };
        self.end_answer();
        // If there is an unanswered message, the note belongs to that message.
        if self.unanswered.is_empty() {
            self.unanswered.steering_note(note);
        } else {
            self.unanswered.note(note);
        }
    }

    /// Adds a retry: the model is asked to continue where its answer ended early.
    fn cut_off(&mut self) {
        if let Some(text) = self.answer.take_cut_off() {
            self.end_prompt();
            self.items.push(Item::CutOff { text });
        }
    }

    /// Adds the note about an opened page of which there is no picture.
    fn opened_unseen(&mut self) {
        if let Some(note) = self.opened.take() {
            self.end_answer();
            self.unanswered.note(note);
        }
    }

    /// Shows the model the screen, unless the picture is too old.
    fn show(&mut self, text: String, image: Option<Image>) {
        self.end_answer();
        self.end_prompt();
        self.items.push(Item::HandedBack { text, image });
    }

    /// Adds a picture. It follows its result, or is the agent's look at an opened page, after people had control or after
    /// a summary.
    fn screenshot(&mut self, screenshot: &Screenshot) {
        let sight = self.sight;
        self.sight.n_old = sight.n_old.saturating_sub(1);
        match screenshot.call {
            Some(_) => self.answer.picture(screenshot, &sight),
            None => {
                let image = sight.image(screenshot, PictureOf::Screen).cloned();
                match self.opened.take() {
                    Some(note) => self.show(note, image),
                    None if self.drivers.is_empty() => {
                        if image.is_some() {
                            self.show(LOOK_NOTE.to_owned(), image);
                        }
                    }
                    None => self.handed_back(image),
                }
            }
        }
    }

    fn status(&mut self, status: &Status) {
        match status {
            // The turn before may have broken off without an end in the log.
            Status {
                turn: Some(turn), ..
            } if self.turn != Some(*turn) => {
                self.end_turn();
                self.turn = Some(*turn);
            }
            // The turn is resumed. An answer that broke off is dropped, and the model answers again.
            Status {
                turn: Some(_),
                prompt: None,
                ..
            } if !self.answer.has_calls() => self.answer.forget(),
            Status { .. } => {}
        }
    }

    fn failed(&mut self, failure: &Failure) {
        if failure.turn.is_none() {
            return;
        }
        // The model does not see again what it refused to continue.
        if failure.code == REFUSED {
            self.answer.forget();
        }
        self.end_turn();
        self.unanswered.note(format!(
            "[The previous turn ended early: {}]",
            failure.message
        ));
    }

    fn completed(&mut self, complete: &Complete) {
        self.end_turn();
        match complete.outcome {
            Outcome::Done => {}
            Outcome::Stopped => self.unanswered.note(STOPPED_NOTE),
            Outcome::Interrupted => self.unanswered.note(INTERRUPTED_NOTE),
            Outcome::Enough => self.unanswered.note(ENOUGH_NOTE),
        }
    }

    /// Tells the model who had the mouse and keyboard, and shows it the screen they left.
    fn handed_back(&mut self, image: Option<Image>) {
        let names = match &std::mem::take(&mut self.drivers)[..] {
            [] => return,
            [name] => name.clone(),
            [names @ .., last] => format!("{} and {last}", names.join(", ")),
        };
        let look = match image {
            Some(_) => "This is how it looks now.",
            None => "Look at it before you go on.",
        };
        let text = format!(
            "[{names} had mouse and keyboard and gave them back. The screen has changed since you last saw it. {look}]"
        );
        self.show(text, image);
    }

    /// Finishes the answer that is being assembled. The messages of people before it come first.
    fn end_answer(&mut self) {
        let items = self.answer.take();
        if !items.is_empty() {
            self.end_prompt();
            self.items.extend(items);
        }
    }

    fn end_prompt(&mut self) {
        self.items.extend(self.unanswered.take());
    }

    /// Finishes the turn. Messages that steered it are not mixed with the next prompt.
    fn end_turn(&mut self) {
        self.end_answer();
        if self.unanswered.is_steering() {
            self.end_prompt();
        }
        self.is_at_work = false;
    }
}
