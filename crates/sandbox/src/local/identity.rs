//! The user as which a sandbox's programs run, seen from outside.
//!
//! Inside, they always run as the user `agent`, 1000. Outside, they run as the server's user, unless that is root:
//! a process that is root outside may write `/proc/sys` even without any capability, and one of the files there
//! names a program that the kernel runs as root. So a server that is root starts each session's sandboxes as a user
//! that owns nothing but the session's home. Whoever breaks out of one cannot read another's.

use std::fs;

use deskhand_core::id::SessionId;
use rustix::process::geteuid;

/// The group of all sandboxes if the server is root, and the user of homes that earlier versions made. Neither Debian
/// nor systemd assigns this number.
const SHARED_ID: u32 = 61_103;
/// The first user for sandboxes if the server is root. systemd lists the numbers from here to 2³¹ as unused.
pub(crate) const FIRST_UID: u32 = 1_879_048_192;
/// The number of users for sandboxes. So many that two sessions awake at once hardly ever have the same.
const N_UIDS: u32 = 1 << 27;

/// The user as which the programs of sandboxes run outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The server's own user, which is not root.
    Same,
    /// A user that owns nothing else.
    Other { uid: u32, gid: u32 },
}

impl Identity {
    /// Returns the identity of sandboxes that have no session.
    pub(crate) fn of_sandboxes() -> Self {
        if geteuid().is_root() {
            Self::Other {
                uid: SHARED_ID,
                gid: SHARED_ID,
            }
        } else {
            Self::Same
        }
    }

    /// Returns the identity for a session's sandboxes. `owner` is the user of its home, if there is one already.
    pub(crate) fn of_session(self, session: SessionId, owner: Option<u32>) -> Self {
        let Self::Other { gid, .. } = self else {
            return self;
        };
        let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        let uid = if owner == Some(SHARED_ID) || !has_users(&map) {
            SHARED_ID
        } else {
            uid_of(session)
        };
        Self::Other { uid, gid }
    }
}

/// Returns the session's user. The last bits of its id are random.
fn uid_of(session: SessionId) -> u32 {
    let [.., a, b, c, d] = *session.0.as_bytes();
    FIRST_UID + u32::from_be_bytes([a, b, c, d]) % N_UIDS
}

/// Returns true if the users for sandboxes exist here. A container may have fewer users than the machine.
fn has_users(map: &str) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(first)), Some(Ok(_)), Some(Ok(length))) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            return false;
        };
        first <= FIRST_UID.into() && u64::from(FIRST_UID + N_UIDS) <= first + length
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_has_a_user_of_its_own_and_keeps_it() {
        let root = Identity::Other {
            uid: SHARED_ID,
            gid: SHARED_ID,
        };
        let session = SessionId::new();
        let uid = uid_of(session);
        assert_eq!(uid, uid_of(session));
        assert_ne!(uid, uid_of(SessionId::new()));
        assert!((FIRST_UID..FIRST_UID + N_UIDS).contains(&uid));
        // A home of an earlier version belongs to the user that all sandboxes shared.
        assert_eq!(root.of_session(session, Some(SHARED_ID)), root);
        assert_eq!(Identity::Same.of_session(session, None), Identity::Same);
    }

    #[test]
    fn a_container_may_have_too_few_users() {
        assert!(has_users("         0          0 4294967295\n"));
        assert!(!has_users(
            "         0       1000          1\n         1     100000      65536\n"
        ));
        assert!(!has_users(""));
    }
}
