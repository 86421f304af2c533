//! Rate limits: by token or user, and for attempts to sign in by address.
//!
//! Every authenticated request counts, including the opening of a `WebSocket`. Messages on a `WebSocket` do not
//! count, except subscriptions on the bus.

use std::{hash::Hash, net::IpAddr, num::NonZeroU32, sync::Arc};

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::request::Parts,
};
use deskhand_core::{
    id::{TokenId, UserId},
    user::Identity,
};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock};

use crate::{Settings, Shared, problem::Problem};

/// The number of callers to keep before idle ones are removed.
const MOST_CALLERS: usize = 10_000;

/// The recent request rates of all callers. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Rates {
    callers: Option<Arc<DefaultKeyedRateLimiter<Asker>>>,
    sign_ins: Option<Arc<DefaultKeyedRateLimiter<IpAddr>>>,
}

/// The caller that a request counts for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Asker {
    Token(TokenId),
    /// All browsers of a user count together.
    User(UserId),
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
        let sign_ins = NonZeroU32::new(settings.sign_ins_per_minute)
            .map(|rate| Arc::new(RateLimiter::keyed(Quota::per_minute(rate))));
        Self { callers, sign_ins }
    }

    /// Counts a request. Fails if the caller exceeds the rate limit.
    pub(crate) fn count(&self, identity: &Identity) -> Result<(), Problem> {
        let asker = identity
            .token
            .map_or(Asker::User(identity.user), Asker::Token);
        check(self.callers.as_deref(), &asker)
    }
}

impl FromRequestParts<Shared> for SignInAttempt {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let from = ConnectInfo::<std::net::SocketAddr>::from_request_parts(parts, shared).await;
        // Every connection has an address, so no attempt goes uncounted.
        if let Ok(ConnectInfo(from)) = from {
            check(shared.rates.sign_ins.as_deref(), &from.ip())?;
        }
        Ok(Self)
    }
}

fn check<K: Clone + Eq + Hash>(
    limiter: Option<&DefaultKeyedRateLimiter<K>>,
    key: &K,
) -> Result<(), Problem> {
    let Some(limiter) = limiter else {
        return Ok(());
    };
    if limiter.len() > MOST_CALLERS {
        limiter.retain_recent();
    }
    limiter.check_key(key).map_err(|until| {
        let now = limiter.clock().now();
        Problem::too_fast(until.wait_time_from(now))
    })
}
