//! Keeping secrets that were typed out of pictures.
//!
//! Where they stand is asked before and after a picture is taken. When it is the same both times, that is
//! covered; when it cannot be told, the browser's windows are covered whole.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_core::{secret::Secret, vault::Filling};
use tokio::time::Instant;

use super::{
    ActError,
    browser::{Browser, FillError, Sight, Unclear, Until},
    picture::{Picture, Pointer},
    seat::SeatHandle,
    windows::Window,
};

/// How long the browser may take to say once where secrets stand.
const LOOK_MAX: Duration = Duration::from_millis(1_500);
/// How long a picture may take in all before windows are covered whole.
const PICTURE_MAX: Duration = Duration::from_millis(2_500);

/// The browser of a desktop, and what must not be seen of it.
#[derive(Debug)]
pub(super) struct Guard {
    seat: SeatHandle,
    /// `None` when no browser was started that can be asked.
    browser: Option<Browser>,
    values: Mutex<Vec<Secret>>,
}

/// A picture as it was taken, with what must not be seen still in it.
struct Raw {
    picture: Picture,
    pointer: Pointer,
    windows: Vec<Window>,
}

impl Guard {
    pub(super) fn new(seat: SeatHandle, browser: Option<Browser>) -> Self {
        Self {
            seat,
            browser,
            values: Mutex::default(),
        }
    }

    /// Keeps these out of pictures from now on.
    pub(super) fn add(&self, values: impl IntoIterator<Item = Secret>) {
        let mut known = self.values();
        for value in values {
            if !known.contains(&value) {
                known.push(value);
            }
        }
    }

    /// Types a secret into the field that has the focus in the browser, if that is in front.
    pub(super) async fn fill(&self, filling: &Filling) -> Result<(), ActError> {
        let focused = self.seat.run(|seat| seat.focused_browser_pid()).await?;
        let browser = self.browser.as_ref();
        let in_front = browser.filter(|browser| focused == Some(browser.pid));
        let browser = in_front.ok_or(FillError::NoBrowser)?;
        self.add([filling.value.clone()]);
        Ok(browser.fill(filling).await?)
    }

    /// The screen and the pointer, as they are now, without what must not be seen.
    pub(super) async fn take(&self) -> Result<(Picture, Pointer), ActError> {
        let values = self.values().clone();
        if values.is_empty() {
            return self
                .seat
                .run(|seat| seat.camera.take(&seat.connection))
                .await;
        }
        let started = Instant::now();
        loop {
            let before = self.sights(&values, Until::Painted).await;
            let raw = self.take_raw().await?;
            let after = self.sights(&values, Until::Now).await;
            if let (Ok(before), Ok(after)) = (before, after)
                && before == after
                && let Some(covered) = self.cover_parts(&raw, &before)
            {
                return Ok((covered, raw.pointer));
            }
            if started.elapsed() > PICTURE_MAX {
                return Ok((cover_windows(raw.picture, &raw.windows), raw.pointer));
            }
        }
    }

    async fn take_raw(&self) -> Result<Raw, ActError> {
        let taken = self.seat.run(|seat| {
            let windows = seat.browser_windows()?;
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
        let Some(browser) = &self.browser else {
            return Ok(Vec::new());
        };
        let looked = tokio::time::timeout(LOOK_MAX, browser.sights(values, until)).await;
        looked.unwrap_or(Err(Unclear))
    }

    /// Covers what was seen, and browsers that cannot be asked. `None` when it cannot be told where that
    /// is on the screen.
    fn cover_parts(&self, raw: &Raw, sights: &[Sight]) -> Option<Picture> {
        let pid = self.browser.as_ref().map(|browser| browser.pid);
        let is_own = |window: &Window| pid.is_some() && window.pid == pid;
        let (own, others): (Vec<_>, Vec<_>) = raw.windows.iter().copied().partition(is_own);
        let mut picture = cover_windows(raw.picture.clone(), &others);
        for sight in sights.iter().filter(|sight| !sight.is_empty()) {
            for region in sight.on_screen(&own)? {
                picture.cover(region);
            }
        }
        Some(picture)
    }

    fn values(&self) -> MutexGuard<'_, Vec<Secret>> {
        // Nothing in here panics half way.
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cover_windows(mut picture: Picture, windows: &[Window]) -> Picture {
    for window in windows {
        picture.cover(window.region);
    }
    picture
}
