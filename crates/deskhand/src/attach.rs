//! `deskhand attach`: shows a terminal of a session's desktop in the person's own terminal.

mod filter;
mod raw;

use std::{
    io::{self, IsTerminal},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use deskhand_api::terminals::{OpenTerminalBody, TerminalMessage, TerminalRequest, TerminalView};
use deskhand_core::{
    plain::visible,
    terminal::{ReadOnly, TerminalEnd, TerminalSize},
};
use futures::{SinkExt, StreamExt};
use tokio::signal::unix::{SignalKind, signal};
use tokio_tungstenite::tungstenite::{Message, protocol::CloseFrame};

use self::{filter::OutputFilter, raw::RawMode};
use crate::{
    cli::AttachArgs,
    client::{Client, Socket},
    config::{Config, Environment},
    find::running_server,
    interrupts::Interrupts,
    output,
};

/// Ctrl-], which detaches and leaves the terminal running.
const DETACH: u8 = 0x1d;
/// The maximum length of a message. A longer paste is split.
const LONGEST_MESSAGE_BYTES: usize = 32 * 1024;

/// The time after a key press for which this terminal replies to queries of programs.
const ANSWERS_FOR: Duration = Duration::from_secs(3);

/// The reason why the terminal is no longer shown.
#[derive(Debug)]
enum Left {
    Detached,
    Ended(TerminalEnd),
    /// The connection ended. The text is the server's reason.
    Closed(String),
    Signalled(ExitCode),
}

/// A terminal that is shown.
#[derive(Debug)]
struct Attached {
    socket: Socket,
    filter: OutputFilter,
    read_only: Option<ReadOnly>,
    /// True once the size was sent. People who only watch do not change it.
    is_sized: bool,
    typed_at: Option<Instant>,
}

/// Shows a terminal until it ends or the person leaves it.
pub(crate) async fn attach(
    args: &AttachArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        bail!("attach needs a terminal for its input and output; run it without a pipe");
    }
    let client = running_server(&args.server, config, environment).await?;
    let terminal = choose(args, &client).await?;
    let watch = args.read_only;
    let socket = client.attach_terminal(args.session, terminal.number, watch);
    let socket = socket.await?;
    let mut attached = Attached {
        socket,
        filter: OutputFilter::default(),
        read_only: None,
        is_sized: false,
        typed_at: None,
    };
    let left = {
        let _raw = RawMode::begin().context("cannot change the settings of this terminal")?;
        let name = visible(&terminal.name);
        let hint = format!("Attached to {name}. Ctrl-] leaves it running.\r\n");
        raw::show(hint.as_bytes()).context("cannot write to this terminal")?;
        let left = attached.show().await;
        // If this fails, the person's terminal is closed.
        let _ = raw::show(&attached.filter.restore());
        left
    };
    Ok(match left? {
        Left::Detached => {
            output::say("\nDetached. The terminal is still running.");
            ExitCode::SUCCESS
        }
        Left::Ended(TerminalEnd::Exited { code }) => {
            output::say(&format!("\nThe terminal ended with exit code {code}."));
            ExitCode::from(u8::try_from(code).unwrap_or(1))
        }
        Left::Ended(TerminalEnd::Killed) => {
            output::say("\nSomebody ended the terminal.");
            ExitCode::FAILURE
        }
        Left::Closed(reason) => bail!("the connection ended ({reason}); attach again"),
        Left::Signalled(code) => code,
    })
}

/// Chooses the terminal: a given one, a new one, or the newest that runs.
async fn choose(args: &AttachArgs, client: &Client) -> anyhow::Result<TerminalView> {
    let all = client.terminals(args.session).await?;
    if let Some(number) = args.terminal {
        let found = all.into_iter().find(|terminal| terminal.number == number);
        return found.with_context(|| {
            format!(
                "session {} has no terminal {number}; open one with --new",
                args.session
            )
        });
    }
    // While a person has control, terminals from before are paused.
    let is_usable = |terminal: &&TerminalView| {
        terminal.ended.is_none() && !terminal.paused && terminal.number > 0
    };
    let newest = all.iter().rfind(is_usable);
    match newest.filter(|_| !args.new) {
        Some(newest) => Ok(newest.clone()),
        None if args.read_only => {
            let agent = all.into_iter().find(|terminal| terminal.number == 0);
            agent.context("there is no terminal to watch: the session's computer is not running")
        }
        None => {
            let wanted = OpenTerminalBody {
                size: Some(raw::size()),
                ..OpenTerminalBody::default()
            };
            Ok(client.open_terminal(args.session, &wanted).await?)
        }
    }
}

