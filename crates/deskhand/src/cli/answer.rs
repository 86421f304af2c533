//! `deskhand answer`: the options.

use std::path::PathBuf;

use clap::Args;
use deskhand_core::id::DecisionId;

use super::ServerArgs;

#[derive(Debug, Args)]
#[command(after_help = "TEXT is the answer to a question, or the name of a choice.")]
#[group(id = "given", required = true, multiple = false)]
pub(crate) struct AnswerArgs {
    /// Id of the question, from `deskhand decisions`
    #[arg(value_name = "ID")]
    pub(crate) id: DecisionId,
    /// The answer; more than one if several may be chosen
    #[arg(value_name = "TEXT", group = "given", num_args = 1..)]
    pub(crate) texts: Vec<String>,
    /// Say yes
    #[arg(long, group = "given")]
    pub(crate) yes: bool,
    /// Say no
    #[arg(long, group = "given")]
    pub(crate) no: bool,
    /// Say yes, and allow the same for the rest of this session
    #[arg(long, group = "given")]
    pub(crate) session: bool,
    /// Say yes, and allow the same in this session and in all new ones of yours
    #[arg(long, group = "given")]
    pub(crate) always: bool,
    /// Say no, with words for the agent
    #[arg(long, value_name = "WORDS", group = "given")]
    pub(crate) because: Option<String>,
    /// Give a file of at most 700 KiB
    #[arg(long, value_name = "FILE", group = "given")]
    pub(crate) file: Option<PathBuf>,
    /// Answer a question in other words than those that it offers
    #[arg(long, value_name = "TEXT", group = "given")]
    pub(crate) other: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
