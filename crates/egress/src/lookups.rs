//! Resolves names on behalf of sessions, with a limit per session.

use std::{net::IpAddr, sync::Arc, time::Duration};

use deskhand_core::{
    id::SessionId,
    network::{NetworkFailure, shares::Shares},
    tasks::Tasks,
};
use tokio::time::timeout;

use crate::{own::OwnAddresses, resolve::NameResolver};

/// The timeout for resolving a name, including the wait for a permit.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);
/// The most concurrent lookups of one session.
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

    /// Resolves the server's own names periodically.
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
            // A lookup continues after its caller timed out, and holds its permit until it ends.
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
            // The lookup timed out, or the server is shutting down.
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
        // Lookups that timed out are still running.
        let again = lookups.resolve(greedy, "good.example").await;
        assert_eq!(again, Err(NetworkFailure::Resolver));
        let found = lookups.resolve(other, "good.example").await;
        assert_eq!(found, Ok(vec![[192, 0, 2, 1].into()]));
    }
}
