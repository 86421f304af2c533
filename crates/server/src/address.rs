//! The part of an address that counts as one client.

use std::net::{IpAddr, Ipv6Addr};

/// The bits of an IPv6 address that a provider gives to one customer.
const CUSTOMER_BITS: u32 = 64;

/// An IPv4 address, or all IPv6 addresses of one network.
///
/// Everybody with IPv6 has at least 2^64 addresses, so they must not count one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AddressBlock(IpAddr);

impl AddressBlock {
    pub(crate) fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> CUSTOMER_BITS << CUSTOMER_BITS;
                // The loopback is one address, and not the network of zeros.
                if address.is_loopback() {
                    address.into()
                } else {
                    Ipv6Addr::from_bits(network).into()
                }
            }
            address @ IpAddr::V4(_) => address,
        })
    }

    pub(crate) fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_customer_count_as_one() {
        let block = |address: &str| AddressBlock::of(address.parse().unwrap());
        assert_eq!(block("2001:db8:1:2::3"), block("2001:db8:1:2:ffff:ffff::"));
        assert_ne!(block("2001:db8:1:2::3"), block("2001:db8:1:3::3"));
        assert_ne!(block("192.0.2.1"), block("192.0.2.2"));
        assert_eq!(block("::ffff:192.0.2.1"), block("192.0.2.1"));
        assert!(block("::1").is_loopback() && block("127.0.0.2").is_loopback());
        assert!(!block("::2").is_loopback());
    }
}
