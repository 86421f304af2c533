//! The page of the web client: its controls and notices by their names, and the state that they show.
//!
//! The names are Discord's English ones. If Discord changes a name, this is the place to change.

use deskhand_core::browser::{ElementRef, page_elements};
use deskhand_jamie::ErrorCode;

use crate::fault::Fault;

/// A control of the web client. Names are in lower case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Control {
    roles: &'static [&'static str],
    names: &'static [&'static str],
}

const PRESSED: &[&str] = &["button", "link", "clickable", "menuitem", "switch"];
const TYPED: &[&str] = &["textbox"];

pub(super) const EMAIL: Control = Control {
    roles: TYPED,
    names: &["email or phone number", "email", "e-mail"],
};
pub(super) const PASSWORD: Control = Control {
    roles: TYPED,
    names: &["password"],
};
pub(super) const LOG_IN: Control = Control {
    roles: PRESSED,
    names: &["log in", "login"],
};
/// Leaves the page that offers a program for the desktop.
pub(super) const CONTINUE: Control = Control {
    roles: PRESSED,
    names: &["continue in browser", "open discord in your browser"],
};
pub(super) const JOIN: Control = Control {
    roles: PRESSED,
    names: &["join voice", "join call"],
};
pub(super) const DISCONNECT: Control = Control {
    roles: PRESSED,
    names: &["disconnect", "leave call"],
};
pub(super) const SHARE: Control = Control {
    roles: PRESSED,
    names: &["share your screen", "share screen"],
};
pub(super) const STOP_SHARING: Control = Control {
    roles: PRESSED,
    names: &["stop streaming", "stop sharing"],
};
/// Is there on every page of somebody who is signed in.
const USER_SETTINGS: Control = Control {
    roles: PRESSED,
    names: &["user settings"],
};

/// The words of notices, in lower case. Earlier ones count before later ones.
const NOTICES: &[(ClientView, &[&str])] = &[
    (
        ClientView::Captcha,
        &["captcha", "are you human", "i am human"],
    ),
    (
        ClientView::SecondFactor,
        &[
            "two-factor",
            "multi-factor",
            "authentication code",
            "auth code",
            "backup code",
        ],
    ),
    (
        ClientView::WrongPassword,
        &["login or password is invalid", "password is incorrect"],
    ),
    (ClientView::RateLimited, &["being rate limited"]),
    (
        ClientView::Refused,
        &[
            "new login location",
            "account has been disabled",
            "account is suspended",
            "verification required",
        ],
    ),
];
/// The words of a page without the channel.
const NO_CHANNEL: &[&str] = &[
    "channel does not exist",
    "do not have access",
    "don't have access",
    "in a strange place",
];
/// The words of a share that did not begin.
const NOT_SHARED: &[&str] = &["could not share", "screen share failed", "sharing failed"];
/// The words in the names of frames and boxes in which a CAPTCHA is shown to somebody who is signed in.
const CAPTCHA_NAMES: &[&str] = &["captcha", "i am human"];

/// The state of the web client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientView {
    /// Nothing that is known is shown, or not yet.
    Unknown,
    Form,
    Captcha,
    SecondFactor,
    WrongPassword,
    RateLimited,
    /// The account may not sign in for another reason.
    Refused,
    NoChannel,
    SignedIn,
}

impl ClientView {
    /// Returns the error of a sign-in that ends with this view.
    pub(super) fn fault(self) -> Fault {
        let (code, message) = match self {
            Self::Captcha => (
                ErrorCode::Captcha,
                "Discord wants a person to prove that they are one",
            ),
            Self::SecondFactor => (
                ErrorCode::TwoFactorRequired,
                "the account asks for a second factor",
            ),
            Self::WrongPassword => (
                ErrorCode::InvalidCreds,
                "Discord does not accept the account's e-mail or password",
            ),
            Self::RateLimited => return ErrorCode::DiscordRateLimit.into(),
            Self::Refused => (
                ErrorCode::LoginFailed,
                "Discord does not let the account sign in",
            ),
            Self::NoChannel => (
                ErrorCode::ChannelNotFound,
                "the account cannot see the voice channel",
            ),
            Self::Unknown | Self::Form | Self::SignedIn => {
                (ErrorCode::LoginFailed, "the sign-in did not come to an end")
            }
        };
        Fault::new(code, message)
    }
}

