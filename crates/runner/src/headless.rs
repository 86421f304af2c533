//! A browser without a screen: the computer has no X server and no window manager, and the browser starts when it is
//! first needed.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use deskhand_core::{
    action::{Action, ScreenSize},
    blob::BlobFormat,
    browser::{Browse, Browsed, ElementAt, PointedElement},
    sandbox::{Acted, Frame},
    secret::Secret,
    tasks::Tasks,
    vault::{FieldPlace, Filling},
};
use deskhand_pictures::DecodedPicture;
use tokio::sync::{Mutex, mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    browser::{BrowseError, Browser, BrowserSettings, FillError},
    desktop::{
        ActError, browser_slot::BrowserSlot, guard::GuardedValues, program_ids::ProgramIds,
        programs::Supervisor,
    },
};

/// The attempts to take a picture while secrets are being typed.
const MOST_ATTEMPTS: usize = 3;

/// The settings of a browser without a screen.
#[derive(Debug, Clone)]
pub struct HeadlessConfig {
    /// The size of its pages.
    pub viewport: ScreenSize,
    /// The browser's program and arguments. Empty for no browser.
    pub browser: Vec<String>,
    pub browser_settings: BrowserSettings,
}

/// A browser without a screen. Clones share it, and it ends with the last clone.
#[derive(Debug, Clone)]
pub struct Headless(Arc<HeadlessParts>);

#[derive(Debug)]
struct HeadlessParts {
    viewport: ScreenSize,
    browser: BrowserSlot,
    programs: Arc<ProgramIds>,
    guarded: GuardedValues,
    /// Locked while a verb runs or a secret is typed.
    turn: Mutex<()>,
    _stop: DropGuard,
}

impl Headless {
    /// Prepares the browser, which starts with the first verb. `notices` receives a sentence whenever it ends
    /// unexpectedly.
    pub fn new(config: HeadlessConfig, tasks: Tasks, notices: mpsc::Sender<String>) -> Self {
        let (ended, _) = watch::channel(None);
        let supervisor = Supervisor {
            stop: tasks.shutdown().child_token(),
            tasks,
            notices,
            ended,
            variables: BTreeMap::new(),
            ids: Arc::default(),
        };
        let (programs, stop) = (Arc::clone(&supervisor.ids), supervisor.stop.clone());
        let settings = BrowserSettings {
            viewport: Some(config.viewport),
            ..config.browser_settings
        };
        Self(Arc::new(HeadlessParts {
            viewport: config.viewport,
            browser: BrowserSlot::new(supervisor, BTreeMap::new(), config.browser, settings),
            programs,
            guarded: GuardedValues::default(),
            turn: Mutex::default(),
            _stop: stop.drop_guard(),
        }))
    }

    pub(crate) fn viewport(&self) -> ScreenSize {
        self.0.viewport
    }

    pub(crate) fn programs(&self) -> &ProgramIds {
        &self.0.programs
    }

    /// Takes a picture of the current page if the action is a screenshot. Every other action needs a screen.
    pub(crate) async fn act(
        &self,
        action: &Action,
        shown: Option<ScreenSize>,
    ) -> Result<Acted, ActError> {
        if *action != Action::Screenshot {
            return Err(ActError::NoScreen);
        }
        Ok(Acted {
            frame: Some(self.look(BlobFormat::Png, shown).await?),
            ..Acted::default()
        })
    }

    /// Takes a picture of the current page as it is now, at the size `shown`, even while a verb runs.
    pub async fn look(
        &self,
        format: BlobFormat,
        shown: Option<ScreenSize>,
    ) -> Result<Frame, ActError> {
        deskhand_pictures::check_size(shown)?;
        let browser = self.running()?;
        for _ in 0..MOST_ATTEMPTS {
            let secrets = self.0.guarded.all();
            let frame = browser.look(format, &secrets).await?;
            // Secrets that were typed meanwhile were not searched for.
            if self.0.guarded.all() == secrets {
                return at_size(frame, shown).await;
            }
        }
        Err(BrowseError::Unclear.into())
    }

    /// Carries out a verb. The browser is started if it is not running.
    ///
    /// Verbs run one at a time. A cancelled verb ends at once and leaves nothing pressed.
    pub async fn browse(
        &self,
        browse: &Browse,
        cancel: CancellationToken,
    ) -> Result<Browsed, BrowseError> {
        let _turn = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(BrowseError::Cancelled),
            turn = self.0.turn.lock() => turn,
        };
        let browser = self.0.browser.ready_for(&browse.verb).await?;
        let secrets = self.0.guarded.all();
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                browser.let_go().await;
                Err(BrowseError::Cancelled)
            }
            browsed = browser.browse(browse, &secrets) => browsed,
        }
    }

    /// Returns the element that a click or a key would be for.
    pub async fn find_element(&self, at: &ElementAt) -> Option<PointedElement> {
        self.0.browser.running()?.find_on_page(at).await
    }

    /// Returns the place of the focused field of the current page.
    pub async fn find_field(&self) -> Result<FieldPlace, ActError> {
        let browser = self.0.browser.running().ok_or(FillError::NoPage)?;
        Ok(browser.find_field().await?)
    }

    /// Types a secret into the focused field, if it is the one that was found before.
    ///
    /// The secret is covered in pictures from then on.
    pub async fn fill(&self, filling: &Filling, cancel: CancellationToken) -> Result<(), ActError> {
        let _turn = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ActError::Cancelled),
            turn = self.0.turn.lock() => turn,
        };
        let browser = self.0.browser.running().ok_or(FillError::NoPage)?;
        self.cover([filling.value.clone()]);
        Ok(browser.fill(filling).await?)
    }

    /// Covers these values in pictures from now on.
    pub(crate) fn cover(&self, values: impl IntoIterator<Item = Secret>) {
        self.0.guarded.add(values);
    }

    /// Releases the mouse button that a verb holds down.
    pub(crate) async fn let_go(&self) {
        if let Some(browser) = self.0.browser.running() {
            browser.let_go().await;
        }
    }

    /// Forgets everything about the browser's tabs, and follows them no longer.
    pub(crate) async fn leave_browser(&self) {
        if let Some(browser) = self.0.browser.running() {
            browser.leave().await;
        }
    }

    fn running(&self) -> Result<Browser, BrowseError> {
        let running = self.0.browser.running();
        running.ok_or(BrowseError::NotStarted)
    }
}

/// Shows a picture at another size.
async fn at_size(frame: Frame, shown: Option<ScreenSize>) -> Result<Frame, ActError> {
    let Some(size) = shown.filter(|size| *size != frame.size) else {
        return Ok(frame);
    };
    let scaling = tokio::task::spawn_blocking(move || {
        let decoded = DecodedPicture::decode(&frame.bytes);
        let decoded = decoded.map_err(|_bad| BrowseError::BadPicture)?;
        let picture = decoded.picture.scaled(size)?;
        Ok(Frame {
            bytes: Bytes::from(picture.encode(frame.format)?),
            size: picture.size,
            ..frame
        })
    });
    match scaling.await {
        Ok(scaled) => scaled,
        // The runtime drops such work only while it shuts down.
        Err(_join) => Err(ActError::Ended),
    }
}
