//! Films the screen on a connection of its own, so that actions and pictures for the agent do not wait for it.

use deskhand_core::action::{Point, ScreenSize};
use deskhand_pictures::Picture;
use tokio::{sync::watch, time::Instant};
use x11rb::{protocol::xproto::ConnectionExt as _, rust_connection::RustConnection};

use super::{
    Desktop,
    camera::Camera,
    x::{XError, connect, forget_events},
};

/// A camera on the screen, for one stream of video.
#[derive(Debug)]
pub(crate) struct Film {
    connection: RustConnection,
    root: u32,
    camera: Camera,
}

impl Desktop {
    /// Opens a camera on the screen. Returns it with the time at which something was last drawn.
    pub(crate) async fn film(&self) -> Result<(Film, watch::Receiver<Instant>), XError> {
        let display = self.display().to_owned();
        let opened = tokio::task::spawn_blocking(move || Film::open(&display));
        let film = match opened.await {
            Ok(film) => film?,
            Err(_join) => return Err(XError::Unfit("the thread that films it ended")),
        };
        Ok((film, self.0.events.changed_at.subscribe()))
    }
}

impl Film {
    fn open(display: &str) -> Result<Self, XError> {
        let (connection, root) = connect(display)?;
        let camera = Camera::new(&connection, root)?;
        Ok(Self {
            connection,
            root,
            camera,
        })
    }

    pub(crate) fn size(&self) -> ScreenSize {
        self.camera.size()
    }

    /// Returns the screen as it is now, with the pointer in it. Blocks for some milliseconds.
    pub(crate) fn shoot(&self) -> Result<(Picture, Point), XError> {
        let (mut picture, pointer) = self.camera.take(&self.connection)?;
        forget_events(&self.connection)?;
        picture.draw_pointer(&pointer);
        let at = Point {
            x: pointer.x,
            y: pointer.y,
        };
        Ok((picture, at))
    }

    /// Returns the place of the pointer. Nobody is told when it moves.
    pub(crate) fn pointer(&self) -> Result<Point, XError> {
        let pointer = self.connection.query_pointer(self.root)?.reply()?;
        Ok(Point {
            x: pointer.root_x.into(),
            y: pointer.root_y.into(),
        })
    }
}
