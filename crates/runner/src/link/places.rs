//! Limits the number of open streams.
//!
//! Screens, sound, video and terminals have a separate limit, so that requests to programs cannot shut people out. One
//! actor can take at most half of the places of a kind.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_core::sandbox::{Actor, StreamTarget};

/// The most screens, terminals and streams of sound and video that may be open at the same time.
const MOST_WATCHED: usize = 128;
/// The most connections to programs, and files, that may be open at the same time.
const MOST_SERVED: usize = 256;

/// The places of all streams. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamPlaces(Arc<Mutex<HashMap<(StreamKind, Actor), usize>>>);

/// The place of one stream. It is free again on drop.
#[derive(Debug)]
pub(super) struct StreamPlace {
    places: StreamPlaces,
    kind: StreamKind,
    actor: Actor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum StreamKind {
    Watched,
    Served,
}

/// The error if no place is left for an actor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoPlace {
    pub(super) n_open: usize,
}

impl StreamPlaces {
    pub(super) fn take(&self, target: StreamTarget, actor: Actor) -> Result<StreamPlace, NoPlace> {
        let kind = StreamKind::of(target);
        let mut taken = self.taken();
        let of_kind = taken.iter().filter(|((taken, _), _)| *taken == kind);
        let n_all: usize = of_kind.map(|(_, n_open)| n_open).sum();
        let n_own = taken.get(&(kind, actor)).copied().unwrap_or_default();
        for (n_open, most) in [(n_all, kind.most()), (n_own, kind.most() / 2)] {
            if n_open >= most {
                return Err(NoPlace { n_open });
            }
        }
        taken.insert((kind, actor), n_own + 1);
        drop(taken);
        Ok(StreamPlace {
            places: self.clone(),
            kind,
            actor,
        })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<(StreamKind, Actor), usize>> {
        // No code under this lock panics halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        let key = (self.kind, self.actor);
        match taken.get_mut(&key) {
            Some(n_open) if *n_open > 1 => *n_open -= 1,
            Some(_) | None => drop(taken.remove(&key)),
        }
    }
}

impl StreamKind {
    fn of(target: StreamTarget) -> Self {
        match target {
            StreamTarget::Screen
            | StreamTarget::Sound
            | StreamTarget::Video
            | StreamTarget::Terminal { .. } => Self::Watched,
            StreamTarget::Port { .. }
            | StreamTarget::Code
            | StreamTarget::File
            | StreamTarget::Program => Self::Served,
        }
    }

    fn most(self) -> usize {
        match self {
            Self::Watched => MOST_WATCHED,
            Self::Served => MOST_SERVED,
        }
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::id::UserId;

    use super::*;

    fn person() -> Actor {
        Actor::Person(UserId::new())
    }

    #[test]
    fn one_person_can_take_at_most_half_of_the_places() {
        let places = StreamPlaces::default();
        let (greedy, other) = (person(), person());
        let page = StreamTarget::Port { port: 3000 };
        let taken: Vec<_> = (0..MOST_SERVED / 2)
            .map(|_| places.take(page, greedy).unwrap())
            .collect();
        let n_open = MOST_SERVED / 2;
        let refused = places.take(StreamTarget::File, greedy).unwrap_err();
        assert_eq!(refused, NoPlace { n_open });
        places.take(page, other).unwrap();
        places.take(StreamTarget::Screen, greedy).unwrap();
        drop(taken);
        places.take(page, greedy).unwrap();
    }

    #[test]
    fn screens_have_places_when_programs_have_none_left() {
        let places = StreamPlaces::default();
        let page = StreamTarget::Port { port: 3000 };
        let greedy = [person(), person()];
        let _taken: Vec<_> = (0..MOST_SERVED)
            .map(|n| places.take(page, greedy[n % 2]).unwrap())
            .collect();
        let late = person();
        let n_open = MOST_SERVED;
        assert_eq!(places.take(page, late).unwrap_err(), NoPlace { n_open });
        places.take(StreamTarget::Screen, late).unwrap();
    }
}
