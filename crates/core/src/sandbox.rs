//! The port to sandboxes.
//!
//! A provider implements three traits: [`Lifecycle`] starts and ends sandboxes, and each [`Sandbox`] is a
//! [`Computer`] that carries out operations and a source of [`Streams`].

mod clipboard;
mod computer;
mod doctor;
mod lease_holder;
mod lifecycle;
mod operation;
mod operations;
mod ports;
mod program;
mod spec;
mod streams;
mod terminals;

pub use clipboard::{
    ClipboardRead, ClipboardSet, LONGEST_CLIPBOARD_BYTES, ReadClipboard, SetClipboard,
};
pub use computer::{Call, Computer, ComputerError, ComputerExt, Progress};
pub use doctor::{CheckState, DoctorCheck};
pub use lease_holder::{Actor, LeaseHolder, LeaseOutcome};
pub use lifecycle::{Lifecycle, Sandbox, SandboxEnd, SandboxUsage, StartSandboxError};
pub use operation::{
    Conclusion, ForRunner, ForSession, Operation, OperationReply, RunnerReply, RunnerRequest,
    SessionOnly, SessionReply, SessionRequest, Vocabulary,
};
pub use operations::{
    Act, Acted, CoverSecrets, Edited, ElementFound, FilePut, FileTaken, FindElement, FindField,
    Frame, Look, PutFile, SecretTyped, SecretsCovered, TakeFile, TypeSecret,
};
pub use ports::{LONGEST_PROGRAM_NAME, ListeningPort, MOST_PORTS};
pub use program::{LONGEST_ORDER_BYTES, ProgramFrame, ProgramOrder};
pub use spec::{Network, SandboxLimits, SandboxSpec};
pub use streams::{ByteStream, StreamTarget, Streams};
pub use terminals::{
    KillTerminal, ListTerminals, OpenTerminal, RenameTerminal, TerminalFound, TerminalList,
    TerminalOpened,
};
