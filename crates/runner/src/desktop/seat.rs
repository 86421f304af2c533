//! The seat: one thread that owns the X connection for input and pictures.
//!
//! X11 calls block, mostly for a tenth of a millisecond, but as long as a program likes that has grabbed the
//! server. So they are made here, one after the other, and never on a thread of the async runtime. Anything that
//! takes long (settling, waiting, compressing) is done elsewhere.

use std::{sync::mpsc, time::Duration};

use tokio::{sync::oneshot, time::Instant};
use x11rb::{
    connection::Connection,
    protocol::{
        res::ConnectionExt as _,
        xkb::ConnectionExt as _,
        xproto::{ChangeWindowAttributesAux, ConnectionExt as _},
        xtest::ConnectionExt as _,
    },
    rust_connection::RustConnection,
};

use super::{
    ActError,
    camera::Camera,
    hands::Held,
    keyboard::Keyboard,
    x::{Atoms, XError, connect, forget_events},
};

/// The time that a single job may take before the X server counts as stuck.
const JOB_TIMEOUT: Duration = Duration::from_secs(10);

/// The colour behind all windows, a calm slate blue.
const BACKGROUND: u32 = 0x0038_4f63;

/// The arrow in the X server's built-in cursor font. Its mask is the next glyph.
const LEFT_ARROW: u16 = 68;

type Job = Box<dyn FnOnce(&mut Seat) + Send>;

/// The state that the thread owns.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) connection: RustConnection,
    pub(super) root: u32,
    pub(super) atoms: Atoms,
    pub(super) camera: Camera,
    pub(super) keyboard: Keyboard,
    /// Keys and buttons that we hold down, in the order in which they were pressed.
    pub(super) held: Vec<Held>,
    /// The time at which programs were last sent the release of a button.
    pub(super) released_at: Instant,
}

/// A handle to the thread, which ends with the last handle.
///
/// The queue is unbounded, but callers wait for their results, so it is hardly longer than the number of callers.
#[derive(Debug, Clone)]
pub(super) struct SeatHandle(mpsc::Sender<Job>);

impl SeatHandle {
    /// Connects to `display`, prepares its screen and starts the thread.
    pub(super) async fn start(
        display: &str,
    ) -> Result<(Self, deskhand_core::action::ScreenSize), XError> {
        let display = display.to_owned();
        let (ready, is_ready) = oneshot::channel();
        let (jobs, queue) = mpsc::channel::<Job>();
        let thread = move || match Seat::open(&display) {
            Ok(mut seat) => {
                // If the start was cancelled, no caller waits for this.
                let _ = ready.send(Ok(seat.camera.size()));
                while let Ok(job) = queue.recv() {
                    job(&mut seat);
                }
            }
            Err(error) => {
                let _ = ready.send(Err(error));
            }
        };
        std::thread::Builder::new()
            .name("desktop-seat".to_owned())
            .spawn(thread)
            .map_err(XError::Memory)?;
        match is_ready.await {
            Ok(size) => Ok((Self(jobs), size?)),
            Err(_closed) => Err(XError::Unfit("the thread that talks to it ended")),
        }
    }

    /// Runs a job on the seat's thread and returns its result.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Seat) -> Result<T, XError> + Send + 'static,
    ) -> Result<T, ActError> {
        self.run_and_then(job, |_seat| Ok(())).await
    }

    /// Runs a job on the seat's thread and returns its result, while the thread goes on with `rest`. Later jobs begin
    /// after the rest.
    pub(super) async fn run_and_then<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Seat) -> Result<T, XError> + Send + 'static,
        rest: impl FnOnce(&mut Seat) -> Result<(), XError> + Send + 'static,
    ) -> Result<T, ActError> {
        let (answer, answered) = oneshot::channel();
        let job = move |seat: &mut Seat| {
            // The caller may have stopped waiting.
            let _ = answer.send(job(seat));
            if let Err(error) = rest(seat) {
                tracing::debug!(%error, "could not finish an action");
            }
        };
        if self.0.send(Box::new(job)).is_err() {
            return Err(ActError::Ended);
        }
        match tokio::time::timeout(JOB_TIMEOUT, answered).await {
            Ok(Ok(result)) => Ok(result?),
            Ok(Err(_closed)) => Err(ActError::Ended),
            Err(_elapsed) => Err(ActError::NoAnswer(JOB_TIMEOUT)),
        }
    }

    /// Empties the clipboard, without waiting for it.
    pub(super) fn forget_selections_soon(&self) {
        let job = |seat: &mut Seat| {
            let forgotten = seat.forget_selections();
            if let Err(error) = forgotten.and_then(|()| seat.sync()) {
                tracing::warn!(%error, "could not empty the clipboard");
            }
        };
        // Without the thread there is no X server, so there is no clipboard.
        let _ = self.0.send(Box::new(job));
    }

    /// Releases everything that is still held, without waiting for it.
    pub(super) fn release_soon(&self) {
        let job = |seat: &mut Seat| {
            if let Err(error) = seat.release_all() {
                tracing::debug!(%error, "could not release keys and buttons");
            }
        };
        // Without the thread there is no X server, so nothing is held.
        let _ = self.0.send(Box::new(job));
    }
}

impl Seat {
    fn open(display: &str) -> Result<Self, XError> {
        let (connection, root) = connect(display)?;
        connection.xtest_get_version(2, 2)?.reply()?;
        connection.xkb_use_extension(1, 0)?.reply()?;
        connection.res_query_version(1, 2)?.reply()?;
        let atoms = Atoms::new(&connection)?.reply()?;
        let camera = Camera::new(&connection, root)?;
        let seat = Self {
            connection,
            root,
            atoms,
            camera,
            keyboard: Keyboard::default(),
            held: Vec::new(),
            released_at: Instant::now(),
        };
        seat.furnish()?;
        Ok(seat)
    }

    /// Sets a plain background and an arrow as the pointer, instead of the X server's defaults.
    fn furnish(&self) -> Result<(), XError> {
        let font = self.connection.generate_id()?;
        self.connection.open_font(font, b"cursor")?;
        let arrow = self.connection.generate_id()?;
        let (black, white) = (0, u16::MAX);
        self.connection.create_glyph_cursor(
            arrow,
            font,
            font,
            LEFT_ARROW,
            LEFT_ARROW + 1,
            black,
            black,
            black,
            white,
            white,
            white,
        )?;
        let look = ChangeWindowAttributesAux::new()
            .background_pixel(BACKGROUND)
            .cursor(arrow);
        self.connection.change_window_attributes(self.root, &look)?;
        self.connection.clear_area(false, self.root, 0, 0, 0, 0)?;
        self.connection.free_cursor(arrow)?;
        self.connection.close_font(font)?;
        self.sync()
    }

    /// Waits until the X server has processed everything sent to it.
    pub(super) fn sync(&self) -> Result<(), XError> {
        self.connection.get_input_focus()?.reply()?;
        forget_events(&self.connection)
    }
}
