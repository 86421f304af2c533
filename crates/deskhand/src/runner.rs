//! `deskhand runner`: the part of this program that runs inside a sandbox.

use std::process::ExitCode;

/// Serves the desktop of the sandbox that this process runs in.
pub(crate) async fn run() -> anyhow::Result<ExitCode> {
    deskhand_runner::run_for_server().await?;
    Ok(ExitCode::SUCCESS)
}
