//! The players on the pages of a fake browser. Tests say which pages have one, and change what it does.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_core::browser::{PageMedia, PlayerState, PlayerWish};
use tokio::time::Instant;

use super::client::FakeClient;

/// The pages of all sandboxes of a test, by address. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct FakePages {
    pages: Arc<Mutex<HashMap<String, FakePage>>>,
    client: Arc<Mutex<Option<FakeClient>>>,
}

/// A page with a player. Without one it is an ordinary page.
#[derive(Debug, Clone)]
pub struct FakePage {
    pub status: Option<u16>,
    pub player: Option<FakePlayer>,
}

/// A player that plays for a time.
#[derive(Debug, Clone)]
pub struct FakePlayer {
    /// False if only a click on the page starts it.
    pub obeys: bool,
    pub fills_screen: bool,
    /// True if it shows the same picture for ever, although it says that it plays.
    pub is_frozen: bool,
    pub is_paused: bool,
    pub is_ended: bool,
    /// The time at which it began to play.
    began_at: Option<Instant>,
}

impl FakePages {
    /// Puts a page at an address, or replaces it, also where it is open.
    pub fn put(&self, url: &str, page: FakePage) {
        self.pages().insert(url.to_owned(), page);
    }

    /// Changes the player at an address.
    pub fn change(&self, url: &str, change: impl FnOnce(&mut FakePlayer)) {
        let mut pages = self.pages();
        let page = pages.get_mut(url).expect("a page at this address");
        change(page.player.as_mut().expect("a player on this page"));
    }

    /// Clicks on the page at an address, which starts its player.
    pub(super) fn click(&self, url: &str) {
        let mut pages = self.pages();
        let player = pages.get_mut(url).and_then(|page| page.player.as_mut());
        if let Some(player) = player {
            player.is_paused = false;
        }
    }

    /// Follows a wish on the page at an address.
    pub(super) fn follow(&self, url: &str, wish: PlayerWish) -> PageMedia {
        if let Some(player) = self.with_client(url, |client| client.preview()) {
            let status = Some(200);
            return PageMedia { status, player };
        }
        let mut pages = self.pages();
        let Some(page) = pages.get_mut(url) else {
            return PageMedia {
                status: Some(200),
                player: None,
            };
        };
        PageMedia {
            status: page.status,
            player: page.player.as_mut().map(|player| player.follow(wish)),
        }
    }

    fn pages(&self) -> MutexGuard<'_, HashMap<String, FakePage>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a web client for voice channels at its origin.
    pub fn put_client(&self, client: FakeClient) {
        *self.any_client() = Some(client);
    }

    /// Returns the web client as it is.
    pub fn client(&self) -> FakeClient {
        self.any_client().clone().expect("a web client")
    }

    /// Changes the web client, also where it is open.
    pub fn change_client(&self, change: impl FnOnce(&mut FakeClient)) {
        change(self.any_client().as_mut().expect("a web client"));
    }

    /// Does something with the web client, if the address is one of its own.
    pub(super) fn with_client<T>(
        &self,
        url: &str,
        act: impl FnOnce(&mut FakeClient) -> T,
    ) -> Option<T> {
        let mut client = self.any_client();
        client.as_mut().filter(|client| client.is_at(url)).map(act)
    }

    fn any_client(&self) -> MutexGuard<'_, Option<FakeClient>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FakePage {
    /// Returns a page whose video plays when it is asked to.
    pub fn video() -> Self {
        Self {
            status: Some(200),
            player: Some(FakePlayer::default()),
        }
    }

    /// Returns a page whose video does not play by itself.
    pub fn stubborn() -> Self {
        Self {
            status: Some(200),
            player: Some(FakePlayer {
                obeys: false,
                ..FakePlayer::default()
            }),
        }
    }

    /// Returns a page of an error.
    pub fn error(status: u16) -> Self {
        Self {
            status: Some(status),
            player: None,
        }
    }
}

impl Default for FakePlayer {
    fn default() -> Self {
        Self {
            obeys: true,
            fills_screen: false,
            is_frozen: false,
            is_paused: true,
            is_ended: false,
            began_at: None,
        }
    }
}

impl FakePlayer {
    fn follow(&mut self, wish: PlayerWish) -> PlayerState {
        match wish {
            PlayerWish::Play if self.obeys => self.is_paused = false,
            PlayerWish::FillScreen if self.obeys => self.fills_screen = true,
            PlayerWish::Stop => (self.is_paused, self.fills_screen) = (true, false),
            PlayerWish::Look | PlayerWish::Play | PlayerWish::FillScreen => {}
        }
        if !self.is_paused && self.began_at.is_none() {
            self.began_at = Some(Instant::now());
        }
        let played = self.began_at.filter(|_| !self.is_frozen);
        let played = played.map(|at| at.elapsed().as_millis());
        let position_ms = u64::try_from(played.unwrap_or_default()).unwrap_or(u64::MAX);
        PlayerState {
            has_picture: true,
            is_paused: self.is_paused,
            is_ended: self.is_ended,
            is_muted: false,
            fills_screen: self.fills_screen,
            is_waiting: false,
            is_broken: false,
            position_ms,
            duration_ms: None,
            n_frames: position_ms / 40,
        }
    }
}
