//! Operations and their replies. [`super::operation`] lists them.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Conclusion, OperationReply};
use crate::{
    action::{Action, Point, ScreenSize},
    blob::BlobFormat,
    browser::{ElementAt, PointedElement},
    file::FilePath,
    secret::Secret,
    shell::{ShellEnding, ShellOutput},
    vault::{FieldPlace, Filling},
};

/// Carries out one action on the desktop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Act {
    pub action: Action,
    /// Waits for the screen to settle and sends a picture with the reply. `Screenshot` and `Zoom` always send one.
    pub look: bool,
    /// The size of a picture of the whole screen. If absent, it is the size of the screen. A `Zoom` is as large as
    /// fits into it.
    pub shown: Option<ScreenSize>,
}

/// The facts about an action that was carried out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Acted {
    /// The point where a drag began.
    pub dragged_from: Option<Point>,
    /// The pointer's position at the end of an action that uses the pointer.
    pub pointer: Option<Point>,
    pub frame: Option<Frame>,
}

impl OperationReply for Acted {
    fn for_each_text(&mut self, _visit: &mut dyn FnMut(&mut String)) {}

    fn attachment(&mut self) -> Option<&mut Bytes> {
        self.frame.as_mut().map(|frame| &mut frame.bytes)
    }
}

/// Takes a picture of the screen as it is now, without waiting for it to settle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Look {
    pub format: BlobFormat,
    /// The size of the picture. If absent, it is the size of the screen.
    pub shown: Option<ScreenSize>,
}

/// A picture of the screen, or of a part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    #[serde(skip)]
    pub bytes: Bytes,
    pub format: BlobFormat,
    /// The size of the picture, which need not be the size of the screen.
    pub size: ScreenSize,
    /// The pointer's position on the screen.
    pub pointer: Point,
}

impl OperationReply for Frame {
    fn for_each_text(&mut self, _visit: &mut dyn FnMut(&mut String)) {}

    fn attachment(&mut self) -> Option<&mut Bytes> {
        Some(&mut self.bytes)
    }
}

impl OperationReply for ShellOutput {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        visit(&mut self.output);
        visit(&mut self.cwd);
    }

    /// Counts a command that ran to its end as done, whatever its exit code.
    fn conclusion(&self) -> Conclusion {
        match self.ending {
            ShellEnding::TimedOut { .. } | ShellEnding::TimedOutWithShell { .. } => {
                Conclusion::TimedOut
            }
            ShellEnding::Interrupted => Conclusion::Cancelled,
            ShellEnding::Exited { .. }
            | ShellEnding::ShellEnded { .. }
            | ShellEnding::Restarted => Conclusion::Done,
        }
    }
}

/// The editor's answer: the edited lines, or the requested file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edited {
    pub text: String,
}

impl OperationReply for Edited {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        visit(&mut self.text);
    }
}

/// Puts a file into the home folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutFile {
    /// The folder inside the home folder, created if it does not exist.
    pub folder: String,
    /// A plain name, without slashes.
    pub name: String,
    #[serde(skip)]
    pub bytes: Bytes,
}

/// The reply once the file is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePut {
    /// The absolute path in the sandbox.
    pub path: String,
}

impl OperationReply for FilePut {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        visit(&mut self.path);
    }
}

/// Takes a copy of a regular file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeFile {
    pub path: FilePath,
    /// The size of the largest file that is taken.
    pub most_bytes: u64,
}

/// The copy of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTaken {
    #[serde(skip)]
    pub bytes: Bytes,
}

impl OperationReply for FileTaken {
    fn for_each_text(&mut self, _visit: &mut dyn FnMut(&mut String)) {}

    fn attachment(&mut self) -> Option<&mut Bytes> {
        Some(&mut self.bytes)
    }
}

/// Finds the field that has the focus in the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindField;

impl OperationReply for FieldPlace {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        visit(&mut self.origin);
        visit(&mut self.title);
    }
}

/// Finds the element that a click or a key would be for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindElement {
    pub at: ElementAt,
}

/// The element, if there is one and the page has answered in time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementFound {
    pub element: Option<PointedElement>,
}

impl OperationReply for ElementFound {
    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        if let Some(element) = &mut self.element {
            visit(&mut element.origin);
            visit(&mut element.title);
            visit(&mut element.role);
            visit(&mut element.name);
            visit(&mut element.surroundings);
        }
    }
}

/// Types a value into the focused field if it is still the one that was found, and covers the value in pictures from
/// then on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeSecret {
    pub filling: Filling,
}

/// The reply once the secret is in the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretTyped;

impl OperationReply for SecretTyped {
    fn for_each_text(&mut self, _visit: &mut dyn FnMut(&mut String)) {}
}

/// Covers these values in all pictures from now on: they may be on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverSecrets {
    pub values: Vec<Secret>,
}

/// The reply once pictures are taken with these values covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretsCovered;

impl OperationReply for SecretsCovered {
    fn for_each_text(&mut self, _visit: &mut dyn FnMut(&mut String)) {}
}
