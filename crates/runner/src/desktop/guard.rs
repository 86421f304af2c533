//! Keeps typed secrets out of pictures.
//!
//! The browser is asked for their places before and after a picture is taken. If both replies are the same, those
//! places are covered. If they differ each time, or the places are unclear, the browser's windows are covered
//! entirely, and the whole screen if none of them is found.
//!
//! Other programs do not get them from the clipboard: whatever is copied is searched for them, and forgotten.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{
    action::Region,
    secret::Secret,
    vault::{FieldPlace, Filling},
};
use deskhand_pictures::{Picture, Pointer};
use tokio::time::Instant;

use super::{ActError, browser_slot::BrowserSlot, seat::SeatHandle, windows::Window};
use crate::browser::{Browser, FillError, Sight, Unclear, Until};

/// The timeout for asking the browser once for the places of secrets.
const LOOK_MAX: Duration = Duration::from_millis(1_500);
/// The time after which windows are covered entirely instead.
const PICTURE_MAX: Duration = Duration::from_millis(2_500);
/// The delay between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// The browser of a desktop, and the secrets to keep out of its pictures.
#[derive(Debug)]
pub(super) struct Guard {
    seat: SeatHandle,
    browser: BrowserSlot,
    values: GuardedValues,
}

/// The values to keep out of pictures and out of the clipboard. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct GuardedValues(Arc<Mutex<Vec<Secret>>>);

impl GuardedValues {
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Returns true if a text contains one of them.
    pub(super) fn are_in(&self, text: &[u8]) -> bool {
        let contains = |value: &Secret| {
            let value = value.expose().as_bytes();
            text.windows(value.len()).any(|part| part == value)
        };
        self.lock().iter().any(contains)
    }

    /// Returns a copy of all of them.
    pub(crate) fn all(&self) -> Vec<Secret> {
        self.lock().clone()
    }

