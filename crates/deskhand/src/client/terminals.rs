//! Calls about terminals.

use deskhand_api::terminals::{OpenTerminalBody, TerminalView, TerminalsView};
use deskhand_core::id::SessionId;

use super::{CallError, Client, Socket};

impl Client {
    pub(crate) async fn terminals(
        &self,
        session: SessionId,
    ) -> Result<Vec<TerminalView>, CallError> {
        let path = format!("/api/sessions/{session}/terminals");
        let list: TerminalsView = self.get(&path).await?;
        Ok(list.terminals)
    }

    pub(crate) async fn open_terminal(
        &self,
        session: SessionId,
        wanted: &OpenTerminalBody,
    ) -> Result<TerminalView, CallError> {
        let path = format!("/api/sessions/{session}/terminals");
        self.post(&path, wanted).await
    }

    /// Connects to a terminal.
    pub(crate) async fn attach_terminal(
        &self,
        session: SessionId,
        number: u32,
        watch: bool,
    ) -> Result<Socket, CallError> {
        let path = format!("/api/sessions/{session}/terminals/{number}?watch={watch}");
        self.open_socket(&path).await
    }
}
