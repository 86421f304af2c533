//! Going on with a turn that was held up, by a server that was stopped or killed.
//!
//! An answer that is whole in the log is not asked for again. Of the calls without a result the
//! first may or may not have been carried out, and the model is told so; the others were not.

use deskhand_core::{
    event::{EventBody, ToolResult},
    id::TurnId,
};

use crate::{
    batch::HALTED,
    context::Blocks,
    work::{Cut, Work},
};

const FATE_UNKNOWN: &str = "The server was stopped during this action, so it is not known whether \
                            it was done. The computer was started again: files are kept, open \
                            programs are gone.";

/// What the log says of a turn.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// How many whole answers the model has given.
    pub(crate) n_steps: u32,
    /// How many blocks of thinking and text there are.
    pub(crate) n_blocks: u32,
    /// Calls without a result.
    open: Vec<String>,
    /// What was said since the last whole answer.
    text: Blocks,
    has_calls: bool,
    /// The words of the last whole answer, if it only spoke and nothing came after it.
    last_words: Option<String>,
}

impl Progress {
    pub(crate) fn read(log: &[EventBody], turn: TurnId) -> Self {
        let mut progress = Self::default();
        for body in log {
            progress.add(body, turn);
        }
        progress
    }

    fn add(&mut self, body: &EventBody, turn: TurnId) {
        match body {
            EventBody::Thinking(said) | EventBody::Text(said) if said.turn == turn => {
                self.n_blocks = self.n_blocks.max(said.block + 1);
                self.last_words = None;
                if matches!(body, EventBody::Text(_)) {
                    self.text.push(said);
                }
            }
            EventBody::ToolUse(tool_use) if tool_use.turn == Some(turn) => {
                self.open.push(tool_use.call.clone());
                self.has_calls = true;
            }
            EventBody::ToolResult(result) if result.turn == Some(turn) && !result.partial => {
                if let Some(index) = self.open.iter().position(|call| *call == result.call) {
                    self.open.remove(index);
                }
            }
            EventBody::Cost(cost) if cost.turn == turn => {
                self.n_steps = self.n_steps.max(cost.step);
                let words = std::mem::take(&mut self.text).whole();
                let only_spoke = !std::mem::take(&mut self.has_calls);
                self.last_words =
                    Some(words).filter(|words| only_spoke && !words.trim().is_empty());
            }
            // Somebody steers it, so that was not the end.
            EventBody::Message(_) => self.last_words = None,
            // An answer that broke off is asked for again.
            EventBody::Status(status) if status.turn == Some(turn) => {
                self.text = Blocks::default();
            }
            EventBody::Thinking(_)
            | EventBody::Text(_)
            | EventBody::ToolUse(_)
            | EventBody::ToolResult(_)
            | EventBody::Cost(_)
            | EventBody::Status(_)
            | EventBody::Queue(_)
            | EventBody::Lease(_)
            | EventBody::Screenshot(_)
            | EventBody::Error(_)
            | EventBody::Complete(_) => {}
        }
    }
}

impl Work {
    /// Closes what was left open. Answers the turn's last words if they have been said already.
    pub(crate) async fn pick_up(&mut self, progress: Progress) -> Result<Option<String>, Cut> {
        let turn = Some(self.turn);
        let texts = std::iter::once(FATE_UNKNOWN).chain(std::iter::repeat(HALTED));
        let results = progress.open.into_iter().zip(texts).map(|(call, text)| {
            EventBody::ToolResult(ToolResult {
                turn,
                call,
                text: text.to_owned(),
                is_error: true,
                duration_ms: 0,
                partial: false,
            })
        });
        self.journal.append(results.collect()).await?;
        Ok(progress.last_words)
    }
}
