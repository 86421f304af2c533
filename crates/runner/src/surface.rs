//! The part of the computer that is looked at and acted on: a desktop, or a browser without a screen.

use std::{
    collections::{BTreeMap, HashSet},
    io,
    path::Path,
    time::Duration,
};

use deskhand_core::{
    action::{Action, ScreenSize},
    blob::BlobFormat,
    browser::{Browse, Browsed, ElementAt, PointedElement},
    computer::ComputerKind,
    sandbox::{Acted, ClipboardRead, Frame},
    secret::Secret,
    tasks::Tasks,
    vault::{FieldPlace, Filling},
};
use deskhand_runner_protocol::RunnerConfig;
use tokio::{net::UnixStream, sync::mpsc};
use tokio_util::sync::CancellationToken;

use crate::{
    browser::{BrowseError, BrowserSettings},
    desktop::{
        ActError, ClientProcesses, Desktop, DesktopConfig, StartDesktopError,
        program_ids::ProgramIds,
    },
    headless::{Headless, HeadlessConfig},
    sound::SoundCard,
    video::{VideoCapture, VideoError},
};

/// A desktop, or a browser without a screen. Clones share it.
#[derive(Debug, Clone)]
pub(crate) enum Surface {
    Desktop(Desktop),
    Headless(Headless),
}

impl Surface {
    /// Starts what the configuration asks for. `notices` receives a sentence whenever one of its programs ends
    /// unexpectedly.
    pub(crate) async fn start(
        config: &RunnerConfig,
        home: &Path,
        runtime_dir: &Path,
        (variables, sound): (BTreeMap<String, Secret>, Option<&SoundCard>),
        tasks: Tasks,
        notices: mpsc::Sender<String>,
    ) -> Result<Self, StartDesktopError> {
        let browser_settings = BrowserSettings {
            home: home.to_owned(),
            allows_scripts: config.browser_scripts,
            viewport: None,
        };
        match config.computer {
            ComputerKind::Desktop => {
                let config = DesktopConfig {
                    screen: config.screen,
                    settle_quiet: Duration::from_millis(config.settle_quiet_ms),
                    settle_max: Duration::from_millis(config.settle_max_ms),
                    browser: config.browser.clone(),
                    browser_settings,
                    runtime_dir: runtime_dir.to_owned(),
                    variables,
                    browser_variables: sound.map(SoundCard::variables).unwrap_or_default(),
                };
                Ok(Self::Desktop(Desktop::start(config, tasks, notices).await?))
            }
            ComputerKind::Browser => {
                let config = HeadlessConfig {
                    viewport: config.screen,
                    browser: config.browser.clone(),
                    browser_settings,
                };
                Ok(Self::Headless(Headless::new(config, tasks, notices)))
            }
        }
    }

    /// Returns the size of the screen, or of a page where there is none.
    pub(crate) fn size(&self) -> ScreenSize {
        match self {
            Self::Desktop(desktop) => desktop.screen(),
            Self::Headless(headless) => headless.viewport(),
        }
    }

    /// Returns the value of `DISPLAY` for programs, if there is a screen.
    pub(crate) fn display(&self) -> Option<String> {
        match self {
            Self::Desktop(desktop) => Some(desktop.display().to_owned()),
            Self::Headless(_) => None,
        }
    }

    /// Returns the processes of its programs.
    pub(crate) fn programs(&self) -> &ProgramIds {
        match self {
            Self::Desktop(desktop) => desktop.programs(),
            Self::Headless(headless) => headless.programs(),
        }
    }

    /// Connects to the RFB server, for watching the screen.
    pub(crate) async fn connect_screen(&self) -> io::Result<UnixStream> {
        match self {
            Self::Desktop(desktop) => desktop.connect_screen().await,
            Self::Headless(_) => Err(io::Error::other("this computer has no screen")),
        }
    }

    /// Begins to film the screen.
    pub(crate) async fn film(&self) -> Result<VideoCapture, VideoError> {
        match self {
            Self::Desktop(desktop) => VideoCapture::begin(desktop).await,
            Self::Headless(_) => Err(VideoError::NoScreen),
        }
    }

    /// Waits until it has ended by itself, and returns the cause. A browser without a screen never does: it is started
    /// again when it is needed.
    pub(crate) async fn ended(&self) -> String {
        match self {
            Self::Desktop(desktop) => desktop.ended().await,
            Self::Headless(_) => std::future::pending().await,
        }
    }

    /// Carries out an action on the screen. See [`Desktop::act`].
    pub(crate) async fn act(
        &self,
        action: &Action,
        look: bool,
        shown: Option<ScreenSize>,
        cancel: CancellationToken,
    ) -> Result<Acted, ActError> {
        match self {
            Self::Desktop(desktop) => desktop.act(action, look, shown, cancel).await,
            Self::Headless(headless) => headless.act(action, shown).await,
        }
    }

