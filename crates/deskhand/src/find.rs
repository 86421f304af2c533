//! Finding the server that a command should talk to.

use anyhow::Context;
use deskhand_core::secret::Secret;

use crate::{
    cli::ServerArgs,
    client::{CallError, Client},
    config::{Config, Environment},
    data_dir::DataDir,
};

/// Reasons why no server can be found.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FindServerError {
    #[error("a server was given without a token; set DESKHAND_TOKEN to one of its tokens")]
    NoToken,
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("cannot read admin-token in the data folder")]
    ReadToken(#[source] std::io::Error),
}

/// Returns the named server, or else the one that uses the data folder.
///
/// Returns `None` if no server was named and none can be found through the data folder.
pub(crate) async fn find_server(
    named: Option<&str>,
    environment: &Environment,
    dir: &DataDir,
) -> Result<Option<Client>, FindServerError> {
    let given_token = environment.get("DESKHAND_TOKEN").map(Secret::new);
    if let Some(address) = named {
        // This machine's admin token must not be sent to an arbitrary address.
        let token = given_token.ok_or(FindServerError::NoToken)?;
        let client = Client::new(address, token)?;
        client.check().await?;
        return Ok(Some(client));
    }
    let Some(note) = dir.server_note() else {
        return Ok(None);
    };
    let kept_token = dir.admin_token().map_err(FindServerError::ReadToken)?;
    let Some(token) = kept_token.or(given_token) else {
        return Ok(None);
    };
    let client = Client::new(&note.url, token)?;
    match client.check().await {
        Ok(()) => Ok(Some(client)),
        // A server that was killed leaves its note behind. By now the port may be closed, or belong to
        // another program, or to a server with another data folder that does not know the token.
        Err(error) => {
            tracing::debug!(
                server.url = note.url,
                server.pid = note.pid,
                %error,
                "server.json in the data folder is out of date"
            );
            Ok(None)
        }
    }
}

/// Like [`find_server`], but fails if there is no server.
pub(crate) async fn running_server(
    args: &ServerArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<Client> {
    let dir = DataDir::at(&config.data_dir);
    let found = find_server(args.server.as_deref(), environment, &dir).await?;
    found.with_context(|| {
        format!(
            "no server is running with the data folder {}; start one with `deskhand serve`",
            dir.path().display()
        )
    })
}
