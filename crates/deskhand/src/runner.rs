//! `deskhand runner`: the part of this program that runs inside a sandbox.

use std::process::ExitCode;

use crate::modes;

/// Serves the desktop of the sandbox that this process runs in.
pub(crate) async fn run() -> anyhow::Result<ExitCode> {
    modes::make_new_files_usual();
    deskhand_runner::run_for_server().await?;
    Ok(ExitCode::SUCCESS)
}
