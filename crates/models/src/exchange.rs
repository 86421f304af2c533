//! A conversation in which each answer is paired with the results of its calls.

use deskhand_core::model::{CallResult, Image, Item, Original, ShownFile, ToolCall};

/// A part of a conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ConversationPart<'a> {
    Said(&'a str),
    Shown {
        text: &'a str,
        image: Option<&'a Image>,
    },
    /// Files that came with the preceding message.
    Files(&'a [ShownFile]),
    Exchange(Exchange<'a>),
    /// Results without a call. They are retold in words.
    Stray(&'a [CallResult]),
    CutOff(&'a str),
}

/// An answer and the results of its calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange<'a> {
    pub(crate) text: &'a str,
    pub(crate) calls: &'a [ToolCall],
    original: Option<&'a Original>,
    pub(crate) results: &'a [CallResult],
}

impl<'a> Exchange<'a> {
    /// Returns the answer as it was received, if this vendor sent it.
    pub(crate) fn original(&self, vendor: &str) -> Option<&'a serde_json::Value> {
        let original = self.original.filter(|original| original.vendor == vendor)?;
        Some(&original.data)
    }

    /// Returns the result of a call. A call that was abandoned has none.
    pub(crate) fn result(&self, call: &str) -> Option<&'a CallResult> {
        self.results.iter().find(|result| result.call == call)
    }
}

/// Returns the parts of a conversation, in order.
pub(crate) fn parts(items: &[Item]) -> Vec<ConversationPart<'_>> {
    let mut parts = Vec::new();
    let mut items = items.iter().peekable();
    while let Some(item) = items.next() {
        parts.push(match item {
            Item::Prompt { text } | Item::Steering { text } | Item::Note { text } => {
                ConversationPart::Said(text)
            }
            Item::Files(files) => ConversationPart::Files(files),
            Item::HandedBack { text, image } => ConversationPart::Shown {
                text,
                image: image.as_ref(),
            },
            Item::Answer {
                text,
                calls,
                original,
                thinking: _,
            } => {
                let next = items.next_if(|next| matches!(next, Item::Results(_)));
                ConversationPart::Exchange(Exchange {
                    text,
                    calls,
                    original: original.as_ref(),
                    results: match next {
                        Some(Item::Results(results)) => results,
                        _ => &[],
                    },
                })
            }
            Item::Results(results) => ConversationPart::Stray(results),
            Item::CutOff { text } => ConversationPart::CutOff(text),
        });
    }
    parts
}
