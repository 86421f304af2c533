//! Finding the server that a command should talk to.

use anyhow::Context;
use deskhand_core::secret::Secret;

use crate::{
    cli::ServerArgs,
    client::{CallError, Client},
    config::{Config, Environment},
    data_dir::DataDir,
};

/// Why no server can be named.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FindServerError {
    #[error("a server was named but no token; put one of its tokens into DESKHAND_TOKEN")]
    NoToken,
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("cannot read admin-token in the data folder")]
    ReadToken(#[source] std::io::Error),
}

/// The server that was named, or else the one that uses the data folder. `None` when none does.
pub(crate) async fn find_server(
    named: Option<&str>,
    environment: &Environment,
    dir: &DataDir,
) -> Result<Option<Client>, FindServerError> {
    let given_token = environment.get("DESKHAND_TOKEN").map(Secret::new);
    if let Some(address) = named {
        // The admin's token of this machine is not for whoever answers at some address.
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
        // A server that was killed leaves its note behind. By now nobody listens there, or
        // somebody else does, or a server with another data folder that does not know the token.
        Err(error) => {
            tracing::debug!(
                server.url = note.url,
                server.pid = note.pid,
                %error,
                "the note about a server is out of date"
            );
            Ok(None)
        }
    }
}

/// The same for commands that cannot do without one.
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
