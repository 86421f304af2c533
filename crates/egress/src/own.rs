//! The addresses of the server's own names. Behind NAT or a reverse proxy, they are not addresses of this machine.

use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{sleep, timeout};

use crate::resolve::NameResolver;

/// The time between two lookups of the names.
const LOOK_EVERY: Duration = Duration::from_mins(10);
/// The timeout for one name.
const LOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// The addresses that the server's own names have.
#[derive(Debug)]
pub(crate) struct OwnAddresses {
    names: Vec<String>,
    found: Mutex<Vec<IpAddr>>,
}

impl OwnAddresses {
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self {
            names,
            found: Mutex::default(),
        }
    }

    /// Resolves the names periodically.
    pub(crate) async fn keep(&self, resolver: &dyn NameResolver) {
        loop {
            let mut found = Vec::new();
            for name in &self.names {
                let looked_up = timeout(LOOK_TIMEOUT, resolver.resolve(name)).await;
                found.extend(looked_up.ok().and_then(Result::ok).unwrap_or_default());
            }
            // Keep the previous addresses if no name could be resolved.
            if !found.is_empty() {
                *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.contains(&address)
    }
}
