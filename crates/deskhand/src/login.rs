//! `deskhand login`: a new sign-in link.

use crate::{
    cli::ServerArgs,
    config::{Config, Environment},
    find::running_server,
    output,
};

/// Asks the running server for a link and prints it.
pub(crate) async fn login(
    args: &ServerArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    let client = running_server(args, config, environment).await?;
    let link = client.new_sign_in_link().await?;
    output::answer(&link)?;
    output::say("It works once, within ten minutes.");
    Ok(())
}
