//! Looks names up on behalf of sessions, and keeps one session from taking every lookup.

use std::{net::IpAddr, sync::Arc, time::Duration};

use deskhand_core::{
    id::SessionId,
    network::{NetworkFailure, shares::Shares},
    tasks::Tasks,
};
use tokio::time::timeout;

use crate::{own::OwnAddresses, resolve::NameResolver};

/// The timeout for resolving a name, with the wait for a place.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);
/// The most lookups of one session at the same time.
const MOST_OF_SESSION: usize = 16;

/// The lookups of all sessions.
#[derive(Debug)]
pub struct Lookups {
    resolver: Arc<dyn NameResolver>,
    own: OwnAddresses,
    shares: Shares<SessionId>,
    tasks: Tasks,
}

impl Lookups {
    /// Looks up with a resolver, on a server with these names.
    pub fn new(resolver: Arc<dyn NameResolver>, own_names: Vec<String>) -> Self {
        Self {
            resolver,
            own: OwnAddresses::new(own_names),
            shares: Shares::new(MOST_OF_SESSION),
            tasks: Tasks::default(),
        }
    }

    /// Looks the server's own names up from time to time.
    pub(crate) async fn keep_own(&self) {
        self.own.keep(&*self.resolver).await;
    }

    /// Returns true if one of the server's own names has this address.
    pub(crate) fn is_own(&self, address: IpAddr) -> bool {
        self.own.contains(address)
    }

    /// Returns the addresses of a name, best first.
    pub(crate) async fn resolve(
        &self,
        session: SessionId,
        name: &str,
    ) -> Result<Vec<IpAddr>, NetworkFailure> {
        let share = self.shares.of(session);
        let resolving = async {
            let place = share.acquire_owned().await.ok()?;
            let (resolver, name) = (Arc::clone(&self.resolver), name.to_owned());
            // A lookup that began goes on when nobody waits any more. Until its end it counts.
            let looking = self.tasks.spawn("lookup", async move {
                let found = resolver.resolve(&name).await;
                drop(place);
                found
            });
            Some(looking.await)
        };
        match timeout(RESOLVE_TIMEOUT, resolving).await {
            Ok(Some(Ok(Ok(found)))) => Ok(found),
            Ok(Some(Ok(Err(error)))) => {
                tracing::debug!(%error, "could not resolve a name for a sandbox");
                Err(NetworkFailure::Resolver)
            }
            // It is late, or the server ends.
            Ok(Some(Err(_)) | None) | Err(_) => Err(NetworkFailure::Resolver),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use async_trait::async_trait;
    use futures::{StreamExt, stream::FuturesUnordered};

    use super::*;

    /// A resolver that answers only about `good.example`.
    #[derive(Debug, Default)]
    struct Silent(AtomicUsize);

    #[async_trait]
    impl NameResolver for Silent {
        async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
            self.0.fetch_add(1, Ordering::SeqCst);
            if name == "good.example" {
                return Ok(vec![[192, 0, 2, 1].into()]);
            }
            std::future::pending().await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_session_does_not_take_the_lookups_of_another() {
        let resolver = Arc::new(Silent::default());
        let lookups = Lookups::new(Arc::clone(&resolver) as Arc<dyn NameResolver>, Vec::new());
        let (greedy, other) = (SessionId::new(), SessionId::new());
        let names: Vec<_> = (0..100).map(|n| format!("{n}.example")).collect();
        let many: FuturesUnordered<_> = names
            .iter()
            .map(|name| lookups.resolve(greedy, name))
            .collect();
        let all: Vec<_> = many.collect().await;
        assert!(all.iter().all(Result::is_err));
        assert_eq!(resolver.0.load(Ordering::SeqCst), MOST_OF_SESSION);
        // Those that were given up are still under way.
        let again = lookups.resolve(greedy, "good.example").await;
        assert_eq!(again, Err(NetworkFailure::Resolver));
        let found = lookups.resolve(other, "good.example").await;
        assert_eq!(found, Ok(vec![[192, 0, 2, 1].into()]));
    }
}
