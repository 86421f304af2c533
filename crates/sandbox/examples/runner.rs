//! The runner by itself, as `deskhand runner` starts it.

use std::{
    error::Error,
    io::{Write, stderr},
    process::ExitCode,
};

#[tokio::main]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without standard error there is nobody to tell.
            let _ = writeln!(stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let config = deskhand_runner::read_config()?;
    deskhand_runner::run(config).await?;
    Ok(())
}
