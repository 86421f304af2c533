//! Control: taking the mouse and keyboard of a session's computer, and giving them back.
//!
//! A lease begins in the store, then the sandbox obeys only its holder, then their input is let through; it ends in
//! the opposite order. So a person and the agent never use the computer at the same time.

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    clock::Clock,
    id::{SessionId, UserId},
    lease::{LONGEST_LEASE_SECONDS, Lease, LeaseEnd, SHORTEST_LEASE_SECONDS, USUAL_LEASE_SECONDS},
    right::Right,
    sandbox::{Computer, LeaseHolder, LeaseOutcome},
    tasks::Tasks,
    viewer::Viewer,
};
use deskhand_store::{EndLease, LeaseRefused, Store, StoreError, TakeLease};

use crate::{
    FindError, InternalError, NoScreen,
    computers::check_screen,
    feed::log::Log,
    live::{
        LiveSessions,
        attendance::{Attendance, Connection, HeldLease},
    },
    refusal::refusals,
    sessions::find::find_with,
    signals::{Signals, Topic},
};

/// The pause before a retry if the database did not respond.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Control of all sessions' computers. Clones share it.
#[derive(Debug, Clone)]
pub struct Control(Arc<ControlParts>);

/// The parts that a lease goes through.
#[derive(Debug)]
pub(crate) struct ControlParts {
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) live: LiveSessions,
    pub(crate) signals: Signals,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tasks: Tasks,
}

/// A request for control.
#[derive(Debug, Clone, Copy, Default)]
pub struct TakeControl {
    /// The duration. Without it, [`USUAL_LEASE_SECONDS`].
    pub seconds: Option<u32>,
    /// True to take control from another person, which only the owner may.
    pub is_forced: bool,
}

/// The reason why control was not taken or given back.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    NoScreen(#[from] NoScreen),
    #[error(
        "control can be taken for {SHORTEST_LEASE_SECONDS} to {LONGEST_LEASE_SECONDS} seconds, not {0}"
    )]
    Seconds(u32),
    #[error("session {0} has ended")]
    Ended(SessionId),
    #[error("{} has control of session {session} until {}; wait, or ask them to hand back", .lease.name, .lease.until)]
    SomebodyElse { session: SessionId, lease: Lease },
    #[error(
        "you do not have control of session {session}, because programs of the agent could watch you: {problem}; \
         end the session's sandbox, or try again"
    )]
    NotPrivate { session: SessionId, problem: String },
    #[error("could not store the change of control")]
    Internal(#[source] InternalError),
    #[error("the change of control did not finish; try again")]
    BrokeOff,
}

refusals! {
    ControlError passes on Find, NoScreen, Internal;
    Self::Seconds(_) => Invalid("bad_seconds"),
    Self::Ended(_) => Conflict("session_ended"),
    Self::SomebodyElse { lease, .. } => Conflict(
        "somebody_else_drives",
        { "user": lease.user, "name": lease.name, "until": lease.until }
    ),
    Self::NotPrivate { .. } => Conflict("not_private"),
    Self::BrokeOff => Internal("internal"),
}

