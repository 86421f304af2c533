//! `deskhand serve`: runs the server until it is asked to end.

use crate::{
    config::Config,
    interrupts::{Interrupt, Interrupts},
    output,
    server::RunningServer,
};

/// Serves until Ctrl-C, a service manager's request to end, or a failure.
pub(crate) async fn serve(config: &Config) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::listen()?;
    let mut server = RunningServer::start(config, config.listen).await?;
    tracing::info!(server.url = server.local_url, "the server is listening");
    greet(&server, config).await?;
    let failure = tokio::select! {
        interrupt = interrupts.next() => {
            if interrupt == Interrupt::CtrlC {
                output::say("Stopping the server. Press Ctrl-C again to end it at once.");
            }
            None
        }
        failure = server.failed() => Some(failure),
    };
    tracing::info!("the server is shutting down");
    tokio::select! {
        () = server.end() => {}
        _ = interrupts.next() => {}
    }
    failure.map_or(Ok(()), Err)
}

async fn greet(server: &RunningServer, config: &Config) -> anyhow::Result<()> {
    let link = server.sign_in_link().await?;
    let text = format!(
        "Deskhand {} is running.\n\n  Open   {link}\n         (works once, within ten minutes; `deskhand login` \
         prints a new one)\n  Data   {}\n  Stop   Ctrl-C\n",
        env!("CARGO_PKG_VERSION"),
        config.data_dir.display(),
    );
    // The server works without a terminal, too.
    if let Err(error) = output::answer(&text) {
        tracing::warn!(%error, "could not print the sign-in link");
    }
    Ok(())
}
