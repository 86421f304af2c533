//! Kinds of IP addresses: those of the public internet, and all others.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// All addresses with the same first bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IpRange {
    /// The bits after the first `n_bits` are zero.
    first: IpAddr,
    n_bits: u8,
}

/// The reason why a text is not a range of addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a range of addresses such as 10.0.0.0/8")]
pub struct BadRange(String);

/// The IPv4 addresses that are not on the public internet, from IANA's registry of special-purpose addresses.
const NOT_PUBLIC_V4: &[(Ipv4Addr, u8)] = &[
    // This network.
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    // Private.
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Behind a carrier's NAT. Some clouds have their metadata here.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // Loopback.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local, with the metadata of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // Private.
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    // Protocol assignments.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // 6to4 relays.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    // Private.
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Benchmarks. Sandboxes have their synthetic addresses here.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    // Documentation.
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, reserved and broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// The metadata of Azure's machines, on an address that looks public.
const AZURE_METADATA: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// The IPv6 addresses that are assigned to the public internet.
const GLOBAL_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Parts of [`GLOBAL_V6`] that are not on the public internet, or that embed an IPv4 address.
const NOT_PUBLIC_V6: &[(Ipv6Addr, u8)] = &[
    // Protocol assignments, with Teredo and ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation.
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    // Documentation.
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Returns true if an address is on the public internet.
///
/// IPv6 addresses that embed an IPv4 address never are: mapped, compatible, NAT64, 6to4 and Teredo. An IPv4 address is
/// therefore judged only as IPv4.
pub fn is_public(address: IpAddr) -> bool {
    let within = |(first, n_bits): &(Ipv4Addr, u8), address| {
        IpRange::new(IpAddr::V4(*first), *n_bits).contains(IpAddr::V4(address))
    };
    let within_v6 = |(first, n_bits): &(Ipv6Addr, u8), address| {
        IpRange::new(IpAddr::V6(*first), *n_bits).contains(IpAddr::V6(address))
    };
    match address {
        IpAddr::V4(address) => {
            address != AZURE_METADATA && !NOT_PUBLIC_V4.iter().any(|range| within(range, address))
        }
        IpAddr::V6(address) => {
            within_v6(&GLOBAL_V6, address)
                && !NOT_PUBLIC_V6.iter().any(|range| within_v6(range, address))
        }
    }
}

impl IpRange {
    /// Returns the range of all addresses that have the first `n_bits` of `address`.
    pub fn new(address: IpAddr, n_bits: u8) -> Self {
        let first = match address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(n_bits.min(32)));
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask.unwrap_or(0)))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(n_bits.min(128)));
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask.unwrap_or(0)))
            }
        };
        Self {
            first,
            n_bits: n_bits.min(longest(address)),
        }
    }

    /// Returns the range of this one address.
    pub fn only(address: IpAddr) -> Self {
        Self::new(address, longest(address))
    }

    pub fn contains(self, address: IpAddr) -> bool {
        self.first.is_ipv4() == address.is_ipv4() && Self::new(address, self.n_bits) == self
    }

    /// Returns true if it has one address.
    pub fn is_single(self) -> bool {
        self.n_bits == longest(self.first)
    }
}

/// Returns the number of bits of such an address.
fn longest(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl FromStr for IpRange {
    type Err = BadRange;

    /// Parses `10.0.0.0/8`, `10.1.2.3` or `2001:db8::/32`.
    fn from_str(text: &str) -> Result<Self, BadRange> {
        let bad = || BadRange(text.to_owned());
        let (address, n_bits) = match text.split_once('/') {
            Some((address, n_bits)) => (address, Some(n_bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_not_an_address| bad())?;
        let Some(n_bits) = n_bits else {
            return Ok(Self::only(address));
        };
        let is_plain = n_bits.bytes().all(|byte| byte.is_ascii_digit());
        let n_bits: Option<u8> = n_bits.parse().ok().filter(|_| is_plain);
        let n_bits = n_bits.filter(|n_bits| *n_bits <= longest(address));
        Ok(Self::new(address, n_bits.ok_or_else(bad)?))
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_single() {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}/{}", self.first, self.n_bits)
        }
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
