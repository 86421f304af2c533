//! Builds the conversation for a model from the log.
//!
//! The log is the only source, so a turn after a crash sees the same as a turn without one. Answers are separated by
//! this rule: the thinking, text and tool uses of one answer come before its first result, so everything that the
//! model says or does after a result is a new answer. Partial results, actions by hand, and the state of the session
//! and its sandbox are not part of the conversation. A person's control of the mouse and keyboard is: the model is
//! told at its first look after that.
//!
//! A summary in the log stands for everything before it, except the words of people and the plan, which stay as they
//! are ([ADR 67](../../../docs/adr/0067-a-summary-is-an-event.md)).

mod answer;
mod blocks;
mod conversation;
mod covered;
mod files;
mod pages;
mod shortened;
mod unanswered;

use std::collections::HashMap;

use deskhand_core::{
    action::{Point, ScreenSize},
    blob::BlobName,
    browser::ShownPage,
    event::{EventBody, Screenshot},
    id::TurnId,
    lease::LeaseChange,
    model::{Image, Item, NotShown, ShownFile},
};

use serde::Deserialize;

use self::conversation::Conversation;
pub(crate) use self::{
    blocks::Blocks,
    covered::n_covered,
    files::shown_attachments,
    shortened::{shorten_all, shorten_results},
};
use crate::turn::Originals;

/// Returns the part of the log that no summary covers.
pub(crate) fn uncovered(log: &[EventBody]) -> &[EventBody] {
    &log[n_covered(log)..]
}

/// Counts the pictures that the agent took.
pub(crate) fn n_pictures(log: &[EventBody]) -> usize {
    log.iter().filter_map(picture).count()
}

/// Returns the names of the newest `kept` pictures.
pub(crate) fn newest_pictures(log: &[EventBody], kept: usize) -> impl Iterator<Item = &BlobName> {
    let newest = log.iter().rev().filter_map(picture).take(kept);
    newest.map(|screenshot| &screenshot.blob)
}

/// The model's view of the screen.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    /// The number of the oldest pictures that are no longer shown, without those that a summary covers.
    pub n_old: usize,
    /// The pictures that are available.
    pub images: &'a HashMap<BlobName, Image>,
    /// The size of a picture of the whole screen. A picture taken for another model may be too large for this one,
    /// and its points would differ.
    pub shown: ScreenSize,
    /// Returns the size in which the model is shown a picture of this size.
    pub fitted: &'a dyn Fn(ScreenSize) -> ScreenSize,
    /// Translates a point on the screen into the model's own pixels.
    pub place: &'a dyn Fn(Point) -> Point,
    /// The attached files that the model is shown, or the reasons why not.
    pub files: &'a ShownFiles,
    /// The most bytes of people's words from before a summary.
    pub most_words_bytes: usize,
}

/// The subject of a picture, which decides about its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PictureOf {
    Screen,
    /// It may have any size that is not larger than that of the screen.
    PartOfScreen,
    /// It may have any size that the model takes.
    Page,
}

/// Returns the sizes of the page that the model was last shown.
pub(crate) fn shown_page(log: &[EventBody]) -> Option<ShownPage> {
    log.iter().rev().find_map(|body| {
        let EventBody::ToolResult(result) = body else {
            return None;
        };
        let state = result.turn.and(result.state.as_ref())?;
        // The states of other tools have no page.
        ShownPage::deserialize(state.get("page")?).ok()
    })
}

/// Attached files, prepared for a model, by their blobs.
pub type ShownFiles = HashMap<BlobName, Result<ShownFile, NotShown>>;

impl<'a> Sight<'a> {
    /// Returns the picture, if this model can be shown it.
    fn image(&self, screenshot: &Screenshot, subject: PictureOf) -> Option<&'a Image> {
        let Screenshot { width, height, .. } = *screenshot;
        let size = ScreenSize { width, height };
        let is_its_size = match subject {
            PictureOf::Screen => self.shown == size,
            PictureOf::PartOfScreen => width <= self.shown.width && height <= self.shown.height,
            PictureOf::Page => (self.fitted)(size) == size,
        };
        let image = self.images.get(&screenshot.blob);
        image.filter(|_| is_its_size && self.n_old == 0)
    }
}

/// Builds the conversation, oldest first. It ends with a prompt or with results.
pub fn build(log: &[EventBody], sight: Sight<'_>, originals: &Originals) -> Vec<Item> {
    let (covered, rest) = log.split_at(n_covered(log));
    let mut conversation = Conversation::new(sight, originals);
    conversation.cover(covered);
    for body in rest {
        conversation.add(body);
    }
    conversation.finish()
}

/// Returns true if the turn began, people had the mouse and keyboard, or the conversation was summarized, since the agent
/// last looked for that reason.
pub(crate) fn is_to_look(log: &[EventBody], turn: TurnId) -> bool {
    for body in log.iter().rev() {
        if let EventBody::Lease(lease) = body
            && matches!(lease.change, LeaseChange::Ended { .. })
        {
            return true;
        }
        if matches!(body, EventBody::Summary(summary) if summary.text.is_some())
            || matches!(body, EventBody::Status(status)
                if status.turn == Some(turn) && status.prompt.is_some())
        {
            return true;
        }
        if picture(body).is_some_and(|screenshot| screenshot.call.is_none()) {
            return false;
        }
    }
    false
}

/// Returns the screenshot, if the agent took it.
fn picture(body: &EventBody) -> Option<&Screenshot> {
    let EventBody::Screenshot(screenshot) = body else {
        return None;
    };
    screenshot.turn.is_some().then_some(screenshot)
}