impl Attached {
    async fn show(&mut self) -> anyhow::Result<Left> {
        let mut keys = raw::keys().context("cannot read what you type")?;
        let mut resized = signal(SignalKind::window_change())?;
        let mut interrupts = Interrupts::listen()?;
        let mut hung_up = signal(SignalKind::hangup())?;
        loop {
            let left = tokio::select! {
                message = self.socket.next() => match message {
                    Some(Ok(message)) => self.take(message).await?,
                    Some(Err(error)) => Some(Left::Closed(error.to_string())),
                    None => Some(Left::Closed("the server is gone".to_owned())),
                },
                typed = keys.recv() => match typed {
                    Some(bytes) => self.type_in(&bytes).await?,
                    None => Some(Left::Detached),
                },
                _ = resized.recv() => {
                    self.resize().await?;
                    None
                }
                interrupt = interrupts.next() => {
                    Some(Left::Signalled(ExitCode::from(interrupt.exit_code())))
                }
                _ = hung_up.recv() => Some(Left::Signalled(ExitCode::FAILURE)),
            };
            if let Some(left) = left {
                return Ok(left);
            }
        }
    }

    async fn take(&mut self, message: Message) -> anyhow::Result<Option<Left>> {
        match message {
            Message::Binary(bytes) => {
                let typed_at = self.typed_at;
                self.filter.may_answer = typed_at.is_some_and(|at| at.elapsed() < ANSWERS_FOR);
                raw::show(&self.filter.pass(&bytes))?;
            }
            Message::Text(text) => {
                let message = serde_json::from_str(&text);
                match message.context("could not read a message of the server")? {
                    TerminalMessage::State {
                        terminal,
                        read_only,
                    } => return self.note(&terminal, read_only).await,
                    TerminalMessage::Replay { missed: true } => {
                        note("some output is left out, because it came too fast")?;
                    }
                    TerminalMessage::Replay { missed: false } => {}
                }
            }
            Message::Close(frame) => return Ok(Some(Left::Closed(reason(frame)))),
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
        Ok(None)
    }

    /// Updates the terminal's state, and reports changes that matter.
    async fn note(
        &mut self,
        terminal: &TerminalView,
        read_only: Option<ReadOnly>,
    ) -> anyhow::Result<Option<Left>> {
        if let Some(end) = terminal.ended {
            return Ok(Some(Left::Ended(end)));
        }
        if read_only != self.read_only {
            self.read_only = read_only;
            match read_only {
                Some(reason) => note(explained(reason))?,
                None => note("you can type now")?,
            }
        }
        if read_only.is_none() && !self.is_sized {
            self.resize().await?;
        }
        Ok(None)
    }

    /// Sends what was typed, up to the key that detaches.
    async fn type_in(&mut self, bytes: &[u8]) -> anyhow::Result<Option<Left>> {
        self.typed_at = Some(Instant::now());
        let end = bytes.iter().position(|byte| *byte == DETACH);
        let typed = &bytes[..end.unwrap_or(bytes.len())];
        for piece in typed.chunks(LONGEST_MESSAGE_BYTES) {
            let message = Message::binary(piece.to_vec());
            if self.socket.send(message).await.is_err() {
                return Ok(Some(Left::Closed("the server is gone".to_owned())));
            }
        }
        Ok(end.map(|_| Left::Detached))
    }

    async fn resize(&mut self) -> anyhow::Result<()> {
        if self.read_only.is_some() {
            return Ok(());
        }
        self.is_sized = true;
        let TerminalSize { cols, rows } = raw::size();
        let text = serde_json::to_string(&TerminalRequest::Resize { cols, rows })?;
        // If the connection is closed, the next read reports it.
        let _ = self.socket.send(Message::text(text)).await;
        Ok(())
    }
}

/// Writes a line of our own into the output.
fn note(text: &str) -> io::Result<()> {
    raw::show(format!("\x1b[0m\r\n[deskhand: {text}]\r\n").as_bytes())
}

fn explained(reason: ReadOnly) -> &'static str {
    match reason {
        ReadOnly::Ended => "the terminal has ended",
        ReadOnly::AgentShell => "this is the agent's shell; you can only watch",
        ReadOnly::Watching => "you can only watch",
        ReadOnly::Control => "somebody else has control; you can only watch",
        ReadOnly::Paused => "paused while you have control; open another terminal with --new",
    }
}

fn reason(frame: Option<CloseFrame>) -> String {
    let reason = frame.map(|frame| frame.reason.to_string());
    let reason = reason.filter(|reason| !reason.is_empty());
    reason.unwrap_or_else(|| "the server closed it".to_owned())
}
