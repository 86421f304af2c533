//! Signing in and out: links, and the browsers that are signed in.

use std::time::Duration;

use deskhand_core::{
    audit::Requester,
    id::{SignInId, UserId},
    secret::Secret,
    user::Browser,
};
use deskhand_store::{CodeReason, NewCode, NewSignIn, StoreError, sign_in_id};
use jiff::Timestamp;

use super::users::{Credential, Users, hash, random};
use crate::{InternalError, refusal::refusals, signals::Topic};

/// The time for which a sign-in link is valid.
const CODE_LIFE: Duration = Duration::from_mins(10);
/// The same for a link that has to be passed on first.
pub(super) const INVITATION_LIFE: Duration = Duration::from_hours(24);
/// The time for which a browser stays signed in.
const LOGIN_LIFE: Duration = Duration::from_hours(30 * 24);
/// The time after which a browser that is not used is signed out.
pub(super) const IDLE_LIFE: Duration = Duration::from_hours(14 * 24);
/// The longest name of a browser that is stored, in characters.
const LONGEST_BROWSER: usize = 200;

/// A request to sign a browser in.
#[derive(Debug)]
pub struct SignInRequest<'a> {
    pub code: &'a Secret,
    /// The cookie that the browser has already.
    pub cookie: Option<&'a Secret>,
    /// True if the code may sign in another user than the cookie's.
    pub replaces_user: bool,
    /// The name that the browser gives itself.
    pub browser: Option<&'a str>,
    /// The address that the request came from. No user is known yet.
    pub by: Requester,
}

/// A browser that was signed in.
#[derive(Debug)]
pub struct SignIn {
    pub user: UserId,
    /// The value of the browser's cookie.
    pub cookie: Secret,
    pub life: Duration,
}

/// A browser in which a user is signed in.
#[derive(Debug)]
pub struct SignedInBrowser {
    pub browser: Browser,
    /// True if it is the one that asks.
    pub is_current: bool,
}

/// The reason why a sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    #[error("this sign-in link was already used or has expired; `deskhand login` prints a new one")]
    BadCode,
    #[error(
        "this browser is signed in as {current:?}, and the link is for {new:?}; to sign in as {new:?} instead, \
         repeat with `replace`: true"
    )]
    OtherUser { current: String, new: String },
    #[error("could not sign in")]
    Internal(#[source] InternalError),
}

refusals! {
    SignInError passes on Internal;
    Self::BadCode => SignedOut("bad_code"),
    Self::OtherUser { current, new } => Conflict("other_user", { "current": current, "new": new }),
}

/// The reason why a sign-in was not ended.
#[derive(Debug, thiserror::Error)]
pub enum EndSignInError {
    #[error("you have no sign-in {0}; it may have ended already")]
    NoSignIn(SignInId),
    #[error("could not end the sign-in")]
    Internal(#[source] InternalError),
}

refusals! {
    EndSignInError passes on Internal;
    Self::NoSignIn(_) => NotFound("no_sign_in"),
}

impl Users {
    /// Creates the code of a sign-in link. It is valid once, until the time that is returned with it.
    pub async fn new_sign_in_code(
        &self,
        by: Requester,
        user: UserId,
    ) -> Result<(Secret, Timestamp), InternalError> {
        let reason = CodeReason::Own;
        Ok(self.sign_in_code(by, user, CODE_LIFE, reason).await?)
    }

    pub(super) async fn sign_in_code(
        &self,
        by: Requester,
        user: UserId,
        life: Duration,
        reason: CodeReason,
    ) -> Result<(Secret, Timestamp), StoreError> {
        let code = Secret::new(random());
        let now = self.clock.now();
        let new = NewCode {
            user,
            hash: &hash(&code),
            expires_at: now + life,
            reason,
        };
        let expires_at = new.expires_at;
        self.store.insert_sign_in_code(new, by.at(now)).await?;
        Ok((code, expires_at))
    }

