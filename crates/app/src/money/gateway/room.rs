//! The memory for the requests of programs, of all sessions together.
//!
//! The server reads a request whole before it passes it on. Without a bound, programs in sandboxes could use up the
//! server's memory, which no limit of a sandbox covers.

use std::sync::Arc;

use deskhand_core::gateway::{GatewayRefusal, GatewayRefusalKind};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The memory is counted in pieces of this size.
const PIECE_BYTES: usize = 4 * 1024;
/// The memory for the requests of all sessions.
const ALL_BYTES: usize = 128 * 1024 * 1024;
/// The memory for the requests of one session: somewhat more than the longest request.
const SESSION_BYTES: usize = 40 * 1024 * 1024;

/// Memory that requests share. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct BodyRoom(Arc<Semaphore>);

/// The memory of one request. It is free again on drop.
#[derive(Debug)]
pub(super) struct HeldRoom {
    all: BodyRoom,
    session: BodyRoom,
    held: Vec<OwnedSemaphorePermit>,
    n_pieces: usize,
}

impl BodyRoom {
    /// Returns the memory for all sessions.
    pub(crate) fn of_all() -> Self {
        Self::with(ALL_BYTES)
    }

    /// Returns the memory for one session.
    pub(crate) fn of_session() -> Self {
        Self::with(SESSION_BYTES)
    }

    fn with(n_bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(n_bytes / PIECE_BYTES)))
    }

    fn take(&self, n_pieces: usize) -> Option<OwnedSemaphorePermit> {
        let n_pieces = u32::try_from(n_pieces).ok()?;
        Arc::clone(&self.0).try_acquire_many_owned(n_pieces).ok()
    }
}

impl HeldRoom {
    /// Holds nothing yet.
    pub(super) fn new(all: BodyRoom, session: BodyRoom) -> Self {
        Self {
            all,
            session,
            held: Vec::new(),
            n_pieces: 0,
        }
    }

    /// Frees all memory of the request.
    pub(super) fn release(&mut self) {
        self.held.clear();
        self.n_pieces = 0;
    }

    /// Holds memory for at least `n_bytes`. What is held already counts.
    pub(super) fn grow(&mut self, n_bytes: usize) -> Result<(), GatewayRefusal> {
        let n_more = n_bytes.div_ceil(PIECE_BYTES).saturating_sub(self.n_pieces);
        if n_more == 0 {
            return Ok(());
        }
        let busy = |problem: &str| GatewayRefusal::new(GatewayRefusalKind::Full, problem);
        let of_session = self.session.take(n_more).ok_or_else(|| {
            busy("the requests of this session are too large together: wait until one of them is sent")
        })?;
        let of_all = self.all.take(n_more).ok_or_else(|| {
            busy("the requests of all sessions are too large together: try again in a moment")
        })?;
        self.held.extend([of_session, of_all]);
        self.n_pieces += n_more;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    #[test]
    fn requests_of_all_sessions_together_have_a_bound_and_one_session_cannot_use_it_up() {
        let all = BodyRoom::of_all();
        let held = |session: &BodyRoom| HeldRoom::new(all.clone(), session.clone());
        let sessions: Vec<BodyRoom> = (0..4).map(|_| BodyRoom::of_session()).collect();

        // A session has room for its longest request and some small ones.
        let mut first = held(&sessions[0]);
        first.grow(32 * MIB).unwrap();
        first.grow(MIB).unwrap();
        held(&sessions[0]).grow(8 * MIB).unwrap();
        let told = held(&sessions[0]).grow(32 * MIB).unwrap_err();
        assert_eq!(told.kind, GatewayRefusalKind::Full);
        assert!(told.message.contains("of this session"), "{told}");

        // Others are not affected until all of it is used up.
        let mut others: Vec<HeldRoom> = sessions[1..].iter().map(held).collect();
        for other in &mut others {
            other.grow(32 * MIB).unwrap();
        }
        let fifth = BodyRoom::of_session();
        let told = held(&fifth).grow(1).unwrap_err();
        assert!(told.message.contains("of all sessions"), "{told}");

        // A refusal holds nothing, and what is dropped is free again.
        drop(first);
        held(&fifth).grow(32 * MIB).unwrap();
        held(&sessions[0]).grow(32 * MIB).unwrap();
    }
}
