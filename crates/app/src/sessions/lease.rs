//! Taking control of a session's computer and giving it back.
//!
//! A lease begins in the store, then the sandbox obeys only its holder, then their input is let
//! through; it ends in the opposite order. So nobody's hands are ever on the computer together
//! with the agent's.

use std::time::Duration;

use deskhand_core::{
    id::{SessionId, UserId},
    lease::{LONGEST_LEASE_SECONDS, Lease, LeaseEnd, SHORTEST_LEASE_SECONDS, USUAL_LEASE_SECONDS},
    right::Right,
    sandbox::{Computer, LeaseHolder},
    viewer::Viewer,
};
use deskhand_store::{NewLease, StoreError, TakeLease};

use super::{FindError, Sessions};
use crate::control::{Held, Seat};

/// How long to wait before trying again when the database did not answer.
const RETRY: Duration = Duration::from_secs(1);

/// Control that somebody wants.
#[derive(Debug, Clone, Copy, Default)]
pub struct TakeControl {
    /// For how long; [`USUAL_LEASE_SECONDS`] without it.
    pub seconds: Option<u32>,
    /// Whether to take it from somebody else, which the owner may.
    pub is_forced: bool,
}

/// Why somebody did not get control, or could not give it back.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(
        "control can be taken for {SHORTEST_LEASE_SECONDS} to {LONGEST_LEASE_SECONDS} seconds, not {0}"
    )]
    Seconds(u32),
    #[error("session {0} has ended")]
    Ended(SessionId),
    #[error("{} has mouse and keyboard of session {session} until {}", .lease.name, .lease.until)]
    SomebodyElse { session: SessionId, lease: Lease },
    #[error("who has control could not be stored")]
    Store(#[from] StoreError),
    #[error("the change of control broke off; try again")]
    BrokeOff,
}

impl Sessions {
    /// Takes control, or keeps it for longer.
    pub async fn take_control(
        &self,
        user: UserId,
        id: SessionId,
        wanted: TakeControl,
    ) -> Result<Lease, ControlError> {
        let seconds = wanted.seconds.unwrap_or(USUAL_LEASE_SECONDS);
        if !(SHORTEST_LEASE_SECONDS..=LONGEST_LEASE_SECONDS).contains(&seconds) {
            return Err(ControlError::Seconds(seconds));
        }
        let needed = if wanted.is_forced {
            Right::Owner
        } else {
            Right::Drive
        };
        self.find_with(needed, Viewer::User(user), id).await?;
        let new = NewLease {
            session: id,
            user,
            until: self.shared.clock.now() + Duration::from_secs(seconds.into()),
            is_forced: wanted.is_forced,
        };
        // A task of its own: a caller that goes away must not leave control half changed.
        let sessions = self.clone();
        let taking = async move { sessions.begin_lease(new).await };
        let taken = self.shared.tasks.spawn("take control", taking).await;
        taken.map_err(|error| broke_off(&error))?
    }

    /// Gives control back. Nothing happens when nobody has it.
    pub async fn hand_back(&self, user: UserId, id: SessionId) -> Result<(), ControlError> {
        self.find_with(Right::Drive, Viewer::User(user), id).await?;
        let Some(held) = self.shared.rooms.room(id).held() else {
            return Ok(());
        };
        if held.lease.user != user {
            let lease = held.lease;
            return Err(ControlError::SomebodyElse { session: id, lease });
        }
        // As above.
        let sessions = self.clone();
        let ending = async move { sessions.end_lease(id, &held, LeaseEnd::HandedBack).await };
        let ended = self.shared.tasks.spawn("hand control back", ending).await;
        Ok(ended.map_err(|error| broke_off(&error))??)
    }

    /// A connection of somebody to a session. Whoever has control and no connection loses it.
    pub fn take_seat(&self, user: UserId, id: SessionId) -> Seat {
        self.shared.rooms.room(id).seat(user)
    }

    /// Takes up a lease that an earlier server left.
    pub(crate) fn restore_lease(&self, id: SessionId, lease: Lease) {
        let room = self.shared.rooms.room(id);
        if let Some(held) = room.note(lease) {
            room.open();
            self.keep_lease(id, held);
        }
    }

