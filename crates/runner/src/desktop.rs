//! The desktop: an X server with a window manager and a browser. This process takes pictures of it and acts on it.

mod actions;
pub(crate) mod browser_slot;
mod browsing;
mod camera;
mod clients;
mod clipboard;
mod curtain;
mod errors;
mod events;
pub(crate) mod film;
mod focus;
pub(crate) mod guard;
mod hands;
mod keyboard;
pub(crate) mod keysyms;
mod pasteboard;
pub(crate) mod program_ids;
pub(crate) mod programs;
mod rest;
mod screen_socket;
mod seat;
mod settle;
mod typing;
pub(crate) mod windows;
mod x;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use deskhand_core::{
    action::{Action, Point, Region, ScreenSize},
    blob::BlobFormat,
    sandbox::{Acted, Frame},
    secret::Secret,
    tasks::Tasks,
    vault::{FieldPlace, Filling},
};
use tokio::{
    net::UnixStream,
    sync::{Mutex, mpsc, watch},
    time::{Instant, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::{
    actions::{Performer, changes_something},
    browser_slot::BrowserSlot,
    curtain::Curtain,
    events::Events,
    guard::{Guard, GuardedValues},
    program_ids::ProgramIds,
    programs::{Supervisor, XServer},
    screen_socket::ScreenSocket,
    seat::{Seat, SeatHandle},
    settle::Settle,
};
pub use deskhand_pictures::PictureError;

pub(crate) use self::curtain::ClientProcesses;
pub use self::{
    errors::{ActError, StartDesktopError},
    keysyms::UnknownKey,
    typing::Untypable,
    x::XError,
};
pub use crate::browser::{BrowseError, BrowserSettings, DevToolsError, FillError};

/// The longest wait for a cancelled action to end, which takes a few milliseconds.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The settings of a desktop.
#[derive(Debug, Clone)]
pub struct DesktopConfig {
    pub screen: ScreenSize,
    /// The time without a change after which the screen counts as settled.
    pub settle_quiet: Duration,
    /// The time after which the screen counts as settled in any case.
    pub settle_max: Duration,
    /// The browser's program and arguments. Empty for no browser.
    pub browser: Vec<String>,
    pub browser_settings: BrowserSettings,
    /// The folder for the desktop's sockets and settings. It is created if it does not exist.
    pub runtime_dir: PathBuf,
    /// Environment variables for its programs, in addition to the runner's own.
    pub variables: BTreeMap<String, Secret>,
    /// Environment variables for the browser, in addition to the runner's own.
    pub browser_variables: BTreeMap<String, String>,
}

/// A running desktop. Clones share it, and its programs end with the last clone.
#[derive(Debug, Clone)]
pub struct Desktop(Arc<DesktopParts>);

#[derive(Debug)]
struct DesktopParts {
    screen: ScreenSize,
    display: String,
    vnc_socket: PathBuf,
    screen_socket: ScreenSocket,
    programs: Arc<ProgramIds>,
    /// Present while a person has control and other programs are frozen.
    curtain: Mutex<Option<Curtain>>,
    seat: SeatHandle,
    performer: Performer,
    browser: BrowserSlot,
    guard: Guard,
    guarded: GuardedValues,
    events: Arc<Events>,
    settle: Settle,
    /// The time at which the last action ended. Locked while an action runs, since there is one mouse and one
    /// keyboard.
    acted_at: Mutex<Instant>,
    ended: watch::Receiver<Option<String>>,
    _stop: DropGuard,
}

impl Desktop {
    /// Starts the X server and, as soon as it answers, the window manager and the browser.
    ///
    /// Returns when the screen accepts actions; the browser takes longer. `notices` receives a sentence whenever a
    /// program ends unexpectedly.
    pub async fn start(
        config: DesktopConfig,
        tasks: Tasks,
        notices: mpsc::Sender<String>,
    ) -> Result<Self, StartDesktopError> {
        let folder = config.runtime_dir;
        let vnc_socket = folder.join("vnc.sock");
        let window_manager_config =
            prepare(&folder, &vnc_socket).map_err(|source| StartDesktopError::Folder {
                path: folder.clone(),
                source,
            })?;
        let (ended, has_ended) = watch::channel(None);
        let supervisor = Supervisor {
            stop: tasks.shutdown().child_token(),
            tasks,
            notices,
            ended,
            variables: config.variables,
            ids: Arc::default(),
        };
        // From here on, a failure also ends every program that was started.
        let stop = supervisor.stop.clone().drop_guard();
        let server = XServer::start(config.screen, &vnc_socket, &folder.join("xvnc.log")).await?;
        let display = server.display.clone();
        let screen_socket = server.supervise(&supervisor);
        programs::keep_window_manager(&supervisor, &display, window_manager_config)?;
        let programs = Arc::clone(&supervisor.ids);
        let (argv, settings) = (config.browser, config.browser_settings);
        let mut variables = config.browser_variables;
        variables.insert("DISPLAY".to_owned(), display.clone());
        let browser = BrowserSlot::new(supervisor, variables, argv, settings);
        browser.start()?;

        let (seat, screen) = SeatHandle::start(&display).await?;
        let guarded = GuardedValues::default();
        let events = Arc::new(listen(&display, guarded.clone()).await?);
        Ok(Self(Arc::new(DesktopParts {
            screen,
            display,
            vnc_socket,
            screen_socket,
            programs,
            curtain: Mutex::default(),
            performer: Performer::new(seat.clone(), Arc::clone(&events)),
            guard: Guard::new(seat.clone(), browser.clone(), guarded.clone()),
            browser,
            guarded,
            seat,
            events,
            settle: Settle {
                quiet: config.settle_quiet,
                max: config.settle_max,
            },
            acted_at: Mutex::new(Instant::now()),
            ended: has_ended,
            _stop: stop,
        })))
    }

    pub fn screen(&self) -> ScreenSize {
        self.0.screen
    }

    /// Returns the value of `DISPLAY` for programs that should appear here.
    pub fn display(&self) -> &str {
        &self.0.display
    }

    /// Returns the path at which the RFB server's unix socket was made. Its file is gone.
    pub fn vnc_socket(&self) -> &Path {
        &self.0.vnc_socket
    }

    /// Connects to the RFB server, for watching the screen.
    pub async fn connect_screen(&self) -> io::Result<UnixStream> {
        self.0.screen_socket.connect().await
    }

    /// Returns the processes of its programs.
    pub(crate) fn programs(&self) -> &ProgramIds {
        &self.0.programs
    }

    /// Carries out an action, and takes a picture if `look` is set or the action only looks.
    ///
    /// The picture is taken once the screen has settled. It shows the whole screen at the size `shown`, or a part
    /// as large as fits into that size.
    ///
    /// Actions run one at a time, in the order of the calls. A cancelled action ends at once and leaves nothing
    /// pressed. Once the action is done, cancelling only ends the wait for the screen.
    pub async fn act(
        &self,
        action: &Action,
        look: bool,
        shown: Option<ScreenSize>,
        cancel: CancellationToken,
    ) -> Result<Acted, ActError> {
        action.check(self.0.screen)?;
        let looks = look || action.is_look();
        if looks {
            deskhand_pictures::check_size(shown)?;
        }
        let mut acted_at = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ActError::Cancelled),
            acted_at = self.0.acted_at.lock() => acted_at,
        };
        let mut acted = self.0.performer.perform(action, &cancel).await?;
        if changes_something(action) {
            *acted_at = Instant::now();
        }
        if !looks {
            return Ok(acted);
        }
        // Nothing shows the effect of a click before its release has been delivered.
        let released_at = self.0.seat.run(|seat| Ok(seat.released_at)).await?;
        *acted_at = released_at.max(*acted_at);
        tokio::select! {
            () = cancel.cancelled() => {}
            settled = self.settled(*acted_at) => settled?,
        }
        let part = if let Action::Zoom { region } = action {
            Some(*region)
        } else {
            None
        };
        acted.frame = Some(self.picture(part, shown, BlobFormat::Png).await?);
        Ok(acted)
    }

    /// Takes a picture of the screen as it is now, at the size `shown`, even while an action runs.
    pub async fn look(
        &self,
        format: BlobFormat,
        shown: Option<ScreenSize>,
    ) -> Result<Frame, ActError> {
        deskhand_pictures::check_size(shown)?;
        self.picture(None, shown, format).await
    }

    /// Returns the place of the browser's focused field.
    pub async fn find_field(&self) -> Result<FieldPlace, ActError> {
        self.0.guard.find_field().await
    }

    /// Types a secret into the browser's focused field, if it is the one that was found before.
    ///
    /// The secret is covered in pictures from then on.
    pub async fn fill(&self, filling: &Filling, cancel: CancellationToken) -> Result<(), ActError> {
        let mut acted_at = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ActError::Cancelled),
            acted_at = self.0.acted_at.lock() => acted_at,
        };
        self.0.guard.fill(filling).await?;
        *acted_at = Instant::now();
        Ok(())
    }

    /// Covers these values in pictures from now on.
    pub fn cover(&self, values: Vec<Secret>) {
        self.0.guard.add(values);
    }

    /// Releases all keys and buttons that actions hold or have left pressed.
    ///
    /// A running action gets a moment to end first, since it could press more.
    pub async fn release_all(&self) -> Result<(), ActError> {
        let _no_action = timeout(SHUTDOWN_TIMEOUT, self.0.acted_at.lock()).await;
        self.0.seat.run(Seat::release_all).await
    }

    /// Waits until the X server has processed everything sent to it.
    pub(crate) async fn sync(&self) -> Result<(), ActError> {
        self.0.seat.run(|seat| seat.sync()).await
    }

    /// Waits until the X server, and with it the desktop, has ended. Returns the cause.
    pub async fn ended(&self) -> String {
        let mut ended = self.0.ended.clone();
        let end = ended.wait_for(Option::is_some).await;
        // A missing sender means that the programs were stopped on purpose.
        end.ok()
            .and_then(|end| end.clone())
            .unwrap_or_else(|| "The desktop was stopped.".to_owned())
    }

    /// Waits until the screen shows the effect of the last action.
    async fn settled(&self, acted_at: Instant) -> Result<(), ActError> {
        let DesktopParts {
            settle,
            events,
            performer,
            guard,
            ..
        } = &*self.0;
        if acted_at.elapsed() >= settle.quiet {
            settle.wait(acted_at, &events.changed_at).await;
            return Ok(());
        }
        // On a busy machine, the quiet time must not begin before the program has had a chance to react.
        performer.noticed().await?;
        let noticed_at = Instant::now();
        let page = async {
            guard.let_page_catch_up(settle.max).await?;
            Ok::<_, ActError>(Instant::now())
        };
        let quiet = settle.wait(noticed_at, &events.changed_at);
        let (caught_up_at, ()) = tokio::join!(page, quiet);
        let caught_up_at = caught_up_at?;
        // A late page has only begun to show the effect. Other pages answer at once, so this costs no time.
        if caught_up_at > noticed_at + settle.quiet / 2 {
            settle.wait(caught_up_at, &events.changed_at).await;
        }
        Ok(())
    }

    async fn picture(
        &self,
        part: Option<Region>,
        shown: Option<ScreenSize>,
        format: BlobFormat,
    ) -> Result<Frame, ActError> {
        let shown = shown.unwrap_or(self.0.screen);
        let (mut picture, pointer) = self.0.guard.take().await?;
        let compressing = tokio::task::spawn_blocking(move || {
            picture.draw_pointer(&pointer);
            picture = match part {
                Some(region) => picture.zoom(region, shown)?,
                None => picture.scaled(shown)?,
            };
            Ok(Frame {
                bytes: Bytes::from(picture.encode(format)?),
                format,
                size: picture.size,
                pointer: Point {
                    x: pointer.x,
                    y: pointer.y,
                },
            })
        });
        match compressing.await {
            Ok(frame) => frame,
            // The runtime drops such work only while it shuts down.
            Err(_join) => Err(ActError::Ended),
        }
    }
}

/// Creates the folder and writes the window manager's configuration into it.
fn prepare(folder: &Path, vnc_socket: &Path) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    match std::fs::remove_file(vnc_socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        // A socket left by an earlier desktop would keep the X server from listening.
        _ => {}
    }
    programs::write_window_manager_config(folder)
}

async fn listen(display: &str, guarded: GuardedValues) -> Result<Events, XError> {
    let display = display.to_owned();
    match tokio::task::spawn_blocking(move || Events::listen(&display, guarded)).await {
        Ok(events) => events,
        Err(_join) => Err(XError::Unfit("the thread that listens to it ended")),
    }
}
