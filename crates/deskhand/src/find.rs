//! Finding the server that a command should talk to.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use anyhow::Context;
use deskhand_core::secret::Secret;
use tokio::time::{Instant, sleep};

use crate::{
    cli::ServerArgs,
    client::{CallError, Client},
    config::{Config, Environment},
    data_dir::{DataDir, DataDirError},
    local_socket::{self, ConnectError},
    server::RunningServer,
};

/// The timeout for finding a server that is just starting in another process.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(5);

/// The variable that allows sending tokens to another machine without encryption.
const PLAIN_HTTP: &str = "DESKHAND_ALLOW_PLAIN_HTTP";

/// Reasons why no server can be found.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FindServerError {
    #[error("a server was given without a token; set DESKHAND_TOKEN to one of its tokens")]
    NoToken,
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("cannot read admin-token in the data folder")]
    ReadToken(#[source] std::io::Error),
}

/// Returns the named server, or else the one that uses the data folder, after it has answered.
///
/// Returns `None` if no server was named and none can be found through the data folder.
pub(crate) async fn find_server(
    named: Option<&str>,
    environment: &Environment,
    dir: &DataDir,
) -> Result<Option<Client>, FindServerError> {
    let Some(client) = locate_server(named, environment, dir).await? else {
        return Ok(None);
    };
    match client.check().await {
        Ok(()) => Ok(Some(client)),
        Err(error) if named.is_some() => Err(error.into()),
        // The server is just ending, or starting with another database.
        Err(error) => {
            tracing::debug!(server.url = client.address(), %error, "the server does not answer");
            Ok(None)
        }
    }
}

/// Like [`find_server`], but sends the server nothing yet.
///
/// The token in the folder goes through the folder's own socket only. Another program could listen at the address in
/// `server.json` by now.
pub(crate) async fn locate_server(
    named: Option<&str>,
    environment: &Environment,
    dir: &DataDir,
) -> Result<Option<Client>, FindServerError> {
    let given_token = environment.get("DESKHAND_TOKEN").map(Secret::new);
    if let Some(address) = named {
        // This machine's admin token must not be sent to an arbitrary address.
        let token = given_token.ok_or(FindServerError::NoToken)?;
        let may_be_plain = environment.get(PLAIN_HTTP) == Some("true");
        return Ok(Some(Client::new(address, token, may_be_plain)?));
    }
    match local_socket::connect(dir.path()).await {
        Ok(_) => {}
        Err(ConnectError::Closed(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let Some(note) = dir.server_note() else {
        return Ok(None);
    };
    let kept_token = dir.admin_token().map_err(FindServerError::ReadToken)?;
    let Some(token) = kept_token.or(given_token) else {
        return Ok(None);
    };
    Ok(Some(Client::local(dir.path(), &note.url, token)?))
}

/// Returns a client of the server to use, and the server itself if it was started in this process.
pub(crate) async fn find_or_start(
    named: Option<&str>,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<(Client, Option<RunningServer>)> {
    let dir = DataDir::at(&config.data_dir);
    let give_up_at = Instant::now() + SEARCH_TIMEOUT;
    loop {
        if let Some(client) = find_server(named, environment, &dir).await? {
            return Ok((client, None));
        }
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        match RunningServer::start(config, any_port).await {
            Ok(server) => {
                let token = server.admin_token.clone();
                let client = Client::local(dir.path(), &server.local_url, token)?;
                return Ok((client, Some(server)));
            }
            // Another process is about to serve this folder, and then will be found.
            Err(error)
                if matches!(error.downcast_ref(), Some(DataDirError::InUse { .. }))
                    && Instant::now() < give_up_at =>
            {
                sleep(Duration::from_millis(50)).await;
            }
            Err(error) => return Err(error),
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
