//! A connection to one MCP server.

use std::sync::{Arc, Mutex as SyncMutex, PoisonError};

use async_trait::async_trait;
use deskhand_core::{
    sandbox::Progress,
    tool_server::{RemoteAnswer, RemoteCall, RemoteTool, ToolServer, ToolServerError},
};
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, Implementation,
        PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, Tool,
    },
    service::{NotificationContext, RunningService, ServiceError},
};
use tokio::sync::Mutex;

use crate::{
    answer::answer,
    problem::{Problem, shortened},
};

/// The most pages of tools that are read, and the most tools.
const MOST_PAGES: usize = 16;
const MOST_TOOLS: usize = 512;
/// The longest report of a server about its progress, in characters.
const LONGEST_REPORT: usize = 200;

/// Returns the revisions of the protocol without sessions that this client speaks.
pub(crate) fn versions() -> Vec<ProtocolVersion> {
    vec![ProtocolVersion::V_2026_07_28]
}

/// Receives the server's notices. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listener(Arc<SyncMutex<Option<Progress>>>);

impl Listener {
    /// Sends the reports of the server there from now on.
    fn report_to(&self, progress: Option<Progress>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("deskhand", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), client)
    }

    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let line = match (report.message, report.total) {
            (Some(message), _) => shortened(&message).chars().take(LONGEST_REPORT).collect(),
            (None, Some(total)) => format!("{} of {total}", report.progress),
            (None, None) => report.progress.to_string(),
        };
        let mut progress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(progress) = &mut *progress {
            // The result is what counts, so a report that does not fit may be dropped.
            let _ = progress.try_send(format!("{line}\n").into());
        }
    }
}

/// A connection to one MCP server. It is closed on drop.
pub(crate) struct ServerConnection {
    service: RunningService<RoleClient, Listener>,
    listener: Listener,
    problem: Problem,
    /// Held during a call, so that reports belong to one call.
    calling: Mutex<()>,
}

impl ServerConnection {
    pub(crate) fn new(
        service: RunningService<RoleClient, Listener>,
        listener: Listener,
        problem: Problem,
    ) -> Self {
        Self {
            service,
            listener,
            problem,
            calling: Mutex::default(),
        }
    }

    fn failed(&self, error: &ServiceError) -> ToolServerError {
        if let Some(problem) = self.problem.take() {
            return problem;
        }
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the library may add reasons, and all others say that the server does not keep to the protocol"
        )]
        match error {
            ServiceError::McpError(error) => ToolServerError::Refused(shortened(&error.message)),
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => ToolServerError::Gone,
            other => ToolServerError::Protocol(shortened(&other.to_string())),
        }
    }
}

#[async_trait]
impl ToolServer for ServerConnection {
    async fn tools(&self) -> Result<Vec<RemoteTool>, ToolServerError> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let listed = self.service.peer().list_tools(Some(page)).await;
            let listed = listed.map_err(|error| self.failed(&error))?;
            tools.extend(listed.tools.into_iter().map(remote_tool));
            cursor = listed.next_cursor;
            if cursor.is_none() || tools.len() >= MOST_TOOLS {
                break;
            }
        }
        tools.truncate(MOST_TOOLS);
        Ok(tools)
    }

    async fn call(&self, call: RemoteCall) -> Result<RemoteAnswer, ToolServerError> {
        let _calling = self.calling.lock().await;
        self.listener.report_to(call.progress);
        let params = CallToolRequestParams::new(call.tool).with_arguments(call.input);
        let called = self.service.peer().call_tool_once(params).await;
        self.listener.report_to(None);
        let response = called.map_err(|error| self.failed(&error))?;
        let CallToolResponse::Complete(result) = response else {
            let problem = "it asks for more input, which this client cannot give".to_owned();
            return Err(ToolServerError::Protocol(problem));
        };
        Ok(answer(result).await)
    }

    fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }
}

fn remote_tool(tool: Tool) -> RemoteTool {
    RemoteTool {
        description: tool.description.unwrap_or_default().into_owned(),
        schema: serde_json::Value::Object((*tool.input_schema).clone()),
        name: tool.name.into_owned(),
    }
}

impl std::fmt::Debug for ServerConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerConnection").finish_non_exhaustive()
    }
}
