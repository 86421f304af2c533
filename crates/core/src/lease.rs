//! Leases: a person's time-limited control of the mouse and keyboard of a session's computer.
//!
//! Control belongs to the agent, to a named person until a time, or to no one. Without a lease, the agent has it
//! while it works, and no one has it while the agent is idle.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{id::UserId, session::Phase};

/// The shortest, longest and usual duration of a lease, in seconds.
pub const SHORTEST_LEASE_SECONDS: u32 = 10;
pub const LONGEST_LEASE_SECONDS: u32 = 3600;
pub const USUAL_LEASE_SECONDS: u32 = 300;

/// A person's control of the mouse and keyboard until a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub user: UserId,
    pub name: String,
    pub until: Timestamp,
}

/// The holder of the mouse and keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    Agent,
    Person(Lease),
    Nobody,
}

/// A lease began, was extended or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = LeaseData)]
pub struct LeaseChanged {
    /// The holder of the lease.
    #[schema(value_type = Uuid)]
    pub user: UserId,
    /// Their name at that time.
    pub name: String,
    #[serde(flatten)]
    pub change: LeaseChange,
}

/// The kind of a change to a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum LeaseChange {
    Taken {
        until: Timestamp,
        /// The previous holder, if the owner took control from another person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Uuid)]
        from: Option<UserId>,
    },
    Extended {
        until: Timestamp,
    },
    Ended {
        reason: LeaseEnd,
    },
}

/// The reason for the end of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeaseEnd {
    /// They gave control back.
    HandedBack,
    /// Its time ran out.
    Expired,
    /// All their streams and screens were closed.
    Disconnected,
    /// They lost the right to drive.
    RightLost,
    /// It did not begin: programs of the agent could have watched them.
    NotPrivate,
    SessionEnded,
}

impl Holder {
    pub fn of(lease: Option<Lease>, phase: Phase) -> Self {
        match (lease, phase) {
            (Some(lease), _) => Self::Person(lease),
            (None, Phase::Running | Phase::Waiting) => Self::Agent,
            (None, Phase::Initializing | Phase::Idle | Phase::Error | Phase::Terminated) => {
                Self::Nobody
            }
        }
    }
}
