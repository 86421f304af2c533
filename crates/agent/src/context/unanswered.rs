//! The messages of people, and notes about earlier turns, since the model last spoke.

use deskhand_core::model::{Item, ShownFile};

#[derive(Debug, Default)]
pub(super) struct Unanswered {
    texts: Vec<String>,
    /// The files that came with the messages.
    files: Vec<ShownFile>,
    /// Notes about changes. They follow the messages.
    told: Vec<String>,
    /// True if they came in the middle of a turn.
    is_steering: bool,
}

impl Unanswered {
    /// Adds a person's message. The newest message decides if all of them steer a turn.
    pub(super) fn message(&mut self, text: String, is_at_work: bool) {
        self.is_steering = is_at_work;
        self.texts.push(text);
    }

    /// Adds the files of a message.
    pub(super) fn files(&mut self, files: Vec<ShownFile>) {
        self.files.extend(files);
    }

    /// Adds a note about the previous turn. It precedes the next prompt.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.texts.push(text.into());
    }

    /// Adds a note in the middle of a turn, to which the model is to react.
    pub(super) fn steering_note(&mut self, text: impl Into<String>) {
        self.is_steering = true;
        self.texts.push(text.into());
    }

    /// Adds a note about a change, which is not a part of what people say.
    pub(super) fn told(&mut self, text: &str) {
        self.told.push(text.to_owned());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    pub(super) fn is_steering(&self) -> bool {
        self.is_steering
    }

    /// Takes everything: the messages, their files, and the notes about changes, each as one item of the conversation.
    pub(super) fn take(&mut self) -> Vec<Item> {
        let Self {
            texts,
            files,
            told,
            is_steering,
        } = std::mem::take(self);
        let mut items = Vec::new();
        if !texts.is_empty() {
            // A message may consist of files alone.
            let words: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
            let text = words.join("\n\n");
            items.push(if is_steering {
                Item::Steering { text }
            } else {
                Item::Prompt { text }
            });
        }
        if !files.is_empty() {
            items.push(Item::Files(files));
        }
        if !told.is_empty() {
            let text = told.join("\n\n");
            items.push(Item::Note { text });
        }
        items
    }
}
