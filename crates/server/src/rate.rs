//! Rate limits: by token or user, and for attempts to sign in and wrong tokens by address.
//!
//! Every authenticated request counts, including the opening of a `WebSocket`. Messages on a `WebSocket` do not
//! count, except subscriptions on the bus. Requests to services of sandboxes are counted separately.

use std::{
    convert::Infallible, hash::Hash, net::SocketAddr, num::NonZeroU32, sync::Arc, time::Duration,
};

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::request::Parts,
};
use deskhand_core::{
    id::{TokenId, UserId},
    user::Identity,
};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock};

use crate::{Settings, Shared, address::AddressBlock, problem::Problem};

/// The interval between removals of callers whose rate is zero again.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The recent request rates of all callers. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Rates {
    callers: Option<Arc<DefaultKeyedRateLimiter<Asker>>>,
    sign_ins: Option<Arc<DefaultKeyedRateLimiter<AddressBlock>>>,
    wrong_tokens: Option<Arc<DefaultKeyedRateLimiter<AddressBlock>>>,
}

/// The caller that a request counts for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Asker {
    Token(TokenId),
    /// All browsers of a user count together.
    User(UserId),
    /// Pages of sandboxes in the browsers of a user. They must not use up the limit of the dashboard.
    Apps(UserId),
    /// Everybody who watches by links from an address.
    Watchers(AddressBlock),
}

/// An attempt to sign in that is within the rate limit.
#[derive(Debug)]
pub(crate) struct SignInAttempt;

impl Rates {
    pub(crate) fn new(settings: &Settings) -> Self {
        let callers = NonZeroU32::new(settings.requests_per_second).map(|rate| {
            let at_once = rate.saturating_add(rate.get());
            Arc::new(RateLimiter::keyed(
                Quota::per_second(rate).allow_burst(at_once),
            ))
        });
        let by_address = |per_minute| {
            let rate = NonZeroU32::new(per_minute)?;
            Some(Arc::new(RateLimiter::keyed(Quota::per_minute(rate))))
        };
        Self {
            callers,
            sign_ins: by_address(settings.sign_ins_per_minute),
            wrong_tokens: by_address(settings.wrong_tokens_per_minute),
        }
    }

    /// Counts a request. Fails if the caller exceeds the rate limit.
    pub(crate) fn count(&self, identity: &Identity) -> Result<(), Problem> {
        let asker = identity
            .token
            .map_or(Asker::User(identity.user), Asker::Token);
        check(self.callers.as_deref(), &asker)
    }

    /// Counts a request of a user to a service of a sandbox.
    pub(crate) fn count_app(&self, user: UserId) -> Result<(), Problem> {
        check(self.callers.as_deref(), &Asker::Apps(user))
    }

    /// Counts a request of somebody who watches by a link.
    pub(crate) fn count_watcher(&self, parts: &Parts) -> Result<(), Problem> {
        check(self.callers.as_deref(), &Asker::Watchers(address(parts)))
    }

    /// Counts a request whose token or cookie is not valid. Fails if there are too many from its address.
    ///
    /// Requests with a valid one are not held up: everybody may come from the address of one proxy.
    pub(crate) fn count_wrong_token(&self, parts: &Parts) -> Result<(), Problem> {
        check(self.wrong_tokens.as_deref(), &address(parts))
    }

    /// Removes idle callers from time to time, so that their number has a bound.
    pub(crate) async fn keep_small(&self) -> Infallible {
        let mut sweep = tokio::time::interval(SWEEP_INTERVAL);
        loop {
            sweep.tick().await;
            self.sweep();
        }
    }

    fn sweep(&self) {
        if let Some(callers) = &self.callers {
            callers.retain_recent();
            callers.shrink_to_fit();
        }
        for addresses in [&self.sign_ins, &self.wrong_tokens].into_iter().flatten() {
            addresses.retain_recent();
            addresses.shrink_to_fit();
        }
    }
}

impl FromRequestParts<Shared> for SignInAttempt {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        check(shared.rates.sign_ins.as_deref(), &address(parts))?;
        Ok(Self)
    }
}

/// Returns the address that a request comes from.
fn address(parts: &Parts) -> AddressBlock {
    let from = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    // Every connection has an address. Without one, all would count together.
    let from = from.map_or(std::net::Ipv4Addr::UNSPECIFIED.into(), |from| from.0.ip());
    AddressBlock::of(from)
}

fn check<K: Clone + Eq + Hash>(
    limiter: Option<&DefaultKeyedRateLimiter<K>>,
    key: &K,
) -> Result<(), Problem> {
    let Some(limiter) = limiter else {
        return Ok(());
    };
    limiter.check_key(key).map_err(|until| {
        let now = limiter.clock().now();
        Problem::too_fast(until.wait_time_from(now))
    })
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