/// An element of the page.
#[derive(Debug, PartialEq, Eq)]
struct PageControl {
    role: String,
    name: String,
    reference: ElementRef,
    is_disabled: bool,
}

/// A reading of the web client's page.
#[derive(Debug, Default)]
pub(super) struct ClientPage {
    pub(super) url: String,
    /// The whole text, in lower case.
    text: String,
    controls: Vec<PageControl>,
}

impl ClientPage {
    /// Reads the text of a page, in which elements have references.
    pub(super) fn read(url: &str, text: &str) -> Self {
        let elements = page_elements(text).into_iter();
        let controls = elements.map(|element| {
            let before = text[element.place.start + 1..element.at.start].trim();
            let after = &text[element.at.end..element.place.end];
            let (role, name) = before.split_once(' ').unwrap_or((before, ""));
            // A link has no role.
            let is_role = PRESSED
                .iter()
                .chain(TYPED)
                .chain(&["frame", "checkbox"])
                .any(|known| *known == role);
            let (role, name) = if is_role {
                (role, name)
            } else {
                ("link", before)
            };
            PageControl {
                role: role.to_owned(),
                name: plain_name(name),
                reference: element.reference,
                is_disabled: after.contains(" disabled"),
            }
        });
        Self {
            url: url.to_owned(),
            controls: controls.collect(),
            text: text.to_lowercase(),
        }
    }

    /// Returns the first usable control of this kind.
    pub(super) fn find(&self, wanted: Control) -> Option<ElementRef> {
        let mut controls = self.controls.iter();
        let found = controls.find(|control| {
            wanted.roles.contains(&&*control.role)
                && wanted.names.contains(&&*control.name)
                && !control.is_disabled
        });
        found.map(|control| control.reference)
    }

    pub(super) fn has(&self, wanted: Control) -> bool {
        self.find(wanted).is_some()
    }

    /// Returns the state that the page shows.
    ///
    /// Notices count only while nobody is signed in: later, the page shows texts of other people, who may write
    /// anything.
    pub(super) fn view(&self) -> ClientView {
        let is_challenged = self.controls.iter().any(|control| {
            let is_box = matches!(&*control.role, "frame" | "checkbox");
            is_box && contains_any(&control.name, CAPTCHA_NAMES)
        });
        if is_challenged {
            return ClientView::Captcha;
        }
        if contains_any(&self.text, NO_CHANNEL) && !self.has(JOIN) && !self.has(DISCONNECT) {
            return ClientView::NoChannel;
        }
        if [JOIN, DISCONNECT, USER_SETTINGS]
            .into_iter()
            .any(|control| self.has(control))
        {
            return ClientView::SignedIn;
        }
        let mut notices = NOTICES.iter();
        let notice = notices.find(|(_, words)| contains_any(&self.text, words));
        if let Some((view, _)) = notice {
            return *view;
        }
        match self.has(EMAIL) && self.has(PASSWORD) {
            true => ClientView::Form,
            false => ClientView::Unknown,
        }
    }

    /// Returns true if the account is in the voice channel.
    pub(super) fn is_joined(&self) -> bool {
        self.has(DISCONNECT) && !self.has(JOIN)
    }

    /// Returns true if the page says that nothing is shared.
    pub(super) fn is_share_refused(&self) -> bool {
        contains_any(&self.text, NOT_SHARED)
    }
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Returns a name without its quotes and the mark of a field that must be filled in, in lower case.
fn plain_name(name: &str) -> String {
    let unquoted = serde_json::from_str::<String>(name);
    let name = unquoted.unwrap_or_else(|_plain| name.to_owned());
    name.trim_end_matches(['*', ' ']).to_lowercase()
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
