//! The MCP servers of sessions: those that people give to one session, and those of the deployment.
//!
//! A program is started in the sandbox. A host is reached through the server's own egress, as if a program of the
//! session contacted it: the same policy, questions, records and secrets apply. Only hosts of the deployment may have
//! addresses that are not on the public internet.

mod connector;
mod program;
mod session_servers;

use std::{sync::Arc, time::Duration};

use deskhand_core::{
    network::{ConnectionMaker, NetworkEntrance},
    session::Session,
    tool_server::{
        ToolServers,
        spec::{BadMcpServer, McpServerSpec, ServerGiver, check_servers},
    },
};

pub(crate) use self::session_servers::{FoundServer, SessionServers, TurnServers};
use crate::refusal::refusals;

/// The reason why the MCP servers of a session are refused.
#[derive(Debug, thiserror::Error)]
pub enum BadMcpServers {
    #[error(transparent)]
    Server(#[from] BadMcpServer),
    #[error(
        "the settings of this deployment already give an MCP server named {0} to every session; choose another name"
    )]
    Taken(String),
}

refusals! {
    BadMcpServers passes on;
    Self::Server(_) | Self::Taken(_) => Invalid("bad_mcp_server"),
}

/// The parts that MCP servers are reached with.
#[derive(Debug)]
pub(crate) struct ToolServerParts {
    pub(crate) servers: Arc<dyn ToolServers>,
    /// The way to hosts.
    pub(crate) entrance: NetworkEntrance,
    /// The servers that every session has.
    pub(crate) deployment: Vec<McpServerSpec>,
    /// The time for which people are asked about a host or a secret.
    pub(crate) ask_timeout: Duration,
}

/// Access to MCP servers. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct ToolServerAccess(Arc<ToolServerParts>);

/// A server with the party that gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenServer {
    pub(crate) spec: McpServerSpec,
    pub(crate) giver: ServerGiver,
}

impl ToolServerAccess {
    pub(crate) fn new(parts: ToolServerParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Checks the servers that people give to a session.
    pub(crate) fn check(&self, servers: &[McpServerSpec]) -> Result<(), BadMcpServers> {
        check_servers(servers, ServerGiver::Session)?;
        let taken = servers.iter().find(|server| self.is_deployments(server));
        match taken {
            Some(server) => Err(BadMcpServers::Taken(server.name.clone())),
            None => Ok(()),
        }
    }

    /// Returns all servers of a session, those of the deployment first.
    pub(crate) fn all_of(&self, session: &Session) -> Vec<GivenServer> {
        let deployment = self.0.deployment.iter().map(|spec| GivenServer {
            spec: spec.clone(),
            giver: ServerGiver::Deployment,
        });
        // The settings may have got one of the same name since.
        let own = session.mcp_servers.iter();
        let own = own.filter(|server| !self.is_deployments(server));
        let own = own.map(|spec| GivenServer {
            spec: spec.clone(),
            giver: ServerGiver::Session,
        });
        deployment.chain(own).collect()
    }

    fn is_deployments(&self, server: &McpServerSpec) -> bool {
        let mut deployment = self.0.deployment.iter();
        deployment.any(|given| given.name == server.name)
    }
}

impl GivenServer {
    /// Returns the party that connections to it are made for.
    fn maker(&self) -> ConnectionMaker {
        match self.giver {
            ServerGiver::Session => ConnectionMaker::Session,
            ServerGiver::Deployment => ConnectionMaker::Deployment,
        }
    }
}