    /// Adds values, each once.
    pub(crate) fn add(&self, values: impl IntoIterator<Item = Secret>) {
        let mut known = self.lock();
        for value in values {
            if !known.contains(&value) {
                known.push(value);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Secret>> {
        // No code under this lock panics halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A picture as it was taken, with all secrets still visible.
struct Raw {
    picture: Picture,
    pointer: Pointer,
    windows: Vec<Window>,
}

impl Guard {
    pub(super) fn new(seat: SeatHandle, browser: BrowserSlot, values: GuardedValues) -> Self {
        Self {
            seat,
            browser,
            values,
        }
    }

    /// Keeps these values out of pictures and of the clipboard from now on.
    pub(super) fn add(&self, values: impl IntoIterator<Item = Secret>) {
        self.values.add(values);
        // It may have been copied before it was known to be one.
        self.seat.forget_selections_soon();
    }

    /// Returns the place of the browser's focused field, if the browser's window has the focus.
    pub(super) async fn find_field(&self) -> Result<FieldPlace, ActError> {
        let browser = self.browser_in_front().await?;
        Ok(browser.find_field().await?)
    }

    /// Types a secret into the browser's focused field, if the browser's window has the focus.
    pub(super) async fn fill(&self, filling: &Filling) -> Result<(), ActError> {
        let browser = self.browser_in_front().await?;
        self.add([filling.value.clone()]);
        Ok(browser.fill(filling).await?)
    }

    async fn browser_in_front(&self) -> Result<Browser, ActError> {
        let focused = self.seat.run(|seat| seat.focused_client_pid()).await?;
        let in_front = |browser: &Browser| focused == Some(browser.pid);
        let browser = self.browser().filter(in_front);
        Ok(browser.ok_or(FillError::NoBrowser)?)
    }

    /// Waits until the focused page has handled its input, if it is the browser's, but no longer than `max`.
    pub(super) async fn let_page_catch_up(&self, max: Duration) -> Result<(), ActError> {
        let Some(browser) = self.browser() else {
            return Ok(());
        };
        let pid = browser.pid;
        if let Some(name) = self.seat.run(move |seat| seat.focused_name(pid)).await? {
            browser.let_page_catch_up(&name, max).await;
        }
        Ok(())
    }

    /// Takes a picture of the screen, with all secrets covered, and returns it with the pointer.
    pub(super) async fn take(&self) -> Result<(Picture, Pointer), ActError> {
        let started = Instant::now();
        loop {
            let values = self.values.lock().clone();
            let taken = if values.is_empty() {
                let take = self.seat.run(|seat| seat.camera.take(&seat.connection));
                Some(take.await?)
            } else {
                self.take_covered(&values).await?
            };
            // Secrets that were typed meanwhile were not searched for.
            if let Some(taken) = taken
                && *self.values.lock() == values
            {
                return Ok(taken);
            }
            if started.elapsed() > PICTURE_MAX {
                let raw = self.take_raw().await?;
                return Ok((self.cover_browsers(raw.picture, &raw.windows), raw.pointer));
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    /// Takes a picture with these values covered. Returns `None` if their places are unclear.
    async fn take_covered(
        &self,
        values: &[Secret],
    ) -> Result<Option<(Picture, Pointer)>, ActError> {
        let before = self.sights(values, Until::Painted).await;
        let raw = self.take_raw().await?;
        let after = self.sights(values, Until::Now).await;
        let covered = match (before, after) {
            (Ok(before), Ok(after)) if before == after => self.cover_parts(&raw, &before),
            (Ok(_) | Err(Unclear), Ok(_) | Err(Unclear)) => None,
        };
        Ok(covered.map(|picture| (picture, raw.pointer)))
    }

    async fn take_raw(&self) -> Result<Raw, ActError> {
        let own = self.own_pid();
        let taken = self.seat.run(move |seat| {
            let windows = seat.browser_windows(own)?;
            let (picture, pointer) = seat.camera.take(&seat.connection)?;
            Ok(Raw {
                picture,
                pointer,
                windows,
            })
        });
        taken.await
    }

    async fn sights(&self, values: &[Secret], until: Until) -> Result<Vec<Sight>, Unclear> {
        let Some(browser) = self.browser() else {
            return Ok(Vec::new());
        };
        let looked = tokio::time::timeout(LOOK_MAX, browser.sights(values, until)).await;
        looked.unwrap_or(Err(Unclear))
    }

    /// Covers the places of secrets, and the windows of browsers that cannot be asked.
    ///
    /// Returns `None` if the places on the screen are unclear.
    fn cover_parts(&self, raw: &Raw, sights: &[Sight]) -> Option<Picture> {
        let (own, others): (Vec<_>, Vec<_>) = raw
            .windows
            .iter()
            .copied()
            .partition(|window| self.is_own(window));
        let mut picture = cover_windows(raw.picture.clone(), &others);
        for sight in sights.iter().filter(|sight| !sight.is_empty()) {
            for region in sight.on_screen(&own)? {
                picture.cover(region);
            }
        }
        Some(picture)
    }

    /// Returns the browser, as long as it can be asked.
    fn browser(&self) -> Option<Browser> {
        self.browser.running()
    }

    /// Covers all windows of browsers. Covers everything if the browser's own window is not among them.
    fn cover_browsers(&self, picture: Picture, windows: &[Window]) -> Picture {
        let is_found = windows.iter().any(|window| self.is_own(window));
        if is_found || self.browser().is_none() {
            return cover_windows(picture, windows);
        }
        let whole = Region {
            x0: 0,
            y0: 0,
            x1: i32::MAX,
            y1: i32::MAX,
        };
        let mut picture = picture;
        picture.cover(whole);
        picture
    }

    fn is_own(&self, window: &Window) -> bool {
        let own = self.own_pid();
        own.is_some() && window.pid == own
    }

    fn own_pid(&self) -> Option<u32> {
        self.browser().map(|browser| browser.pid)
    }
}

fn cover_windows(mut picture: Picture, windows: &[Window]) -> Picture {
    for window in windows {
        picture.cover(window.region);
    }
    picture
}
