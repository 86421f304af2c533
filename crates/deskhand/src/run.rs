//! `deskhand run`: one task from the terminal, from the prompt to the answer.

mod describe;
mod feed;
mod mcp_server;
mod narrator;
mod questions;
mod show;
mod spent;

use std::{io::IsTerminal, path::Path, process::ExitCode, time::Duration};

use anyhow::Context;
use deskhand_api::{budgets::BudgetBody, sessions::CreateSessionBody};
use deskhand_core::{
    attachment::LARGEST_ATTACHMENT_BYTES,
    computer::ComputerKind,
    id::{AttachmentId, SessionId},
    plain::is_deceptive,
};
use tokio::time::{Instant, sleep_until};

pub(crate) use self::mcp_server::parse_mcp_server;
use self::{feed::Feed, narrator::TurnEnd, questions::Questions, show::Show};
use crate::{
    cli::RunArgs,
    client::Client,
    config::{Config, Environment},
    find::find_or_start,
    interrupts::{Interrupt, Interrupts},
    own_server::end_server,
    server::RunningServer,
};

/// The timeout for a stopped turn to report its end. After it, the session is ended regardless.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest title made from a prompt, in characters.
const LONGEST_TITLE: usize = 80;

/// The outcome of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Done,
    Failed,
    Interrupted(Interrupt),
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Done => Self::SUCCESS,
            Ending::Failed => Self::FAILURE,
            Ending::Interrupted(interrupt) => Self::from(interrupt.exit_code()),
        }
    }
}

/// Gives the task to the agent and shows its work.
pub(crate) async fn run(
    args: &RunArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    let mut interrupts = Interrupts::listen()?;
    let mut show = Show::new(args.json);
    show.activity("Looking for the server");
    let (client, own_server) =
        find_or_start(args.server.server.as_deref(), config, environment).await?;
    let ending = with_session(
        args,
        &client,
        own_server.as_ref(),
        &mut show,
        &mut interrupts,
    )
    .await;
    if let Some(server) = own_server {
        show.activity("Ending the server");
        let note = |line: &str| {
            show.note(line);
            show.activity("Waiting for the others");
        };
        tokio::select! {
            () = end_server(server, &client, None, note) => {}
            _ = interrupts.next() => {}
        }
    }
    show.finish();
    Ok(ending?.into())
}

/// Creates a session for the task. Ends it whether or not the task succeeds, unless it is to be kept.
async fn with_session(
    args: &RunArgs,
    client: &Client,
    own_server: Option<&RunningServer>,
    show: &mut Show,
    interrupts: &mut Interrupts,
) -> anyhow::Result<Ending> {
    let session = client
        .create_session(&CreateSessionBody {
            title: Some(title(&args.text)),
            model: args.model.clone(),
            effort: args.effort,
            // An earlier server knows only desktops, and no field for it.
            computer: (args.computer != ComputerKind::Desktop).then_some(args.computer),
            budget: BudgetBody {
                usd: args.budget_usd,
                tokens: args.budget_tokens,
            },
            network: args.network.clone(),
            mcp_servers: args.mcp.clone(),
            ..CreateSessionBody::default()
        })
        .await?;
    if let Some(server) = own_server {
        let page = if std::io::stderr().is_terminal() {
            server.sign_in_link().await?
        } else {
            format!("{} (sign in with `deskhand login`)", server.public_url)
        };
        show.note(&format!("Watch it at {page}"));
    }
    let ending = follow(args, client, session, show, interrupts).await;
    if args.keep {
        show.note(&where_to_look(client, session, own_server.is_some()));
        return ending;
    }
    show.activity("Ending the session");
    let ended = tokio::select! {
        ended = client.end_session(session) => ended,
        _ = interrupts.next() => Ok(()),
    };
    // The outcome of the task matters more than a failure to clean up.
    if let Err(error) = ended {
        show.note(&format!("Could not end session {session}: {error}"));
    }
    ending
}

