//! The runner by itself, as `deskhand runner` starts it.

use std::{
    io::{Write, stderr},
    process::ExitCode,
};

#[tokio::main]
async fn main() -> ExitCode {
    match deskhand_runner::run_for_server().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without standard error, the error cannot be reported.
            let _ = writeln!(stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
