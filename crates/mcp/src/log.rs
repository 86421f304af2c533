//! The log of a session for clients: readable entries, in pages with a bound.

use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::{
    event::{Event, EventBody, ToolResult},
    id::{SessionId, TurnId},
    message::Role,
};
use rmcp::model::ContentBlock;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{call::Call, clip::clip, refusal::CallError};

/// The number of events that are read at once.
const PAGE: u32 = 200;
/// The longest text of one entry, and of all entries of a page.
const LONGEST_ENTRY_BYTES: usize = 2_000;
const LONGEST_PAGE_BYTES: usize = 16_000;
/// The most pictures of a page, and their most bytes.
const MOST_IMAGES: usize = 4;
const MOST_IMAGE_BYTES: usize = 4 * 1024 * 1024;

/// A page of the log to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogQuery {
    pub(crate) after: u64,
    pub(crate) limit: usize,
    pub(crate) with_images: bool,
}

/// A page of a session's log.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogPage {
    session_id: String,
    entries: Vec<LogEntry>,
    /// The `after` of the next page. Absent at the end of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after: Option<u64>,
}

/// One thing that happened.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LogEntry {
    /// The number of the event in the session's log.
    seq: u64,
    /// The time as RFC 3339.
    at: String,
    /// `user`, `agent`, `says`, `step`, `result`, `screenshot`, `question`, `answer`, `file`, `notice`, `error` or
    /// `complete`.
    kind: &'static str,
    text: String,
    /// The resource with the picture or the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    /// The number of the picture among those of this answer, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<usize>,
    #[serde(skip)]
    block: Option<(TurnId, u32)>,
}

/// A page that is being filled.
struct Filling {
    entries: Vec<LogEntry>,
    n_text_bytes: usize,
    images: Vec<ContentBlock>,
    n_image_bytes: usize,
}

/// Reads a page of a session's log, with its pictures if they are wanted.
pub(crate) async fn read(
    call: &Call<'_>,
    id: SessionId,
    query: LogQuery,
) -> Result<(LogPage, Vec<ContentBlock>), CallError> {
    let mut page = Filling {
        entries: Vec::new(),
        n_text_bytes: 0,
        images: Vec::new(),
        n_image_bytes: 0,
    };
    let mut after = query.after;
    let has_more = 'pages: loop {
        let sessions = call.app.sessions();
        let events = sessions.events(call.viewer(), id, after, PAGE).await?;
        if events.is_empty() {
            break false;
        }
        for logged in events {
            // An event of a newer server is left out.
            let entry = logged.read().ok().and_then(|event| entry(id, event));
            if let Some(entry) = entry
                && (page.is_full(&entry, query.limit)
                    || !page.add(call, id, entry, query.with_images).await?)
            {
                break 'pages true;
            }
            after = logged.seq;
        }
    };
    let log = LogPage {
        session_id: id.to_string(),
        entries: page.entries,
        next_after: has_more.then_some(after),
    };
    Ok((log, page.images))
}

impl Filling {
    /// Returns true if another entry has no room.
    fn is_full(&self, next: &LogEntry, limit: usize) -> bool {
        let is_new = !self.continues(next);
        let has_too_many = is_new && self.entries.len() >= limit;
        let is_too_long = self.n_text_bytes + next.text.len() > LONGEST_PAGE_BYTES;
        has_too_many || (is_too_long && !self.entries.is_empty())
    }

    /// Returns true if this is the next piece of the last text.
    fn continues(&self, next: &LogEntry) -> bool {
        let last = self.entries.last();
        next.block.is_some() && last.is_some_and(|last| last.block == next.block)
    }

    /// Adds an entry. Returns false if its picture has no room.
    async fn add(
        &mut self,
        call: &Call<'_>,
        id: SessionId,
        mut next: LogEntry,
        with_images: bool,
    ) -> Result<bool, CallError> {
        if self.continues(&next)
            && let Some(last) = self.entries.last_mut()
        {
            self.n_text_bytes -= last.text.len();
            last.text = clip(&format!("{}{}", last.text, next.text), LONGEST_ENTRY_BYTES);
            self.n_text_bytes += last.text.len();
            return Ok(true);
        }
        if with_images && next.kind == "screenshot" {
            let picture = picture(call, id, next.seq).await?;
            let n_bytes = self.n_image_bytes + picture.bytes.len();
            let has_room = self.images.len() < MOST_IMAGES && n_bytes <= MOST_IMAGE_BYTES;
            if !has_room && !self.images.is_empty() {
                return Ok(false);
            }
            let bytes = STANDARD.encode(&picture.bytes);
            self.n_image_bytes = n_bytes;
            self.images
                .push(ContentBlock::image(bytes, picture.format.media_type()));
            next.image = Some(self.images.len());
        }
        self.n_text_bytes += next.text.len();
        self.entries.push(next);
        Ok(true)
    }
}

