//! The file descriptors of the server: half of them are for connections to it, a quarter for connections of sandboxes to
//! the network, and the rest for files, the database and the sandboxes themselves.

use deskhand_server::ConnectionLimits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The maximum limit that the server sets. Sandboxes inherit it, and some programs iterate over all possible descriptors.
const MOST_WANTED: u64 = 65_536;
/// The maximum number of connections of all sandboxes to the network.
const MOST_SANDBOX_CONNECTIONS: u64 = 4096;
/// The descriptors of one such connection: one to the runner and one to the host.
const PER_SANDBOX_CONNECTION: u64 = 2;

/// Raises the limit of this process as far as allowed, and returns it.
pub(crate) fn raise() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let now = limit.current.unwrap_or(u64::MAX);
    let wanted = limit.maximum.unwrap_or(u64::MAX).min(MOST_WANTED);
    if now >= wanted {
        return now;
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => wanted,
        Err(error) => {
            tracing::warn!(%error, "could not raise the limit of file descriptors");
            now
        }
    }
}

/// Limits the connections to the server to half of the descriptors. Some connections need two, such as a watched screen.
pub(crate) fn for_http(n_descriptors: u64, limits: ConnectionLimits) -> ConnectionLimits {
    let most = usize::try_from(n_descriptors / 2).unwrap_or(usize::MAX);
    if limits.total <= most {
        return limits;
    }
    tracing::warn!(
        connections.total = limits.total,
        connections.possible = most,
        "there are too few file descriptors for all connections; raise the limit (`ulimit -Hn`, or LimitNOFILE of the \
         service) or lower connections.total"
    );
    ConnectionLimits {
        total: most,
        ..limits
    }
}

/// Returns the number of connections that sandboxes may have to the network.
pub(crate) fn for_sandboxes(n_descriptors: u64) -> usize {
    let most = n_descriptors / 4 / PER_SANDBOX_CONNECTION;
    usize::try_from(most.clamp(1, MOST_SANDBOX_CONNECTIONS)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_connections_together_leave_a_quarter_of_the_descriptors() {
        for n_descriptors in [64, 1024, 4096, 65_536, u64::MAX] {
            let wanted = ConnectionLimits {
                total: 100_000,
                ..ConnectionLimits::NONE
            };
            let http = u64::try_from(for_http(n_descriptors, wanted).total).unwrap();
            let sandboxes = u64::try_from(for_sandboxes(n_descriptors)).unwrap();
            let needed = http + sandboxes * PER_SANDBOX_CONNECTION;
            assert!(needed <= n_descriptors / 4 * 3, "{n_descriptors}: {needed}");
        }
        assert_eq!(for_sandboxes(1024), 128);
        assert_eq!(for_sandboxes(65_536), 4096);
    }

    #[test]
    fn the_limit_is_raised_to_what_the_process_may_have() {
        let most = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        let raised = raise();
        assert!(raised >= most.min(MOST_WANTED), "{raised} of {most}");
        assert_eq!(getrlimit(Resource::Nofile).current, Some(raised));
    }
}
