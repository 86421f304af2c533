//! A web client for voice channels in a fake browser. Tests say how it answers.

use deskhand_core::{
    browser::{ElementRef, PlayerState},
    vault::Origin,
};
use tokio::time::Instant;

/// The numbers of the client's elements.
const EMAIL: u32 = 1;
const PASSWORD: u32 = 2;
const LOG_IN: u32 = 3;
const JOIN: u32 = 4;
const SHARE: u32 = 5;
const STOP: u32 = 6;
const DISCONNECT: u32 = 7;

/// A web client. All browsers of a test see the same one.
#[derive(Debug, Clone)]
pub struct FakeClient {
    /// Its origin, which is the beginning of all its addresses.
    pub origin: Origin,
    /// The text that it shows after the form was sent. Without one, the account is signed in.
    pub notice: Option<String>,
    pub is_signed_in: bool,
    /// False if the account does not see the channel.
    pub has_channel: bool,
    /// False if the channel has no button to join it.
    pub can_join: bool,
    /// False if nothing can be shared.
    pub can_share: bool,
    pub is_joined: bool,
    /// The time since when the page is shared.
    pub shared_at: Option<Instant>,
    /// How often something was shared.
    pub n_shares: usize,
    /// How often the form was sent.
    pub n_sign_ins: usize,
    has_sent: bool,
    is_focused: bool,
}

impl FakeClient {
    /// Returns a client that signs in, joins and shares.
    pub fn new(origin: Origin) -> Self {
        Self {
            origin,
            notice: None,
            is_signed_in: false,
            has_channel: true,
            can_join: true,
            can_share: true,
            is_joined: false,
            shared_at: None,
            n_shares: 0,
            n_sign_ins: 0,
            has_sent: false,
            is_focused: false,
        }
    }

    pub(super) fn is_at(&self, url: &str) -> bool {
        url.starts_with(self.origin.as_str())
    }

    /// Opens a page of the client, which ends everything that the page before did.
    pub(super) fn load(&mut self) {
        (self.is_joined, self.shared_at) = (false, None);
        (self.has_sent, self.is_focused) = (false, false);
    }

    /// Ends the connection to the channel, as a drop does.
    pub fn drop_connection(&mut self) {
        (self.is_joined, self.shared_at) = (false, None);
    }

    /// Returns the origin of the field that has the focus.
    pub(super) fn focus(&self) -> Option<Origin> {
        self.is_focused.then(|| self.origin.clone())
    }

    /// Returns the page as a reading writes it.
    pub(super) fn text(&self) -> String {
        if !self.is_signed_in {
            let notice = self.notice.as_deref().filter(|_| self.has_sent);
            return format!(
                "h1 Welcome back!\n[textbox Email or Phone Number * e{EMAIL}]\n[textbox Password * e{PASSWORD}]\n\
                 [button Log In e{LOG_IN}]\n{}",
                notice.unwrap_or_default()
            );
        }
        let mut lines = vec![
            "h2 Friends".to_owned(),
            "[button User Settings e9]".to_owned(),
        ];
        if !self.has_channel {
            lines.push("You do not have access to this channel.".to_owned());
        } else if !self.is_joined && self.can_join {
            lines.push(format!("[button Join Voice e{JOIN}]"));
        } else if self.is_joined {
            lines.push(match self.shared_at {
                Some(_) => format!("[button Stop Streaming e{STOP}]"),
                None => format!("[button Share Your Screen e{SHARE}]"),
            });
            lines.push(format!("[button Disconnect e{DISCONNECT}]"));
        }
        lines.join("\n")
    }

    pub(super) fn click(&mut self, at: ElementRef) {
        self.is_focused = matches!(at.element, EMAIL | PASSWORD);
        match at.element {
            LOG_IN => {
                self.n_sign_ins += 1;
                self.has_sent = true;
                self.is_signed_in = self.notice.is_none();
            }
            JOIN => self.is_joined = true,
            SHARE if self.can_share => {
                self.n_shares += 1;
                self.shared_at = Some(Instant::now());
            }
            STOP => self.shared_at = None,
            DISCONNECT => self.drop_connection(),
            _ => {}
        }
    }

    /// Returns the preview of what is shared.
    pub(super) fn preview(&self) -> Option<PlayerState> {
        let shown = self.shared_at?.elapsed().as_millis();
        let position_ms = u64::try_from(shown).unwrap_or(u64::MAX);
        Some(PlayerState {
            has_picture: true,
            is_paused: false,
            is_ended: false,
            is_muted: true,
            fills_screen: false,
            is_waiting: false,
            is_broken: false,
            position_ms,
            duration_ms: None,
            n_frames: position_ms / 40,
        })
    }
}
