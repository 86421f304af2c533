//! `deskhand serve`: runs the server until it is asked to end.

use std::io::IsTerminal;

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
    // A file or a journal keeps its lines, and others may read them within the ten minutes.
    let (open, hint) = if std::io::stdout().is_terminal() {
        let hint = "works once, within ten minutes; `deskhand login` prints a new one";
        (server.sign_in_link().await?, hint)
    } else {
        let hint = "`deskhand login` prints a link that signs you in";
        (server.public_url.clone(), hint)
    };
    let text = format!(
        "Deskhand {} is running.\n\n  Open   {open}\n         ({hint})\n  Data   {}\n  Stop   Ctrl-C\n",
        env!("CARGO_PKG_VERSION"),
        config.data_dir.display(),
    );
    // The server works without a terminal, too.
    if let Err(error) = output::answer(&text) {
        tracing::warn!(%error, "could not print the address of the page");
    }
    Ok(())
}
