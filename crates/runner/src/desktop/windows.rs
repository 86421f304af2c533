//! Finds the windows of browsers on the screen.
//!
//! A window belongs to the process that the X server knows behind its connection. Properties such as `WM_CLASS` are
//! only claims, and any program can change those of others.

use std::fs;

use deskhand_core::action::{Point, Region};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt, MapState};

use super::{clients::XClient, seat::Seat, x::XError};

/// The most windows that the window manager may put around another one.
const MAX_DEPTH: usize = 3;
/// Parts of the names of browsers, in lower case.
const BROWSERS: [&str; 8] = [
    "chrom", "firefox", "brave", "edge", "vivaldi", "opera", "epiphany", "webkit",
];

/// A browser's window on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) region: Region,
    /// The process behind it.
    pub(crate) pid: Option<u32>,
}

/// The kind of a window.
enum Looked {
    Browser(Window),
    /// A window without a class, such as the window manager's own windows around others.
    Unknown,
    Other,
}

impl Seat {
    /// Returns all windows of browsers that are mapped, even if others cover them: those of the process `own`, and
    /// those that look like a browser's.
    pub(super) fn browser_windows(&self, own: Option<u32>) -> Result<Vec<Window>, XError> {
        let clients = self.clients()?;
        let mut found = Vec::new();
        self.find_browsers(self.root, MAX_DEPTH, own, &clients, &mut found)?;
        Ok(found)
    }

    /// Returns the place of the window of the process `own` that is on top at a point.
    pub(super) fn window_at(&self, point: Point, own: u32) -> Result<Option<Region>, XError> {
        let (Ok(x), Ok(y)) = (i16::try_from(point.x), i16::try_from(point.y)) else {
            return Ok(None);
        };
        match self.find_window_at(x, y, own) {
            // The window was closed meanwhile.
            Err(XError::Refused(_)) => Ok(None),
            found => found,
        }
    }

    fn find_window_at(&self, x: i16, y: i16, own: u32) -> Result<Option<Region>, XError> {
        let mut window = self.root;
        for _ in 0..=MAX_DEPTH {
            let inside = self
                .connection
                .translate_coordinates(self.root, window, x, y)?;
            window = inside.reply()?.child;
            if window == x11rb::NONE {
                return Ok(None);
            }
            if self.client_pid(window)? == Some(own) {
                return match self.look_at(window, Some(own), Some(own))? {
                    Looked::Browser(found) => Ok(Some(found.region)),
                    Looked::Unknown | Looked::Other => Ok(None),
                };
            }
        }
        Ok(None)
    }

    fn find_browsers(
        &self,
        parent: u32,
        depth: usize,
        own: Option<u32>,
        clients: &[XClient],
        found: &mut Vec<Window>,
    ) -> Result<(), XError> {
        let children = match self
            .connection
            .query_tree(parent)?
            .reply()
            .map_err(XError::from)
        {
            Ok(tree) => tree.children,
            // The window was closed meanwhile.
            Err(XError::Refused(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        for window in children {
            let client = clients.iter().find(|client| client.owns(window));
            let pid = client.and_then(|client| client.pid);
            match self.look_at(window, pid, own) {
                Ok(Looked::Browser(browser)) => found.push(browser),
                Ok(Looked::Unknown) if depth > 0 => {
                    self.find_browsers(window, depth - 1, own, clients, found)?;
                }
                Ok(Looked::Unknown | Looked::Other) => {}
                // The window was closed meanwhile.
                Err(XError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn look_at(&self, window: u32, pid: Option<u32>, own: Option<u32>) -> Result<Looked, XError> {
        let attributes = self.connection.get_window_attributes(window)?;
        let class = self.connection.get_property(
            false,
            window,
            AtomEnum::WM_CLASS,
            AtomEnum::STRING,
            0,
            256,
        )?;
        let geometry = self.connection.get_geometry(window)?;
        let corner = self
            .connection
            .translate_coordinates(window, self.root, 0, 0)?;
        let (attributes, class) = (attributes.reply()?, class.reply()?);
        let (geometry, corner) = (geometry.reply()?, corner.reply()?);
        if attributes.map_state != MapState::VIEWABLE {
            return Ok(Looked::Other);
        }
        let is_own = own.is_some() && pid == own;
        if !is_own && class.value.is_empty() {
            return Ok(Looked::Unknown);
        }
        if !is_own && !names_browser(&class.value) && !pid.is_some_and(runs_browser) {
            return Ok(Looked::Other);
        }
        let (x0, y0) = (i32::from(corner.dst_x), i32::from(corner.dst_y));
        let region = Region {
            x0,
            y0,
            x1: x0 + i32::from(geometry.width),
            y1: y0 + i32::from(geometry.height),
        };
        Ok(Looked::Browser(Window { region, pid }))
    }
}

fn names_browser(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).to_lowercase();
    BROWSERS.iter().any(|browser| name.contains(browser))
}

/// Returns true if the program of a process is called like a browser.
fn runs_browser(pid: u32) -> bool {
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let name = program.file_name().unwrap_or_default();
    names_browser(name.as_encoded_bytes())
}

#[cfg(test)]
#[path = "windows_tests.rs"]
mod tests;
