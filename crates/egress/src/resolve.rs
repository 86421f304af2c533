//! Resolves names.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, ToSocketAddrs},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tokio::sync::Semaphore;

/// The most addresses of one name that are considered.
pub(crate) const MOST_ADDRESSES: usize = 16;
/// The most concurrent lookups. Each takes a thread of the pool that also does file I/O.
const MOST_LOOKUPS: usize = 64;
/// The time for which an answer is cached. A program resolves a name and connects to it, often several times at once.
const CACHE_TIME: Duration = Duration::from_secs(5);
/// The most answers that are kept.
const MOST_CACHED: usize = 1000;

/// Finds the addresses of names.
#[async_trait]
pub trait NameResolver: Send + Sync + std::fmt::Debug {
    /// Returns the addresses of a name, best first. The list is empty if it has none.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of this machine, with a cache of a few seconds.
#[derive(Debug)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
    cache: Mutex<HashMap<String, CachedAnswer>>,
    look_up: fn(&str) -> io::Result<Vec<IpAddr>>,
}

#[derive(Debug)]
struct CachedAnswer {
    found: Vec<IpAddr>,
    at: Instant,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self {
            lookups: Arc::new(Semaphore::new(MOST_LOOKUPS)),
            cache: Mutex::default(),
            look_up: ask_system,
        }
    }
}

#[async_trait]
impl NameResolver for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        if let Some(found) = self.cached(name) {
            return Ok(found);
        }
        let permit = Arc::clone(&self.lookups).acquire_owned().await;
        let permit = permit.map_err(io::Error::other)?;
        let (look_up, wanted) = (self.look_up, name.to_owned());
        let looking = tokio::task::spawn_blocking(move || {
            // The thread continues after its caller is gone, so it owns the permit.
            let _permit = permit;
            look_up(&wanted)
        });
        let found = looking.await.map_err(io::Error::other)??;
        self.keep(name, &found);
        Ok(found)
    }
}

impl SystemResolver {
    fn cached(&self, name: &str) -> Option<Vec<IpAddr>> {
        let cache = self.cache();
        let cached = cache.get(name)?;
        (cached.at.elapsed() < CACHE_TIME).then(|| cached.found.clone())
    }

    fn keep(&self, name: &str, found: &[IpAddr]) {
        let mut cache = self.cache();
        if cache.len() >= MOST_CACHED {
            cache.retain(|_, cached| cached.at.elapsed() < CACHE_TIME);
        }
        if cache.len() < MOST_CACHED {
            let found = found.to_vec();
            let at = Instant::now();
            cache.insert(name.to_owned(), CachedAnswer { found, at });
        }
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<String, CachedAnswer>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the resolver of this machine, and waits for its answer.
fn ask_system(name: &str) -> io::Result<Vec<IpAddr>> {
    // The trailing dot keeps this machine's search domains from being applied.
    match (format!("{name}."), 0).to_socket_addrs() {
        Ok(found) => Ok(found
            .map(|address| address.ip())
            .take(MOST_ADDRESSES)
            .collect()),
        // The standard library has no error kind for this, so its text is matched.
        Err(error) if is_not_found(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn is_not_found(error: &io::Error) -> bool {
    let text = error.to_string();
    ["not known", "No address associated", "NODATA"]
        .iter()
        .any(|part| text.contains(part))
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, atomic::AtomicUsize, atomic::Ordering};

    use futures::{FutureExt, StreamExt, stream::FuturesUnordered};

    use super::*;

    /// The number of threads that look names up, and the gate at which they wait.
    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    static GATE: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
    static ASKED: AtomicUsize = AtomicUsize::new(0);

    fn waits_at_the_gate(_: &str) -> io::Result<Vec<IpAddr>> {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        let opened = GATE.0.lock().unwrap();
        drop(GATE.1.wait_while(opened, |opened| !*opened).unwrap());
        RUNNING.fetch_sub(1, Ordering::SeqCst);
        Ok(Vec::new())
    }

    #[tokio::test]
    async fn abandoned_lookups_hold_their_permits() {
        let resolver = SystemResolver {
            look_up: waits_at_the_gate,
            ..SystemResolver::default()
        };
        // Each starts, and its caller gives up.
        for n in 0..MOST_LOOKUPS + 20 {
            let name = format!("{n}.example");
            assert_eq!(resolver.resolve(&name).now_or_never().map(|_| ()), None);
        }
        while RUNNING.load(Ordering::SeqCst) < MOST_LOOKUPS {
            tokio::task::yield_now().await;
        }
        assert_eq!(resolver.lookups.available_permits(), 0);
        // Other work still finds a thread.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        assert_eq!(RUNNING.load(Ordering::SeqCst), MOST_LOOKUPS);
        *GATE.0.lock().unwrap() = true;
        GATE.1.notify_all();
        assert_eq!(
            resolver.resolve("later.example").await.unwrap(),
            Vec::<IpAddr>::new()
        );
    }

    #[tokio::test]
    async fn answers_are_cached_briefly() {
        let resolver = SystemResolver {
            look_up: |_| {
                ASKED.fetch_add(1, Ordering::SeqCst);
                Ok(vec![[192, 0, 2, 1].into()])
            },
            ..SystemResolver::default()
        };
        let first = resolver.resolve("a.example").await.unwrap();
        let many: FuturesUnordered<_> = (0..50).map(|_| resolver.resolve("a.example")).collect();
        let all: Vec<_> = many.collect().await;
        assert!(all.iter().all(|found| *found.as_ref().unwrap() == first));
        assert_eq!(ASKED.load(Ordering::SeqCst), 1);
    }
}
