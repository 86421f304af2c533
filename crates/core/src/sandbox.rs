//! The port to sandboxes.
//!
//! A provider implements three traits: [`Lifecycle`] starts and ends sandboxes, and each [`Sandbox`] is a
//! [`Computer`] that carries out operations and a source of [`Streams`].

mod computer;
mod doctor;
mod lease_holder;
mod lifecycle;
mod operation;
mod operations;
mod spec;
mod streams;

pub use computer::{Call, Computer, ComputerError, ComputerExt, Progress};
pub use doctor::{CheckState, DoctorCheck};
pub use lease_holder::{Actor, LeaseHolder};
pub use lifecycle::{Lifecycle, Sandbox, SandboxEnd, SandboxUsage, StartSandboxError};
pub use operation::{
    Conclusion, ForRunner, ForSession, Operation, OperationReply, RunnerReply, RunnerRequest,
    SessionOnly, SessionReply, SessionRequest, Vocabulary,
};
pub use operations::{
    Act, Acted, CoverSecrets, Edited, FilePut, FindField, Frame, Look, PutFile, SecretTyped,
    SecretsCovered, TypeSecret,
};
pub use spec::{Network, SandboxLimits, SandboxSpec};
pub use streams::{ByteStream, StreamTarget, Streams};
