//! Reads pages: as lines of text in which elements have references, or as plain text.

use deskhand_core::{
    browser::{
        BrowserFinding, ElementRef, LONGEST_PAGE_TEXT, MOST_MATCHES, TreeFilter, page_elements,
    },
    plain::is_deceptive,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    BrowseError, DevToolsError,
    tab::{FrameHandle, Tab},
};

/// The most characters of a line that a search returns as a whole.
const LONGEST_MATCH: usize = 400;

/// The tree of one frame.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TreeReply {
    lines: Vec<TreeLine>,
    is_cut: bool,
}

/// A line: its depth, its text, and the reference of the frame that it stands for, or zero.
#[derive(Deserialize)]
struct TreeLine(usize, String, u32);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextReply {
    text: String,
    is_cut: bool,
}

/// The lines of a page that have been read so far.
#[derive(Default)]
struct PageReading {
    lines: Vec<String>,
    n_characters: usize,
    is_cut: bool,
    /// The number of levels that are read.
    most_levels: Option<usize>,
    /// True if there is more below the last level.
    is_deeper: bool,
}

impl PageReading {
    fn put(&mut self, depth: usize, text: &str) {
        if self.most_levels.is_some_and(|most| depth >= most) {
            self.is_deeper = true;
            return;
        }
        let length = depth + text.chars().count() + 1;
        if self.is_cut || self.n_characters + length > LONGEST_PAGE_TEXT {
            self.is_cut = true;
            return;
        }
        self.n_characters += length;
        self.lines.push(format!("{}{text}", " ".repeat(depth)));
    }

    fn into_finding(self) -> BrowserFinding {
        BrowserFinding::Text {
            text: plain(&self.lines.join("\n")),
            is_cut: self.is_cut || self.is_deeper,
        }
    }
}

impl Tab {
    /// Reads the page, or a part of it, as a tree.
    pub(super) async fn read_page(
        &self,
        filter: TreeFilter,
        at: Option<ElementRef>,
        depth: Option<u16>,
    ) -> Result<BrowserFinding, BrowseError> {
        Ok(self.read(filter, at, depth).await?.into_finding())
    }

    /// Returns the lines of the tree that contain a text.
    pub(super) async fn find(&self, text: &str) -> Result<BrowserFinding, BrowseError> {
        let wanted = text.to_lowercase();
        let reading = self.read(TreeFilter::All, None, None).await?;
        let lines = reading.lines.iter().map(|line| line.trim_start());
        let found: Vec<String> = lines
            .filter(|line| line.to_lowercase().contains(&wanted))
            .map(|line| narrowed(line, &wanted))
            .collect();
        let is_cut = found.len() > MOST_MATCHES || reading.is_cut;
        let found = &found[..found.len().min(MOST_MATCHES)];
        Ok(BrowserFinding::Text {
            text: plain(&found.join("\n")),
            is_cut,
        })
    }

    async fn read(
        &self,
        filter: TreeFilter,
        at: Option<ElementRef>,
        depth: Option<u16>,
    ) -> Result<PageReading, BrowseError> {
        let mut reading = PageReading {
            most_levels: depth.map(usize::from),
            ..PageReading::default()
        };
        let frames = self.frames().await?;
        let (frame, root) = match at {
            Some(element) => (self.frame_of(element).await?, element.element),
            None => (self.main_frame(), 0),
        };
        if let Some(element) = at {
            self.element(&frame, element).await?;
        }
        self.read_frame(&frame, &frames, filter, root, 0, &mut reading)
            .await?;
        Ok(reading)
    }

    async fn read_frame(
        &self,
        frame: &FrameHandle,
        frames: &[FrameHandle],
        filter: TreeFilter,
        root: u32,
        depth: usize,
        reading: &mut PageReading,
    ) -> Result<(), BrowseError> {
        let filter_name = match filter {
            TreeFilter::All => "all",
            TreeFilter::Interactive => "interactive",
        };
        let call = format!(
            "tree({}, deskhandPage.find({root}), {LONGEST_PAGE_TEXT}, {})",
            json!(filter_name),
            frame.number
        );
        let tree: TreeReply = self.script(frame, &call).await?;
        let children = if tree.lines.iter().any(|line| line.2 != 0) {
            self.children(frame, frames).await?
        } else {
            Vec::new()
        };
        for TreeLine(line_depth, text, frame_ref) in &tree.lines {
            let depth = depth + line_depth;
            reading.put(depth, text);
            let child = children.iter().find(|(owner, _)| owner == frame_ref);
            if let Some((_, child)) = child.filter(|_| *frame_ref != 0) {
                // A frame that is gone meanwhile has nothing to read.
                let inner = self.read_frame(child, frames, filter, 0, depth + 1, reading);
                if let Err(error @ (BrowseError::Dialog { .. } | BrowseError::Crashed(_))) =
                    Box::pin(inner).await
                {
                    return Err(error);
                }
            }
        }
        reading.is_cut |= tree.is_cut;
        Ok(())
    }

