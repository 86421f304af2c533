//! The people who watch sessions by links, in memory. They are known by the name that they give.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_core::id::SessionId;

/// The maximum number of watchers of one session.
const MOST_WATCHERS: usize = 500;
/// The longest name, in characters.
const LONGEST_NAME: usize = 32;
/// The name of those who give none.
const NAMELESS: &str = "Guest";

/// The watchers of all sessions. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Audience(Arc<Mutex<Seats>>);

#[derive(Debug, Default)]
struct Seats {
    taken: HashMap<SessionId, BTreeMap<u64, String>>,
    n_given: u64,
}

/// The seat of one watcher. It is free again on drop.
#[derive(Debug)]
pub(crate) struct Seat {
    audience: Audience,
    session: SessionId,
    number: u64,
}

impl Audience {
    /// Gives a watcher a seat, unless all are taken.
    pub(crate) fn sit_down(&self, session: SessionId, name: Option<&str>) -> Option<Seat> {
        let mut seats = self.lock();
        let number = seats.n_given;
        let watchers = seats.taken.entry(session).or_default();
        if watchers.len() >= MOST_WATCHERS {
            return None;
        }
        watchers.insert(number, shown_name(name));
        seats.n_given += 1;
        drop(seats);
        Some(Seat {
            audience: self.clone(),
            session,
            number,
        })
    }

    /// Returns the names of a session's watchers, in the order in which they came.
    pub(crate) fn names(&self, session: SessionId) -> Vec<String> {
        let seats = self.lock();
        let watchers = seats.taken.get(&session);
        watchers
            .map(|watchers| watchers.values().cloned().collect())
            .unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Seats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.audience.lock();
        if let Some(watchers) = seats.taken.get_mut(&self.session) {
            watchers.remove(&self.number);
            if watchers.is_empty() {
                seats.taken.remove(&self.session);
            }
        }
    }
}

/// Returns a name as others see it: short, on one line, and never empty.
fn shown_name(given: Option<&str>) -> String {
    let words = given.unwrap_or_default().split_whitespace();
    let name = words.collect::<Vec<_>>().join(" ");
    let plain = name.chars().filter(|letter| !is_hidden(*letter));
    let name: String = plain.take(LONGEST_NAME).collect();
    let name = name.trim();
    if name.is_empty() { NAMELESS } else { name }.to_owned()
}

/// Returns true for characters that are not seen, or turn the text around them.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_taken_until_it_is_dropped() {
        let (audience, session) = (Audience::default(), SessionId::new());
        let ada = audience.sit_down(session, Some("Ada")).unwrap();
        let guest = audience.sit_down(session, None).unwrap();
        assert_eq!(audience.names(session), ["Ada", "Guest"]);
        assert_eq!(audience.names(SessionId::new()), [""; 0]);
        drop(ada);
        assert_eq!(audience.names(session), ["Guest"]);
        drop(guest);
        assert!(audience.lock().taken.is_empty());
    }

    #[test]
    fn the_number_of_seats_has_a_bound() {
        let (audience, session) = (Audience::default(), SessionId::new());
        let sit_down = |_| audience.sit_down(session, None).unwrap();
        let mut seats: Vec<_> = (0..MOST_WATCHERS).map(sit_down).collect();
        assert!(audience.sit_down(session, None).is_none());
        seats.pop();
        assert!(audience.sit_down(session, None).is_some());
    }

    #[test]
    fn names_are_short_and_plain() {
        assert_eq!(shown_name(Some("  Grace \n Hopper ")), "Grace Hopper");
        assert_eq!(shown_name(Some("\u{202e}eve\u{7}")), "eve");
        assert_eq!(shown_name(Some(" \u{200b} ")), "Guest");
        assert_eq!(shown_name(Some(&"x".repeat(99))).len(), LONGEST_NAME);
    }
}