    /// Takes a picture of the screen, or of the current page where there is none.
    pub(crate) async fn look(
        &self,
        format: BlobFormat,
        shown: Option<ScreenSize>,
    ) -> Result<Frame, ActError> {
        match self {
            Self::Desktop(desktop) => desktop.look(format, shown).await,
            Self::Headless(headless) => headless.look(format, shown).await,
        }
    }

    /// Carries out a verb in the browser.
    pub(crate) async fn browse(
        &self,
        browse: &Browse,
        cancel: CancellationToken,
    ) -> Result<Browsed, BrowseError> {
        match self {
            Self::Desktop(desktop) => desktop.browse(browse, cancel).await,
            Self::Headless(headless) => headless.browse(browse, cancel).await,
        }
    }

    /// Returns the element that a click or a key would be for. `None` if it is not in the browser, or the page does not
    /// answer at once.
    pub(crate) async fn find_element(&self, at: &ElementAt) -> Option<PointedElement> {
        match self {
            Self::Desktop(desktop) => desktop.find_element(at).await,
            Self::Headless(headless) => headless.find_element(at).await,
        }
    }

    /// Returns the place of the browser's focused field.
    pub(crate) async fn find_field(&self) -> Result<FieldPlace, ActError> {
        match self {
            Self::Desktop(desktop) => desktop.find_field().await,
            Self::Headless(headless) => headless.find_field().await,
        }
    }

    /// Types a secret into the browser's focused field, if it is the one that was found before.
    pub(crate) async fn fill(
        &self,
        filling: &Filling,
        cancel: CancellationToken,
    ) -> Result<(), ActError> {
        match self {
            Self::Desktop(desktop) => desktop.fill(filling, cancel).await,
            Self::Headless(headless) => headless.fill(filling, cancel).await,
        }
    }

    /// Covers these values in pictures from now on.
    pub(crate) fn cover(&self, values: Vec<Secret>) {
        match self {
            Self::Desktop(desktop) => desktop.cover(values),
            Self::Headless(headless) => headless.cover(values),
        }
    }

    /// Returns the text on the clipboard of the screen.
    pub(crate) async fn read_clipboard(&self) -> Result<ClipboardRead, ActError> {
        self.screen()?.read_clipboard().await
    }

    /// Puts a text on the clipboard of the screen.
    pub(crate) async fn set_clipboard(&self, text: Secret) -> Result<(), ActError> {
        self.screen()?.set_clipboard(text).await
    }

    /// Releases all keys and buttons that actions and verbs hold.
    pub(crate) async fn release_all(&self) -> Result<(), ActError> {
        match self {
            Self::Desktop(desktop) => desktop.release_all().await,
            Self::Headless(headless) => {
                headless.let_go().await;
                Ok(())
            }
        }
    }

    /// Forgets everything about the browser's tabs, and follows them no longer.
    pub(crate) async fn leave_browser(&self) {
        match self {
            Self::Desktop(desktop) => desktop.leave_browser().await,
            Self::Headless(headless) => headless.leave_browser().await,
        }
    }

    fn screen(&self) -> Result<&Desktop, ActError> {
        match self {
            Self::Desktop(desktop) => Ok(desktop),
            Self::Headless(_) => Err(ActError::NoScreen),
        }
    }
}

/// The screen while a person has control. Where there is none, nothing has to be hidden from frozen programs.
impl Surface {
    /// Waits until the X server has processed everything sent to it.
    pub(crate) async fn sync(&self) -> Result<(), ActError> {
        match self {
            Self::Desktop(desktop) => desktop.sync().await,
            Self::Headless(_) => Ok(()),
        }
    }

    /// Hides the windows of all programs but the spared ones, and returns those that take keys away from others.
    pub(crate) async fn draw_curtain(
        &self,
        spared: HashSet<u32>,
    ) -> Result<ClientProcesses, ActError> {
        match self {
            Self::Desktop(desktop) => desktop.draw_curtain(spared).await,
            Self::Headless(_) => Ok(ClientProcesses::default()),
        }
    }

    /// Returns the programs that may have been told of keys since the curtain was drawn.
    pub(crate) async fn look_behind_curtain(&self) -> Result<ClientProcesses, ActError> {
        match self {
            Self::Desktop(desktop) => desktop.look_behind_curtain().await,
            Self::Headless(_) => Ok(ClientProcesses::default()),
        }
    }

    /// Shows the hidden windows again.
    pub(crate) async fn lift_curtain(&self) -> Result<(), ActError> {
        match self {
            Self::Desktop(desktop) => desktop.lift_curtain().await,
            Self::Headless(_) => Ok(()),
        }
    }
}