    /// Turns a code into a signed-in browser. The browser's earlier sign-in ends.
    ///
    /// A link that somebody else sent must not sign a person in as that other user unseen, so this is refused until
    /// the person has agreed. The code stays valid then.
    pub async fn sign_in(&self, request: SignInRequest<'_>) -> Result<SignIn, SignInError> {
        let now = self.clock.now();
        let code = hash(request.code);
        let user = self.store.user_of_code(&code, now).await?;
        let user = user.ok_or(SignInError::BadCode)?;
        let before = match request.cookie {
            Some(cookie) => self.signed_in_user(cookie).await,
            None => Ok(None),
        };
        let before = before.map_err(SignInError::Internal)?;
        if let Some(before) = before
            && before != user
            && !request.replaces_user
        {
            return Err(SignInError::OtherUser {
                current: self.name_of(before).await?,
                new: self.name_of(user).await?,
            });
        }
        let cookie = Secret::new(random());
        let (cookie_hash, replaces) = (hash(&cookie), request.cookie.map(hash));
        let browser = request.browser.map(|name| shortened(name, LONGEST_BROWSER));
        let new = NewSignIn {
            hash: &cookie_hash,
            browser: browser.as_deref(),
            expires_at: now + LOGIN_LIFE,
            replaces: replaces.as_deref(),
        };
        let user = self.store.sign_in(&code, new, request.by.at(now)).await?;
        let user = user.ok_or(SignInError::BadCode)?;
        if let Some(before) = before {
            self.signals.send(Topic::Access(before));
        }
        Ok(SignIn {
            user,
            cookie,
            life: LOGIN_LIFE,
        })
    }

    /// Signs a browser out, and closes its open connections.
    pub async fn sign_out(&self, by: Requester, cookie: &Secret) -> Result<(), InternalError> {
        let user = self.signed_in_user(cookie).await?;
        let stamp = by.at(self.clock.now());
        self.store.sign_out(&hash(cookie), stamp).await?;
        if let Some(user) = user {
            self.signals.send(Topic::Access(user));
        }
        Ok(())
    }

    /// Lists the browsers in which a user is signed in, newest first.
    pub async fn browsers(
        &self,
        user: UserId,
        credential: &Credential,
    ) -> Result<Vec<SignedInBrowser>, InternalError> {
        let now = self.clock.now();
        let mut browsers = self.store.browsers(user, now, now - IDLE_LIFE).await?;
        {
            let uses = self.uses.lock();
            let used = uses
                .browsers
                .iter()
                .map(|(hash, at)| (sign_in_id(hash), at));
            for (id, at) in used {
                for browser in browsers.iter_mut().filter(|browser| browser.id == id) {
                    browser.last_used_at = browser.last_used_at.max(Some(*at));
                }
            }
        }
        let current = match credential {
            Credential::Cookie(hash) => Some(sign_in_id(hash)),
            Credential::Token(_) => None,
        };
        let seen = browsers.into_iter().map(|browser| SignedInBrowser {
            is_current: Some(browser.id) == current,
            browser,
        });
        Ok(seen.collect())
    }

    /// Ends one sign-in of a user, and closes its open connections.
    pub async fn end_sign_in(
        &self,
        by: Requester,
        user: UserId,
        id: SignInId,
    ) -> Result<(), EndSignInError> {
        let stamp = by.at(self.clock.now());
        if !self.store.end_sign_in(user, id, stamp).await? {
            return Err(EndSignInError::NoSignIn(id));
        }
        self.signals.send(Topic::Access(user));
        Ok(())
    }

    /// Signs a user out in all browsers, and ends their unused sign-in links. Tokens stay.
    pub async fn sign_out_everywhere(
        &self,
        by: Requester,
        user: UserId,
    ) -> Result<(), InternalError> {
        let stamp = by.at(self.clock.now());
        self.store.end_sign_ins(user, stamp).await?;
        self.signals.send(Topic::Access(user));
        Ok(())
    }

    async fn signed_in_user(&self, cookie: &Secret) -> Result<Option<UserId>, InternalError> {
        let identity = self.identify(&Credential::cookie(cookie)).await?;
        Ok(identity.map(|identity| identity.user))
    }

    async fn name_of(&self, user: UserId) -> Result<String, StoreError> {
        let user = self.store.user(user).await?;
        Ok(user.map(|user| user.name).unwrap_or_default())
    }
}

/// Returns the beginning of a text, without control characters.
fn shortened(text: &str, longest: usize) -> String {
    let shown = text.chars().filter(|letter| !letter.is_control());
    shown.take(longest).collect()
}