/// Sends the prompt and shows the turn until it ends or the process is interrupted.
async fn follow(
    args: &RunArgs,
    client: &Client,
    session: SessionId,
    show: &mut Show,
    interrupts: &mut Interrupts,
) -> anyhow::Result<Ending> {
    let attachments = attach(args, client, session, show).await?;
    client.send_prompt(session, &args.text, attachments).await?;
    let mut feed = Feed::new(client, session);
    let mut questions = Questions::new(client, session, args);
    let mut interrupted: Option<(Interrupt, Instant)> = None;
    loop {
        let give_up_at = interrupted.map_or_else(Instant::now, |(_, at)| at);
        tokio::select! {
            event = feed.next() => {
                let event = event?;
                let end = show.event(&event)?;
                if let Some(event) = &event.event {
                    questions.event(event, show).await?;
                }
                match (end, interrupted) {
                    (None, _) => {}
                    (Some(_), Some((interrupt, _))) => return Ok(Ending::Interrupted(interrupt)),
                    (Some(TurnEnd::Done), None) => return Ok(Ending::Done),
                    (Some(TurnEnd::Stopped | TurnEnd::Failed), None) => return Ok(Ending::Failed),
                }
            }
            line = questions.next_line() => questions.answer(&line, show).await?,
            // The first interrupt stops the turn, the second does not wait for it.
            interrupt = interrupts.next() => {
                show.note("Stopping. Press Ctrl-C again to leave at once.");
                let is_stopping = interrupted.is_none() && client.stop_turn(session).await?;
                if !is_stopping {
                    return Ok(Ending::Interrupted(interrupt));
                }
                interrupted = Some((interrupt, Instant::now() + STOP_TIMEOUT));
            }
            () = sleep_until(give_up_at), if interrupted.is_some() => {
                if let Some((interrupt, _)) = interrupted {
                    return Ok(Ending::Interrupted(interrupt));
                }
            }
        }
    }
}

/// Uploads the attachments of the task.
async fn attach(
    args: &RunArgs,
    client: &Client,
    session: SessionId,
    show: &mut Show,
) -> anyhow::Result<Vec<AttachmentId>> {
    let mut attached = Vec::with_capacity(args.attach.len());
    for path in &args.attach {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        show.activity(&format!("Sending {name}"));
        let bytes = read_attachment(path).await;
        let bytes = bytes.with_context(|| format!("could not attach {}", path.display()))?;
        let sent = client.attach(session, &name, bytes.into()).await;
        let sent = sent.with_context(|| format!("could not attach {}", path.display()))?;
        attached.push(sent.id);
    }
    Ok(attached)
}

/// Reads a file that is not too large to be attached.
async fn read_attachment(path: &Path) -> anyhow::Result<Vec<u8>> {
    let n_bytes = tokio::fs::metadata(path).await?.len();
    anyhow::ensure!(
        n_bytes <= LARGEST_ATTACHMENT_BYTES,
        "an attachment may have at most {LARGEST_ATTACHMENT_BYTES} bytes; copy the file with `deskhand cp` instead"
    );
    Ok(tokio::fs::read(path).await?)
}

/// Returns the first line of a prompt, cut to the length of a title.
fn title(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let line: String = line.chars().filter(|c| !is_deceptive(*c)).collect();
    let mut title: String = line.chars().take(LONGEST_TITLE).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}

fn where_to_look(client: &Client, session: SessionId, is_own_server: bool) -> String {
    if is_own_server {
        format!("The session is kept. `deskhand serve` shows it at /sessions/{session}")
    } else {
        format!(
            "The session is kept. See it at {}/sessions/{session}",
            client.page_address()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_of_the_prompt() {
        assert_eq!(title("\n Book a table\nfor two"), "Book a table");
        let long = "ü".repeat(100);
        assert_eq!(title(&long), format!("{}…", "ü".repeat(80)));
    }
}
