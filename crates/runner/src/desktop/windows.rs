//! Finds the windows of browsers on the screen.

use deskhand_core::action::Region;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt, MapState};

use super::{seat::Seat, x::XError};

/// The most windows that the window manager may put around another one.
const MAX_DEPTH: usize = 3;

/// A browser's window on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) region: Region,
    /// The process that it claims to belong to.
    pub(super) pid: Option<u32>,
}

impl Seat {
    /// Returns all windows of browsers that are mapped, even if others cover them.
    pub(super) fn browser_windows(&self) -> Result<Vec<Window>, XError> {
        let mut found = Vec::new();
        self.find_browsers(self.root, MAX_DEPTH, &mut found)?;
        Ok(found)
    }

    fn find_browsers(
        &self,
        parent: u32,
        depth: usize,
        found: &mut Vec<Window>,
    ) -> Result<(), XError> {
        for window in self.connection.query_tree(parent)?.reply()?.children {
            match self.look_at(window) {
                Ok(Looked::Browser(browser)) => found.push(browser),
                Ok(Looked::Unknown) if depth > 0 => self.find_browsers(window, depth - 1, found)?,
                Ok(Looked::Unknown | Looked::Other) => {}
                // The window was closed meanwhile.
                Err(XError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn look_at(&self, window: u32) -> Result<Looked, XError> {
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
        let pid = self.pid_of(window)?;
        let (attributes, class) = (attributes.reply()?, class.reply()?);
        let (geometry, corner) = (geometry.reply()?, corner.reply()?);
        if attributes.map_state != MapState::VIEWABLE {
            return Ok(Looked::Other);
        }
        if class.value.is_empty() {
            return Ok(Looked::Unknown);
        }
        let class = String::from_utf8_lossy(&class.value).to_lowercase();
        if !class.contains("chrom") {
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

    /// Returns the process that a window claims to belong to.
    pub(super) fn pid_of(&self, window: u32) -> Result<Option<u32>, XError> {
        let pid = self.atoms._NET_WM_PID;
        let property =
            self.connection
                .get_property(false, window, pid, AtomEnum::CARDINAL, 0, 1)?;
        let property = property.reply()?;
        Ok(property.value32().and_then(|mut values| values.next()))
    }
}

/// The kind of a window.
enum Looked {
    Browser(Window),
    /// A window without a class, such as the window manager's own windows around others.
    Unknown,
    Other,
}
