//! Synthetic addresses that represent names.
//!
//! A program that resolves a name gets an address that is meaningless outside this sandbox. When it connects to that
//! address, the runner sends the name to the server. Policies can therefore use names, and only the server chooses the
//! real address.

use std::{
    collections::{BTreeMap, HashMap},
    net::Ipv4Addr,
    sync::Arc,
};

use deskhand_runner_protocol::network::{FIRST_NAME_ADDRESS, LAST_NAME_ADDRESS};

/// The most names that have an address at the same time. The least recently used one makes room for another.
const MOST_NAMES: usize = 8_192;

/// The names with their addresses.
#[derive(Debug, Default)]
pub(super) struct Names {
    addresses: HashMap<Arc<str>, Ipv4Addr>,
    entries: HashMap<Ipv4Addr, Entry>,
    /// The entries in the order of their last use.
    by_use: BTreeMap<u64, Ipv4Addr>,
    n_uses: u64,
    /// The number of addresses that were assigned so far. An address is reused as late as possible.
    n_given: u32,
}

#[derive(Debug)]
struct Entry {
    name: Arc<str>,
    last_use: u64,
}

impl Names {
    /// Returns true if this address is in the range for names.
    pub(super) fn covers(address: Ipv4Addr) -> bool {
        (FIRST_NAME_ADDRESS..=LAST_NAME_ADDRESS).contains(&address)
    }

    /// Returns the address for a name. It stays the same while it is in use.
    pub(super) fn address_of(&mut self, name: &str) -> Ipv4Addr {
        if let Some(address) = self.addresses.get(name).copied() {
            self.touch(address);
            return address;
        }
        if self.entries.len() >= MOST_NAMES {
            self.forget_oldest();
        }
        let address = self.free_address();
        let name: Arc<str> = name.into();
        self.addresses.insert(Arc::clone(&name), address);
        let last_use = self.next_use();
        self.entries.insert(address, Entry { name, last_use });
        self.by_use.insert(last_use, address);
        address
    }

    /// Returns the name that the address represents.
    pub(super) fn name_of(&mut self, address: Ipv4Addr) -> Option<Arc<str>> {
        self.touch(address);
        let entry = self.entries.get(&address)?;
        Some(Arc::clone(&entry.name))
    }

    fn touch(&mut self, address: Ipv4Addr) {
        let now = self.next_use();
        if let Some(entry) = self.entries.get_mut(&address) {
            self.by_use.remove(&entry.last_use);
            entry.last_use = now;
            self.by_use.insert(now, address);
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, address)) = self.by_use.pop_first()
            && let Some(entry) = self.entries.remove(&address)
        {
            self.addresses.remove(&entry.name);
        }
    }

    /// Returns the next free address. There are many more addresses than names.
    fn free_address(&mut self) -> Ipv4Addr {
        let first = u32::from(FIRST_NAME_ADDRESS);
        let n_addresses = u32::from(LAST_NAME_ADDRESS) - first + 1;
        loop {
            let address = Ipv4Addr::from(first + self.n_given % n_addresses);
            self.n_given = self.n_given.wrapping_add(1);
            if !self.entries.contains_key(&address) {
                return address;
            }
        }
    }

    fn next_use(&mut self) -> u64 {
        self.n_uses += 1;
        self.n_uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_address_while_it_is_used() {
        let mut names = Names::default();
        let first = names.address_of("first.example");
        assert_eq!(names.address_of("first.example"), first);
        assert_ne!(names.address_of("second.example"), first);
        for n in 0..MOST_NAMES * 3 {
            names.address_of(&format!("{n}.example"));
            assert_eq!(names.name_of(first).as_deref(), Some("first.example"));
        }
        assert_eq!(names.entries.len(), MOST_NAMES);
        assert_eq!(names.addresses.len(), MOST_NAMES);
        assert_eq!(names.by_use.len(), MOST_NAMES);
    }

    #[test]
    fn an_address_is_not_reused_soon() {
        let mut names = Names::default();
        let first = names.address_of("first.example");
        for n in 0..MOST_NAMES * 2 {
            assert_ne!(names.address_of(&format!("{n}.example")), first);
        }
        assert_eq!(names.name_of(first), None);
        assert!(Names::covers(first));
        assert!(!Names::covers(Ipv4Addr::new(198, 18, 0, 1)));
        assert!(!Names::covers(Ipv4Addr::new(10, 0, 0, 1)));
    }
}