    /// Returns the frames inside a frame, each with the reference of its element.
    async fn children<'a>(
        &self,
        frame: &FrameHandle,
        frames: &'a [FrameHandle],
    ) -> Result<Vec<(u32, &'a FrameHandle)>, BrowseError> {
        let mut children = Vec::new();
        for child in frames {
            if child.parent.as_ref() != Some(&frame.id) {
                continue;
            }
            match self.owner_ref(frame, &child.id).await {
                Ok(owner) => children.push((owner, child)),
                // The frame was removed meanwhile.
                Err(BrowseError::DevTools(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(children)
    }

    async fn owner_ref(&self, frame: &FrameHandle, child: &str) -> Result<u32, BrowseError> {
        let (target, world) = (&frame.target, frame.target.world(&frame.id));
        let world = self.unless_interrupted(world).await?;
        let owner = target.call::<Value>("DOM.getFrameOwner", json!({"frameId": child}));
        let owner = self.unless_interrupted(owner).await?;
        let params = json!({"backendNodeId": owner["backendNodeId"], "executionContextId": world});
        let resolved = target.call::<Value>("DOM.resolveNode", params);
        let resolved = self.unless_interrupted(resolved).await?;
        let id = resolved["object"]["objectId"].as_str();
        let id = id.ok_or(DevToolsError::Strange("DOM.resolveNode"))?;
        let owner = super::frames::Thing(id.to_owned());
        let number = "function () { return deskhandPage.refOf(this); }";
        self.unless_interrupted(target.call_on(&owner, number, &[]))
            .await
    }

    /// Returns the text of the page and of its frames.
    pub(super) async fn read_text(&self) -> Result<BrowserFinding, BrowseError> {
        let mut text = String::new();
        let mut is_cut = false;
        for frame in self.frames().await? {
            let left = LONGEST_PAGE_TEXT.saturating_sub(text.chars().count());
            let call = format!("pageText({left})");
            let reply = self.script::<TextReply>(&frame, &call);
            let reply = match reply.await {
                Ok(reply) => reply,
                // A frame inside may be gone meanwhile.
                Err(BrowseError::DevTools(_)) if frame.number != 0 => continue,
                Err(error) => return Err(error),
            };
            if !text.is_empty() && !reply.text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&reply.text);
            is_cut |= reply.is_cut;
        }
        let text = plain(&text);
        Ok(BrowserFinding::Text { text, is_cut })
    }
}

/// Returns the part of a line that contains a text: all of a short one, and of a long one the elements and texts in it.
fn narrowed(line: &str, wanted: &str) -> String {
    if line.chars().count() <= LONGEST_MATCH {
        return line.to_owned();
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for element in page_elements(line) {
        parts.extend([
            &line[start..element.place.start],
            &line[element.place.clone()],
        ]);
        start = element.place.end;
    }
    parts.push(&line[start..]);
    parts.retain(|part| part.to_lowercase().contains(wanted));
    if parts.is_empty() {
        // The text begins in one part and ends in another.
        return line.to_owned();
    }
    parts.join(" … ")
}

/// Leaves out characters that make a text look like another one.
fn plain(text: &str) -> String {
    text.chars().filter(|one| !is_deceptive(*one)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_narrowed_to_its_matches() {
        let short = "1.50 € [button Buy tea e8]";
        assert_eq!(narrowed(short, "buy"), short);
        let line = format!("{} [Buy tea e1] or [Buy milk e2] now", "word ".repeat(100));
        assert_eq!(narrowed(&line, "tea"), "[Buy tea e1]");
        assert_eq!(narrowed(&line, "buy"), "[Buy tea e1] … [Buy milk e2]");
        assert_eq!(narrowed(&line, "milk e2] now"), line);
    }

    #[test]
    fn a_reading_is_bounded() {
        let mut reading = PageReading::default();
        for _ in 0..LONGEST_PAGE_TEXT {
            reading.put(1, "line");
        }
        assert!(reading.is_cut && reading.n_characters <= LONGEST_PAGE_TEXT);
    }
}
