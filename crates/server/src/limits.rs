//! The bounds on connections.

use crate::address::AddressBlock;

/// The part of all connections that the loopback may have, where proxies connect from.
const LOOPBACK_SHARE: (usize, usize) = (3, 4);

/// The bounds on connections. 0 means no limit.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// The most connections at a time.
    pub total: usize,
    /// The most connections from one address, or from one IPv6 network.
    pub per_address: usize,
    /// The most `WebSocket`s of one user.
    pub sockets_per_user: usize,
}

impl ConnectionLimits {
    /// No limits.
    pub const NONE: Self = Self {
        total: 0,
        per_address: 0,
        sockets_per_user: 0,
    };

    /// Returns the most connections at a time.
    pub(crate) fn most(self) -> usize {
        or_any(self.total)
    }

    /// Returns the most connections of one address.
    pub(crate) fn share(self, of: AddressBlock) -> usize {
        let (part, whole) = LOOPBACK_SHARE;
        if self.per_address == 0 || !of.is_loopback() {
            or_any(self.per_address)
        } else {
            (self.most() / whole * part).max(self.per_address)
        }
    }
}

/// Returns the limit that a number stands for.
pub(crate) fn or_any(limit: usize) -> usize {
    if limit == 0 { usize::MAX } else { limit }
}