/// Returns the picture that the event with this number names.
pub(crate) async fn picture(
    call: &Call<'_>,
    id: SessionId,
    seq: u64,
) -> Result<deskhand_app::Picture, CallError> {
    let sessions = call.app.sessions();
    let after = seq.saturating_sub(1);
    let events = sessions.events(call.viewer(), id, after, 1).await?;
    let event = events.first().and_then(|event| event.read().ok());
    let Some(EventBody::Screenshot(taken)) = event.map(|event| event.body) else {
        return Err(CallError::bad_id(&format!("{id}/screenshots/{seq}")));
    };
    Ok(call.app.computers().blob(call.viewer(), taken.blob).await?)
}

/// Returns the entry for an event, if clients see it.
fn entry(id: SessionId, event: Event) -> Option<LogEntry> {
    let seq = event.seq;
    let part = match event.body.kind() {
        "screenshot" => Some("screenshots"),
        "artifact" => Some("artifacts"),
        _ => None,
    };
    let block = if let EventBody::Text(said) = &event.body {
        Some((said.turn, said.block))
    } else {
        None
    };
    let (kind, text) = told(event.body)?;
    Some(LogEntry {
        seq,
        at: event.at.to_string(),
        kind,
        text: clip(&text, LONGEST_ENTRY_BYTES),
        uri: part.map(|part| format!("session://{id}/{part}/{seq}")),
        image: None,
        block,
    })
}

/// Returns the kind and the text of an entry.
fn told(body: EventBody) -> Option<(&'static str, String)> {
    Some(match body {
        EventBody::Message(said) => match said.role {
            Role::User => ("user", said.content),
            Role::Assistant => ("agent", said.content),
        },
        EventBody::Text(said) => ("says", said.text),
        EventBody::ToolUse(used) => ("step", used.description.unwrap_or(used.tool)),
        EventBody::ToolResult(ToolResult { partial: true, .. }) => return None,
        EventBody::ToolResult(result) if result.is_error => ("error", result.text),
        EventBody::ToolResult(result) => ("result", result.text),
        EventBody::Screenshot(taken) => {
            ("screenshot", format!("{} × {}", taken.width, taken.height))
        }
        EventBody::Decision(raised) => ("question", raised.ask.prompt),
        EventBody::Answer(settled) => {
            let answer = serde_json::to_string(&settled.answer).unwrap_or_default();
            ("answer", format!("{}: {answer}", settled.state.name()))
        }
        EventBody::Artifact(artifact) => (
            "file",
            format!("{} ({} bytes)", artifact.name, artifact.size),
        ),
        EventBody::Opened(opened) => match opened.problem {
            Some(problem) => (
                "error",
                format!("Could not open {}: {problem}", opened.url.as_str()),
            ),
            None => ("step", format!("Opened {}", opened.url.as_str())),
        },
        EventBody::Notice(notice) => ("notice", notice.message),
        EventBody::Summary(summary) => ("summary", summary.text?),
        EventBody::Error(failure) => ("error", failure.message),
        EventBody::Complete(complete) => {
            let outcome = serde_json::to_string(&complete.outcome).unwrap_or_default();
            let outcome = outcome.trim_matches('"');
            (
                "complete",
                format!("{outcome} after {} steps", complete.n_steps),
            )
        }
        EventBody::Status(_)
        | EventBody::Queue(_)
        | EventBody::Lease(_)
        | EventBody::Thinking(_)
        | EventBody::Cost(_)
        | EventBody::Retry(_)
        | EventBody::Gateway(_)
        | EventBody::Network(_)
        | EventBody::Model(_)
        | EventBody::Changed(_)
        | EventBody::HandedOver(_)
        | EventBody::Plan(_)
        | EventBody::Placed(_)
        | EventBody::Told(_) => return None,
    })
}