    async fn begin_lease(&self, new: NewLease) -> Result<Lease, ControlError> {
        let session = new.session;
        let room = self.shared.rooms.room(session);
        let _change = room.change.lock().await;
        let lease = match self.shared.log.take_lease(new).await? {
            TakeLease::Took(took) => took.lease,
            TakeLease::Held(lease) => return Err(ControlError::SomebodyElse { session, lease }),
            TakeLease::Ended => return Err(ControlError::Ended(session)),
        };
        if let Some(held) = room.note(lease.clone()) {
            self.tell_sandbox(session, LeaseHolder::Person(lease.user))
                .await;
            room.open();
            self.keep_lease(session, held);
        }
        Ok(lease)
    }

    async fn end_lease(
        &self,
        id: SessionId,
        held: &Held,
        reason: LeaseEnd,
    ) -> Result<(), StoreError> {
        let room = self.shared.rooms.room(id);
        let _change = room.change.lock().await;
        let current = room.held().filter(|current| current.number == held.number);
        // Somebody who asks for the end means whatever their lease has become.
        let lease = match (current, reason) {
            (None, _) => return Ok(()),
            (Some(current), LeaseEnd::Expired) if current.lease != held.lease => return Ok(()),
            (Some(current), _) => current.lease,
        };
        room.shut();
        let ended = self.shared.log.end_lease(id, &lease, reason).await;
        if ended.is_err() {
            room.open();
            return ended;
        }
        self.tell_sandbox(id, LeaseHolder::Nobody).await;
        // Only now does a turn that waits go on.
        room.clear();
        Ok(())
    }

    /// Has the sandbox obey this lease holder, if it runs. The caller holds the room's `change`.
    async fn tell_sandbox(&self, id: SessionId, holder: LeaseHolder) {
        if let Some(computer) = self.awake.get(id).and_then(|live| live.desk.running()) {
            computer.set_lease_holder(holder).await;
        }
    }

    /// Ends a lease when its time is over, its holder has gone, or may not drive any more.
    fn keep_lease(&self, id: SessionId, held: Held) {
        let sessions = self.clone();
        let shutdown = self.shared.tasks.shutdown().clone();
        self.shared.tasks.spawn("keep lease", async move {
            // The lease goes on without this server.
            let _ = shutdown
                .run_until_cancelled(sessions.watch_lease(id, held))
                .await;
        });
    }

    async fn watch_lease(&self, id: SessionId, mut held: Held) {
        let room = self.shared.rooms.room(id);
        loop {
            let left = held.lease.until.duration_since(self.shared.clock.now());
            // What is over already needs no waiting.
            let left = Duration::try_from(left).unwrap_or_default();
            let reason = tokio::select! {
                () = room.changed_from(&held) => None,
                () = tokio::time::sleep(left) => Some(LeaseEnd::Expired),
                () = room.left_by(held.lease.user) => Some(LeaseEnd::Disconnected),
                () = self.right_lost(id, held.lease.user) => Some(LeaseEnd::RightLost),
            };
            if let Some(reason) = reason
                && let Err(error) = self.end_lease(id, &held, reason).await
            {
                tracing::error!(session.id = %id, error = &error as &dyn std::error::Error, "a lease's end was not stored");
                tokio::time::sleep(RETRY).await;
            }
            match room.held() {
                Some(current) if current.number == held.number => held = current,
                Some(_) | None => return,
            }
        }
    }

    /// Waits until somebody may not drive.
    async fn right_lost(&self, id: SessionId, user: UserId) {
        let mut changes = self.shared.access.subscribe();
        loop {
            // When the database does not answer, the next change or the end of the lease tells.
            if self.may_drive(id, user).await.is_ok_and(|may| !may) {
                return;
            }
            if changes.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    async fn may_drive(&self, id: SessionId, user: UserId) -> Result<bool, StoreError> {
        let store = &self.shared.store;
        let is_active = store.user(user).await?.is_some_and(|user| user.active);
        let session = store.session(Viewer::User(user), id).await?;
        Ok(is_active && session.is_some_and(|session| session.right >= Right::Drive))
    }
}

fn broke_off(error: &tokio::task::JoinError) -> ControlError {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "a change of control broke off"
    );
    ControlError::BrokeOff
}
