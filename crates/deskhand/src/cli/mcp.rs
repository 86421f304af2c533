//! Arguments of `deskhand mcp`.

use clap::Args;

use super::ServerArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "A program that speaks the Model Context Protocol starts this command. It uses the running server, or \
                  else starts one that ends with it. docs/guide/mcp.md has settings for well-known programs."
)]
pub(crate) struct McpArgs {
    /// Groups of tools to offer, separated by commas; the server's settings choose without it
    #[arg(long, value_name = "GROUPS", value_parser = parse_groups)]
    pub(crate) tools: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

fn parse_groups(text: &str) -> Result<String, deskhand_mcp::UnknownGroup> {
    deskhand_mcp::Groups::parse(text).map(|_| text.replace(' ', ""))
}
