//! Arguments of `deskhand jamie`.

use std::net::SocketAddr;

use clap::Args;

use super::ServerArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "The bot's token is the setting jamie.token, for example in DESKHAND_JAMIE_TOKEN. The server needs \
                  jamie.controller = true. docs/guide/jamie.md has all steps."
)]
pub(crate) struct JamieArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Address and port at which the server's webhooks arrive, at /jamie/status; without it, the bot asks the server
    #[arg(long, value_name = "ADDRESS", requires = "webhook_url")]
    pub(crate) listen: Option<SocketAddr>,
    /// Address at which the server reaches /jamie/status of this bot
    #[arg(long, value_name = "URL", requires = "listen")]
    pub(crate) webhook_url: Option<String>,
}
