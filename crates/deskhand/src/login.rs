//! `deskhand login`: a new link for signing in.

use crate::{
    cli::ServerArgs,
    config::{Config, Environment},
    data_dir::DataDir,
    find::find_server,
    output,
};

/// Asks the running server for a link and prints it.
pub(crate) async fn login(
    args: &ServerArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    let dir = DataDir::at(&config.data_dir);
    let Some(client) = find_server(args.server.as_deref(), environment, &dir).await? else {
        anyhow::bail!(
            "no server is running with the data folder {}; start one with `deskhand serve`",
            dir.path().display()
        );
    };
    let link = client.new_sign_in_link().await?;
    output::answer(&link)?;
    output::say("It is good once, for ten minutes.");
    Ok(())
}
