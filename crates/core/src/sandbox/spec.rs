//! The description of a sandbox that a provider is asked to start.

use std::collections::BTreeMap;

use crate::{action::ScreenSize, computer::ComputerKind, id::SessionId, secret::Secret};

/// A sandbox to start. A provider honours every field or refuses it by name.
#[derive(Debug, Clone, PartialEq)]
pub struct SandboxSpec {
    /// The session whose files it has. Absent for a sandbox that is started ahead of time, to be claimed later.
    pub session: Option<SessionId>,
    pub computer: ComputerKind,
    /// The size of the screen, or of a page where there is no screen.
    pub screen: ScreenSize,
    /// The image it is made from. Absent for the provider's own.
    pub image: Option<String>,
    /// Its limits. Absent for the provider's own.
    pub limits: Option<SandboxLimits>,
    /// True if it must not start where its limits of memory and processors cannot be enforced.
    pub must_be_limited: bool,
    pub network: Network,
    /// Environment variables of all its programs.
    pub variables: BTreeMap<String, Secret>,
    /// A certificate authority that its programs trust besides the usual ones, in DER.
    pub authority: Option<Vec<u8>>,
}

impl SandboxSpec {
    /// Describes a desktop for no session yet, with the provider's image and limits and no network.
    pub fn new(screen: ScreenSize) -> Self {
        Self {
            session: None,
            computer: ComputerKind::Desktop,
            screen,
            image: None,
            limits: None,
            must_be_limited: false,
            network: Network::Closed,
            variables: BTreeMap::new(),
            authority: None,
        }
    }

    /// Describes the same sandbox for this session.
    pub fn for_session(self, session: SessionId) -> Self {
        Self {
            session: Some(session),
            ..self
        }
    }
}

/// The resources that one sandbox may use, where the provider can enforce limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SandboxLimits {
    pub memory_bytes: u64,
    /// Processor time, in processors.
    pub cpus: f32,
    pub processes: u32,
    /// The size of the largest single file.
    pub file_size_bytes: u64,
    /// The space that the session's files may take on the disk.
    pub disk_bytes: u64,
    /// The number of the session's files and folders.
    pub disk_files: u64,
}

impl Default for SandboxLimits {
    fn default() -> Self {
        const GIB: u64 = 1024 * 1024 * 1024;
        Self {
            memory_bytes: 4 * GIB,
            cpus: 2.0,
            processes: 1024,
            file_size_bytes: 4 * GIB,
            disk_bytes: 10 * GIB,
            disk_files: 500_000,
        }
    }
}

/// The network of a sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// No route out of the sandbox.
    #[default]
    Closed,
    /// Programs can ask for connections, and the server decides about each: see [`crate::network`].
    Connected,
}
