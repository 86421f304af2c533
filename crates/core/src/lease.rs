//! Leases: a person's time with mouse and keyboard of a session's computer.
//!
//! Exactly one of the agent, a named person until a time, and nobody has control. While there is no
//! lease, it is the agent's when it works, and nobody's when it does not.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{id::UserId, session::Phase};

/// The shortest and the longest time for which somebody can take control, and the usual one, in seconds.
pub const SHORTEST_LEASE_SECONDS: u32 = 10;
pub const LONGEST_LEASE_SECONDS: u32 = 3600;
pub const USUAL_LEASE_SECONDS: u32 = 300;

/// A person's time with mouse and keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub user: UserId,
    pub name: String,
    pub until: Timestamp,
}

/// The holder of mouse and keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    Agent,
    Person(Lease),
    Nobody,
}

/// Somebody's lease began, was made longer or ended.
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
        /// The holder until then, when the owner took it from another person.
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
    /// Its time was over.
    Expired,
    /// All their streams and screens were gone.
    Disconnected,
    /// They may not drive any more.
    RightLost,
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
