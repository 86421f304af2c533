//! The desktop: an X server with a window manager and a browser, looked at and acted on from
//! inside this process.

mod actions;
mod browser;
mod camera;
mod events;
mod focus;
mod guard;
mod hands;
mod keyboard;
mod keysyms;
mod picture;
mod programs;
mod rest;
mod scale;
mod seat;
mod settle;
mod typing;
mod windows;
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
    action::{Action, BadAction, Point, Region, ScreenSize},
    blob::BlobFormat,
    sandbox::Frame,
    secret::Secret,
    tasks::Tasks,
    vault::Filling,
};
use tokio::{
    sync::{Mutex, mpsc, watch},
    time::{Instant, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::{
    actions::Actor,
    events::Events,
    guard::Guard,
    programs::{Supervisor, XServer},
    seat::{Seat, SeatHandle},
    settle::Settle,
};
pub use self::{
    browser::{DevToolsError, FillError},
    keysyms::UnknownKey,
    picture::PictureError,
    typing::Untypable,
    x::XError,
};

/// How long an action that was cancelled may take to end. It is a matter of milliseconds.
const ENDING_MAX: Duration = Duration::from_secs(1);

/// What a desktop should be like.
#[derive(Debug, Clone)]
pub struct DesktopConfig {
    pub screen: ScreenSize,
    /// The screen counts as settled after this long without a change.
    pub settle_quiet: Duration,
    /// And at the latest after this long.
    pub settle_max: Duration,
    /// The browser's program and arguments; empty for none.
    pub browser: Vec<String>,
    /// A folder for the desktop's sockets and settings. It is made if it is not there.
    pub runtime_dir: PathBuf,
    /// What its programs find in their environment besides what the runner has in its own.
    pub variables: BTreeMap<String, Secret>,
}

/// Why there is no desktop.
#[derive(Debug, thiserror::Error)]
pub enum StartDesktopError {
    #[error("{program} is not installed: install the package {package}")]
    Missing {
        program: String,
        package: &'static str,
    },
    #[error("{program} could not be started")]
    Spawn {
        program: String,
        #[source]
        source: io::Error,
    },
    #[error("the X server did not come up: {0}")]
    NoServer(String),
    #[error("the folder {path} cannot be used")]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the X server came up but cannot be used")]
    X(#[from] XError),
}

/// Why an action was not carried out, or there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    #[error(transparent)]
    Bad(#[from] BadAction),
    #[error(transparent)]
    Key(#[from] UnknownKey),
    #[error(transparent)]
    Text(#[from] Untypable),
    #[error("the action was cancelled")]
    Cancelled,
    /// See [`Desktop::ended`].
    #[error("the desktop has ended")]
    Ended,
    #[error("the X server did not answer within {} s", .0.as_secs())]
    NoAnswer(Duration),
    #[error("the X server did not do it")]
    X(#[source] XError),
    #[error(transparent)]
    Fill(#[from] FillError),
    #[error("the picture could not be made")]
    Picture(#[from] PictureError),
}

impl From<XError> for ActError {
    fn from(error: XError) -> Self {
        match error {
            XError::Connection(_) => Self::Ended,
            XError::Connect(_) | XError::Refused(_) | XError::Unfit(_) | XError::Memory(_) => {
                Self::X(error)
            }
        }
    }
}

/// What came of an action.
#[derive(Debug, PartialEq)]
pub struct Acted {
    /// What was done, in a few words.
    pub text: String,
    pub frame: Option<Frame>,
}

/// A running desktop. Clones share it; its programs end with the last clone.
#[derive(Debug, Clone)]
pub struct Desktop(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    screen: ScreenSize,
    display: String,
    vnc_socket: PathBuf,
    seat: SeatHandle,
    actor: Actor,
    guard: Guard,
    events: Arc<Events>,
    settle: Settle,
    /// When the last action ended. Held while one is carried out: a person has two hands too.
    acted_at: Mutex<Instant>,
    ended: watch::Receiver<Option<String>>,
    _stop: DropGuard,
}

impl Desktop {
    /// Starts the X server and, as soon as it answers, the window manager and the browser.
    /// Returns when the screen can be looked at and acted on; the browser takes longer.
    ///
    /// `notices` gets a sentence whenever a program ends that was not asked to.
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
        };
        // From here on a failure ends whatever was started.
        let stop = supervisor.stop.clone().drop_guard();
        let server = XServer::start(config.screen, &vnc_socket, &folder.join("xvnc.log")).await?;
        let display = server.display.clone();
        server.supervise(&supervisor);
        programs::keep_window_manager(&supervisor, &display, window_manager_config)?;
        let browser = programs::start_browser(&supervisor, &display, &config.browser)?;

        let (seat, screen) = SeatHandle::start(&display).await?;
        let events = Arc::new(listen(&display).await?);
        Ok(Self(Arc::new(Inner {
            screen,
            display,
            vnc_socket,
            actor: Actor::new(seat.clone(), Arc::clone(&events)),
            guard: Guard::new(seat.clone(), browser),
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

    /// The value of `DISPLAY` for programs that should appear here.
    pub fn display(&self) -> &str {
        &self.0.display
    }

    /// Where the screen can be watched: a unix socket that speaks RFB.
    pub fn vnc_socket(&self) -> &Path {
        &self.0.vnc_socket
    }

    /// Carries out an action and says what was done. With `look`, or when the action is a look
    /// itself, waits until the screen has settled and adds a picture: of the whole screen at the
    /// size `shown`, of a part as large as fits into that.
    ///
    /// Actions are carried out one at a time, in the order of the calls. One that is cancelled
    /// ends at once and leaves nothing pressed; once it is done, cancelling only ends the wait.
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
            picture::check_size(shown)?;
        }
        let mut acted_at = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ActError::Cancelled),
            acted_at = self.0.acted_at.lock() => acted_at,
        };
        let mut acted = self.0.actor.perform(action, &cancel).await?;
        if changes_something(action) {
            *acted_at = Instant::now();
        }
        if !looks {
            return Ok(acted);
        }
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

    /// A picture of the screen as it is now, whatever is going on, at the size `shown`.
    pub async fn look(
        &self,
        format: BlobFormat,
        shown: Option<ScreenSize>,
    ) -> Result<Frame, ActError> {
        picture::check_size(shown)?;
        self.picture(None, shown, format).await
    }

    /// Types a secret into the field that has the focus in the browser, if its page is of an allowed
    /// origin, and keeps it out of pictures from then on.
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

    /// Keeps these out of pictures from now on.
    pub fn guard(&self, values: Vec<Secret>) {
        self.0.guard.add(values);
    }

    /// Lets go of all keys and buttons that actions hold or have left pressed. One that is
    /// under way is given a moment to end, since it could press more.
    pub async fn release_all(&self) -> Result<(), ActError> {
        let _no_action = timeout(ENDING_MAX, self.0.acted_at.lock()).await;
        self.0.seat.run(Seat::release_all).await
    }

    /// Waits for the end of the X server, and with it of the desktop, and tells how it came.
    pub async fn ended(&self) -> String {
        let mut ended = self.0.ended.clone();
        let end = ended.wait_for(Option::is_some).await;
        // Without a sender the programs were stopped on purpose.
        end.ok()
            .and_then(|end| end.clone())
            .unwrap_or_else(|| "The desktop was stopped.".to_owned())
    }

    /// Waits until the screen shows what came of the last action.
    async fn settled(&self, acted_at: Instant) -> Result<(), ActError> {
        let Inner {
            settle,
            events,
            actor,
            guard,
            ..
        } = &*self.0;
        if acted_at.elapsed() >= settle.quiet {
            settle.wait(acted_at, &events.changed_at).await;
            return Ok(());
        }
        // On a busy machine the quiet time must not begin before the program has its turn.
        actor.noticed().await?;
        let noticed_at = Instant::now();
        let page = async {
            guard.let_page_catch_up(settle.max).await?;
            Ok::<_, ActError>(Instant::now())
        };
        let quiet = settle.wait(noticed_at, &events.changed_at);
        let (caught_up_at, ()) = tokio::join!(page, quiet);
        let caught_up_at = caught_up_at?;
        // A page that was late has just begun to show what came of it. Others answer at once, and
        // cost no time.
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
            // Only a runtime that is ending gives such work up.
            Err(_join) => Err(ActError::Ended),
        }
    }
}

/// Makes the folder and puts the window manager's configuration into it.
fn prepare(folder: &Path, vnc_socket: &Path) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    match std::fs::remove_file(vnc_socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        // A socket that an earlier desktop left would keep the X server from listening.
        _ => {}
    }
    programs::write_window_manager_config(folder)
}

async fn listen(display: &str) -> Result<Events, XError> {
    let display = display.to_owned();
    match tokio::task::spawn_blocking(move || Events::listen(&display)).await {
        Ok(events) => events,
        Err(_join) => Err(XError::Unfit("the thread that listens to it ended")),
    }
}

/// Whether the screen may look different because of the action.
fn changes_something(action: &Action) -> bool {
    match action {
        Action::Screenshot | Action::Zoom { .. } | Action::Wait { .. } | Action::CursorPosition => {
            false
        }
        Action::Move { .. }
        | Action::Click { .. }
        | Action::MouseDown { .. }
        | Action::MouseUp { .. }
        | Action::Drag { .. }
        | Action::Scroll { .. }
        | Action::Type { .. }
        | Action::Key { .. }
        | Action::HoldKey { .. } => true,
    }
}
