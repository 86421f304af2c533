//! `deskhand mcp`: connects an MCP client on standard input and output to a server.
//!
//! Nothing but messages of the protocol is written to standard output.

use std::{process::ExitCode, time::Duration};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, split, stdin, stdout};

use crate::{
    cli::McpArgs,
    client::{CallError, Client},
    config::{Config, Environment},
    data_dir::DataDir,
    find::{find_or_start, locate_server},
    interrupts::Interrupts,
    output,
};

/// The timeout for answers that are still to come when the client has closed its side.
const LAST_ANSWERS_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves the client until it leaves. Uses the running server, or else one in this process.
pub(crate) async fn mcp(
    args: &McpArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    let mut interrupts = Interrupts::listen()?;
    let tools = args.tools.as_deref();
    let named = args.server.server.as_deref();
    let dir = DataDir::at(&config.data_dir);
    if let Some(client) = locate_server(named, environment, &dir).await? {
        match client.open_mcp(tools).await {
            Ok(stream) => return Ok(serve(stream, &mut interrupts).await),
            // The server is just ending.
            Err(CallError::Unreachable { .. }) if named.is_none() => {}
            Err(error) => return Err(error.into()),
        }
    }
    let (client, server) = find_or_start(named, config, environment).await?;
    let served = with_client(&client, tools, &mut interrupts).await;
    if let Some(server) = server {
        server.end().await;
    }
    served
}

async fn with_client(
    client: &Client,
    tools: Option<&str>,
    interrupts: &mut Interrupts,
) -> anyhow::Result<ExitCode> {
    let stream = client.open_mcp(tools).await?;
    Ok(serve(stream, interrupts).await)
}

/// Carries messages in both directions until one side has closed.
async fn serve<S>(stream: S, interrupts: &mut Interrupts) -> ExitCode
where
    S: AsyncRead + AsyncWrite,
{
    let (mut from_server, mut to_server) = split(stream);
    let (mut input, mut output) = (stdin(), stdout());
    let asking = async {
        // A server that is gone is noticed by the other direction.
        let _ = copy(&mut input, &mut to_server).await;
        let _ = to_server.shutdown().await;
    };
    let answering = async {
        // So is a client.
        let _ = copy(&mut from_server, &mut output).await;
        let _ = output.flush().await;
    };
    tokio::pin!(asking, answering);
    tokio::select! {
        () = &mut asking => {
            // Answers that do not come in time are for nobody.
            let _ = tokio::time::timeout(LAST_ANSWERS_TIMEOUT, answering).await;
            ExitCode::SUCCESS
        }
        () = &mut answering => {
            output::say("deskhand: the server has ended the connection");
            ExitCode::FAILURE
        }
        interrupt = interrupts.next() => ExitCode::from(interrupt.exit_code()),
    }
}
