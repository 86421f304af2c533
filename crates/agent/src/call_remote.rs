//! Calls of tools of MCP servers: followed while they run, and ended early if the turn must end.

use std::sync::Arc;

use deskhand_core::{
    plain::visible,
    tool_server::{RemoteAnswer, RemoteCall, ToolServerError},
};
use futures::{StreamExt, channel::mpsc};
use tokio::time::Instant;

use crate::{
    batch::STOPPED,
    call_context::{CallContext, PROGRESS_LENGTH, UNKNOWN_AFTER_STOP},
    cut::Cut,
    shell_progress::ShellProgress,
    tools::ToolFailure,
};

/// The longest reason, in characters. It may quote the server.
const LONGEST_REASON: usize = 500;

impl CallContext<'_> {
    pub(crate) async fn use_server(
        &mut self,
        server: &str,
        call: RemoteCall,
    ) -> Result<RemoteAnswer, ToolFailure> {
        if self.cut.is_some() {
            return Err(STOPPED.into());
        }
        match self.follow(server, call).await {
            Ok(answer) => answer.map_err(|error| failure(server, &error)),
            // The call was dropped, so the server is told that nobody waits for it.
            Err(cut) => Err(self.cut_off(UNKNOWN_AFTER_STOP, cut)),
        }
    }

    /// Follows a call until it is answered or the turn must end.
    async fn follow(
        &mut self,
        server: &str,
        call: RemoteCall,
    ) -> Result<Result<RemoteAnswer, ToolServerError>, Cut> {
        let (sender, mut pieces) = mpsc::channel(PROGRESS_LENGTH);
        let call = RemoteCall {
            progress: Some(sender),
            ..call
        };
        let remote = Arc::clone(&self.work.remote);
        let mut progress = ShellProgress::new(self.work.turn, self.call);
        let mut answer = remote.call(server, call);
        let stopped = self.work.signals.stopped();
        tokio::pin!(stopped);
        loop {
            let flush_at = progress.flush_at;
            tokio::select! {
                biased;
                answer = &mut answer => return Ok(answer),
                cut = &mut stopped => return Err(cut),
                () = tokio::time::sleep_until(flush_at.unwrap_or_else(Instant::now)), if flush_at.is_some() => {
                    let bodies = progress.take().into_iter().collect();
                    let appended = self.work.journal.append(bodies).await;
                    appended.map_err(Cut::LogLost)?;
                }
                Some(piece) = pieces.next() => progress.push(&piece),
            }
        }
    }
}

fn failure(server: &str, error: &ToolServerError) -> ToolFailure {
    let reason = error.to_string();
    let reason: String = visible(&reason).chars().take(LONGEST_REASON).collect();
    ToolFailure(format!("The MCP server {server} did not do it: {reason}."))
}