impl Control {
    pub(crate) fn new(parts: ControlParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Takes control, or keeps it for longer.
    pub async fn take(
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
        let session = find_with(&self.0.store, needed, Viewer::User(user), id).await?;
        check_screen(&session)?;
        let take = TakeLease {
            user,
            until: self.0.clock.now() + Duration::from_secs(seconds.into()),
            is_forced: wanted.is_forced,
        };
        // This runs as its own task: a caller that goes away must not leave control half changed.
        let control = self.clone();
        let taking = async move { control.begin_lease(id, take).await };
        let taken = self.0.tasks.spawn("take control", taking).await;
        taken.map_err(|error| broke_off(&error))?
    }

    /// Gives control back. Does nothing if no one has it.
    pub async fn hand_back(&self, user: UserId, id: SessionId) -> Result<(), ControlError> {
        find_with(&self.0.store, Right::Drive, Viewer::User(user), id).await?;
        let Some(held) = self.0.live.attendance(id).held() else {
            return Ok(());
        };
        if held.lease.user != user {
            let lease = held.lease;
            return Err(ControlError::SomebodyElse { session: id, lease });
        }
        // This runs as its own task for the same reason as above.
        let control = self.clone();
        let ending = async move { control.end_lease(id, &held, LeaseEnd::HandedBack).await };
        let ended = self.0.tasks.spawn("hand control back", ending).await;
        Ok(ended.map_err(|error| broke_off(&error))??)
    }

    /// Records a connection of a user to a session. A holder without any connection loses control.
    pub fn connect(&self, user: UserId, id: SessionId) -> Connection {
        self.0.live.attendance(id).connect(user)
    }

    /// Resumes a lease that an earlier server left.
    pub(crate) fn restore(&self, id: SessionId, lease: Lease) {
        let attendance = self.0.live.attendance(id);
        if let Some(held) = attendance.note(lease) {
            attendance.open();
            self.keep_lease(id, held, attendance);
        }
    }

    async fn begin_lease(
        &self,
        session: SessionId,
        take: TakeLease,
    ) -> Result<Lease, ControlError> {
        let attendance = self.0.live.attendance(session);
        let _change = attendance.change.lock().await;
        let lease = match self.0.log.commit(session, take).await? {
            Ok(lease) => lease,
            Err(LeaseRefused::Held(lease)) => {
                return Err(ControlError::SomebodyElse { session, lease });
            }
            Err(LeaseRefused::Ended) => return Err(ControlError::Ended(session)),
        };
        let Some(held) = attendance.note(lease.clone()) else {
            return Ok(lease);
        };
        let holder = LeaseHolder::Person(lease.user);
        if let LeaseOutcome::Watched(problem) = self.tell_sandbox(session, holder).await {
            // If the end cannot be stored now, the holder's input stays blocked until it is.
            self.keep_lease(session, held, Arc::clone(&attendance));
            self.store_end(session, &attendance, &lease, LeaseEnd::NotPrivate)
                .await?;
            return Err(ControlError::NotPrivate { session, problem });
        }
        attendance.open();
        self.keep_lease(session, held, Arc::clone(&attendance));
        Ok(lease)
    }

    async fn end_lease(
        &self,
        id: SessionId,
        held: &HeldLease,
        reason: LeaseEnd,
    ) -> Result<(), StoreError> {
        let attendance = self.0.live.attendance(id);
        let _change = attendance.change.lock().await;
        let current = attendance
            .held()
            .filter(|current| current.number == held.number);
        // A holder who gives control back means the lease as it is now, extended or not.
        let lease = match (current, reason) {
            (None, _) => return Ok(()),
            (Some(current), LeaseEnd::Expired) if current.lease != held.lease => return Ok(()),
            (Some(current), _) => current.lease,
        };
        let was_open = attendance.shut();
        let ended = self.store_end(id, &attendance, &lease, reason).await;
        if ended.is_err() && was_open {
            attendance.open();
        }
        ended
    }

    /// Ends a lease whose input is blocked. The caller holds the attendance's `change`.
    async fn store_end(
        &self,
        id: SessionId,
        attendance: &Attendance,
        lease: &Lease,
        reason: LeaseEnd,
    ) -> Result<(), StoreError> {
        // If the store refuses, another change has ended the lease already.
        let _ = self.0.log.commit(id, EndLease { lease, reason }).await?;
        self.tell_sandbox(id, LeaseHolder::Nobody).await;
        // Only now does a waiting turn continue.
        attendance.clear();
        Ok(())
    }

    /// Makes the sandbox obey this lease holder, if it is running. The caller holds the attendance's `change`.
    async fn tell_sandbox(&self, id: SessionId, holder: LeaseHolder) -> LeaseOutcome {
        match self.0.live.running_computer(id) {
            Some(computer) => computer.set_lease_holder(holder).await,
            None => LeaseOutcome::Set,
        }
    }

    /// Ends a lease when its time is over, its holder has disconnected, or the holder loses the right to drive.
    ///
    /// The task keeps the attendance, since that is where the lease is in memory.
    fn keep_lease(&self, id: SessionId, held: HeldLease, attendance: Arc<Attendance>) {
        let control = self.clone();
        let shutdown = self.0.tasks.shutdown().clone();
        self.0.tasks.spawn("keep lease", async move {
            // The lease continues without this server.
            let _ = shutdown
                .run_until_cancelled(control.watch_lease(id, held, &attendance))
                .await;
        });
    }

    async fn watch_lease(&self, id: SessionId, mut held: HeldLease, attendance: &Attendance) {
        loop {
            let left = held.lease.until.duration_since(self.0.clock.now());
            // If its time is over already, there is no wait.
            let left = Duration::try_from(left).unwrap_or_default();
            let reason = tokio::select! {
                () = attendance.changed_from(&held) => None,
                () = tokio::time::sleep(left) => Some(LeaseEnd::Expired),
                () = attendance.left_by(held.lease.user) => Some(LeaseEnd::Disconnected),
                () = self.right_lost(id, held.lease.user) => Some(LeaseEnd::RightLost),
            };
            if let Some(reason) = reason
                && let Err(error) = self.end_lease(id, &held, reason).await
            {
                tracing::error!(session.id = %id, error = &error as &dyn std::error::Error, "could not store \
                                                                                             the end of a lease");
                tokio::time::sleep(RETRY_DELAY).await;
            }
            match attendance.held() {
                Some(current) if current.number == held.number => held = current,
                Some(_) | None => return,
            }
        }
    }

    /// Waits until a user loses the right to drive.
    async fn right_lost(&self, id: SessionId, user: UserId) {
        let mut changes = self.0.signals.subscribe(Topic::Access(user));
        // If the database does not respond, the next change or the end of the lease leads to another check.
        while !self.may_drive(id, user).await.is_ok_and(|may| !may) {
            changes.signalled().await;
        }
    }

    async fn may_drive(&self, id: SessionId, user: UserId) -> Result<bool, StoreError> {
        let store = &self.0.store;
        let is_active = store.user(user).await?.is_some_and(|user| user.active);
        let session = store.session(Viewer::User(user), id).await?;
        Ok(is_active && session.is_some_and(|session| session.right >= Right::Drive))
    }
}

fn broke_off(error: &tokio::task::JoinError) -> ControlError {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "a change of control did not finish"
    );
    ControlError::BrokeOff
}
