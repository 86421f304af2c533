//! Arguments of the commands that reach into the computer of a session.

use clap::Args;
use deskhand_core::{
    id::SessionId,
    network::{policy::NetworkMode, rule::NetworkRule},
};

use super::ServerArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "Press Ctrl-] to detach and leave the terminal running. Without options, attaches to the newest \
                  running terminal, or opens one. Exits with the exit code of the terminal's shell when that ends."
)]
pub(crate) struct AttachArgs {
    /// Id of the session, from its address
    #[arg(value_name = "SESSION", value_parser = parse_session)]
    pub(crate) session: SessionId,
    /// Number of the terminal; 0 is the agent's shell, which can only be watched
    #[arg(long, value_name = "N", conflicts_with = "new")]
    pub(crate) terminal: Option<u32>,
    /// Open a new terminal
    #[arg(long, conflicts_with = "read_only")]
    pub(crate) new: bool,
    /// Watch without typing
    #[arg(long)]
    pub(crate) read_only: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "SESSION:PATH is a file or folder of a session: its id, a colon, and a path that begins with / or is \
                  in the home folder of the desktop."
)]
pub(crate) struct CpArgs {
    /// What to copy: a local path, SESSION:PATH, or - for standard input
    #[arg(value_name = "FROM")]
    pub(crate) from: String,
    /// Where to: a local path, SESSION:PATH, or - for standard output
    #[arg(value_name = "TO")]
    pub(crate) to: String,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without SESSION, shows or changes the hosts that all your sessions may contact in the mode allow. HOST is \
                  a name, *.name, an address or a range, optionally followed by :PORT or :FIRST-LAST."
)]
pub(crate) struct NetworkArgs {
    /// Id of the session
    #[arg(value_name = "SESSION", value_parser = parse_session)]
    pub(crate) session: Option<SessionId>,
    /// Set the mode: open, closed or allow; keeps the list
    #[arg(long, value_name = "MODE", value_parser = parse_mode, requires = "session")]
    pub(crate) mode: Option<NetworkMode>,
    /// Add a host to the list; can be given several times
    #[arg(long, value_name = "HOST")]
    pub(crate) allow: Vec<NetworkRule>,
    /// Remove a host from the list; can be given several times
    #[arg(long, value_name = "HOST")]
    pub(crate) remove: Vec<NetworkRule>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

fn parse_mode(text: &str) -> Result<NetworkMode, String> {
    NetworkMode::from_name(text).ok_or_else(|| "give open, closed or allow".to_owned())
}

fn parse_session(text: &str) -> Result<SessionId, String> {
    text.parse().map_err(|_not_an_id| {
        "it is not the id of a session; copy it from the end of the address of the session's page".to_owned()
    })
}
