//! A runner without a desktop, for tests: it runs shell commands, and misbehaves when asked.
//!
//! Commands that begin with `:` are instructions to itself, see [`StandIn::run`]. With a screen one pixel wide it
//! does not start, with two pixels it takes forever, and with three it ends at once.

use std::{
    collections::HashMap,
    error::Error,
    io::{Read, Write},
    os::linux::net::SocketAddrExt,
    os::unix::net::{SocketAddr, UnixStream as BlockingStream},
    process::exit,
};

use bytes::Bytes;
use deskhand_core::{
    id::RequestId,
    sandbox::{LeaseHolder, RunnerReply, RunnerRequest},
    shell::{ShellEnding, ShellOutput, ShellRequest},
    tasks::Tasks,
};
use deskhand_runner_protocol::{
    CONTROL_PATH, FromRunner, Outcome, RunnerConfig, ToRunner, codec, stream_path,
};
use futures::{SinkExt, StreamExt};
use tokio::net::UnixStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest, http::header::AUTHORIZATION},
};

type Problem = Box<dyn Error + Send + Sync>;

struct StandIn {
    config: RunnerConfig,
    tasks: Tasks,
    /// Results that were not acknowledged.
    kept: HashMap<RequestId, Outcome>,
    n_done: usize,
    hanging: Vec<RequestId>,
    holder: LeaseHolder,
}

/// The handling of a result.
enum Then {
    Send,
    /// Break the link before it is sent.
    Drop,
    /// Nothing is sent for now.
    Hang,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Problem> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let config: RunnerConfig = serde_json::from_str(&line)?;
    if config.screen.width == 3 {
        writeln!(std::io::stderr(), "the X server ended")?;
        exit(4);
    }
    let mut stand_in = StandIn {
        config,
        tasks: Tasks::default(),
        kept: HashMap::new(),
        n_done: 0,
        hanging: Vec::new(),
        holder: LeaseHolder::default(),
    };
    loop {
        stand_in.serve().await?;
    }
}

impl StandIn {
    async fn dial(&self, path: &str) -> Result<WebSocketStream<UnixStream>, Problem> {
        let stream = UnixStream::connect(&self.config.socket).await?;
        let mut request = format!("ws://runner{path}").into_client_request()?;
        let token = format!("Bearer {}", self.config.token.expose());
        request.headers_mut().insert(AUTHORIZATION, token.parse()?);
        Ok(client_async(request, stream).await?.0)
    }

    async fn serve(&mut self) -> Result<(), Problem> {
        let mut link = self.dial(CONTROL_PATH).await?;
        match self.config.screen.width {
            1 => {
                let problem = "there is no display".to_owned();
                send(&mut link, FromRunner::StartFailed { problem }, &[]).await?;
            }
            2 => {}
            _ => {
                let screen = self.config.screen;
                send(&mut link, FromRunner::Ready { screen }, &[]).await?;
            }
        }
        while let Some(message) = link.next().await {
            let Message::Binary(message) = message? else {
                continue;
            };
            match ToRunner::unpack(&message)? {
                ToRunner::Request { id, actor, .. } if !self.holder.admits(actor) => {
                    let outcome = Outcome::Refused { was_begun: false };
                    send(&mut link, FromRunner::Result { id, outcome }, &[]).await?;
                }
                ToRunner::SetLeaseHolder { number, holder } => {
                    self.holder = holder;
                    let problem = None;
                    let set = FromRunner::LeaseHolderSet { number, problem };
                    send(&mut link, set, &[]).await?;
                }
                ToRunner::Request { id, request, .. } => {
                    if let Then::Drop = self.answer(&mut link, id, request).await? {
                        return Ok(());
                    }
                }
                ToRunner::Ack { id } => {
                    self.kept.remove(&id);
                }
                ToRunner::Cancel { id } => {
                    if self.hanging.contains(&id) {
                        let outcome = Outcome::Cancelled;
                        send(&mut link, FromRunner::Result { id, outcome }, &[]).await?;
                    }
                }
                ToRunner::OpenStream { stream, .. } => {
                    let echo = self.dial(&stream_path(stream)).await?;
                    self.tasks.spawn("echo", async move {
                        let (sink, stream) = echo.split();
                        // The echo ends when the other side does.
                        let _ = stream.forward(sink).await;
                    });
                }
            }
        }
        Ok(())
    }

    async fn answer(
        &mut self,
        link: &mut WebSocketStream<UnixStream>,
        id: RequestId,
        request: RunnerRequest,
    ) -> Result<Then, Problem> {
        let mut then = Then::Send;
        if !self.kept.contains_key(&id) {
            let (outcome, asked) = match request {
                RunnerRequest::Shell(ShellRequest::Run { command, .. }) => {
                    self.run(link, id, &command).await?
                }
                other @ (RunnerRequest::Act(_)
                | RunnerRequest::Look(_)
                | RunnerRequest::Shell(ShellRequest::Restart)
                | RunnerRequest::Edit(_)
                | RunnerRequest::PutFile(_)
                | RunnerRequest::Files(_)
                | RunnerRequest::TakeFile(_)
                | RunnerRequest::ReadClipboard(_)
                | RunnerRequest::SetClipboard(_)
                | RunnerRequest::Browse(_)
                | RunnerRequest::OpenTerminal(_)
                | RunnerRequest::ListTerminals(_)
                | RunnerRequest::RenameTerminal(_)
                | RunnerRequest::KillTerminal(_)
                | RunnerRequest::FindElement(_)
                | RunnerRequest::FindField(_)
                | RunnerRequest::TypeSecret(_)
                | RunnerRequest::CoverSecrets(_)) => {
                    (failed(format!("not here: {other:?}")), Then::Send)
                }
            };
            self.kept.insert(id, outcome);
            then = asked;
        }
        if let (Then::Send, Some(outcome)) = (&then, self.kept.get(&id)) {
            let outcome = outcome.clone();
            send(link, FromRunner::Result { id, outcome }, &[]).await?;
        }
        Ok(then)
    }

    async fn run(
        &mut self,
        link: &mut WebSocketStream<UnixStream>,
        id: RequestId,
        command: &str,
    ) -> Result<(Outcome, Then), Problem> {
        self.n_done += 1;
        let (word, argument) = command.split_once(' ').unwrap_or((command, ""));
        let outcome = match word {
            ":count" => said(self.n_done.to_string()),
            ":forget" => {
                self.holder = LeaseHolder::default();
                return Ok((said("forgotten".to_owned()), Then::Drop));
            }
            ":drop" => return Ok((said("after all".to_owned()), Then::Drop)),
            ":hang" => {
                self.hanging.push(id);
                return Ok((Outcome::Cancelled, Then::Hang));
            }
            ":exit" => {
                let text = "the X server ended".to_owned();
                send(link, FromRunner::LastWords { text }, &[]).await?;
                exit(argument.parse()?)
            }
            ":say" => {
                writeln!(std::io::stderr(), "{argument}")?;
                said("said".to_owned())
            }
            ":progress" => {
                for piece in ["one", "two"] {
                    send(link, FromRunner::Progress { id }, piece.as_bytes()).await?;
                }
                said("onetwo".to_owned())
            }
            ":abstract" => {
                let address = SocketAddr::from_abstract_name(argument)?;
                match BlockingStream::connect_addr(&address) {
                    Ok(_) => said("connected".to_owned()),
                    Err(error) => said(error.to_string()),
                }
            }
            _ => bash(command)?,
        };
        Ok((outcome, Then::Send))
    }
}

async fn send(
    link: &mut WebSocketStream<UnixStream>,
    head: FromRunner,
    body: &[u8],
) -> Result<(), Problem> {
    let message: Bytes = codec::pack(&head, body)?;
    link.send(Message::Binary(message)).await?;
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "running commands is what a runner is for"
)]
fn bash(command: &str) -> Result<Outcome, Problem> {
    let (mut reader, writer) = std::io::pipe()?;
    let mut child = std::process::Command::new("bash")
        .args(["-c", command])
        .stdin(std::process::Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    let code = child.wait()?.code().unwrap_or(-1);
    Ok(Outcome::Done(RunnerReply::Shell(ShellOutput {
        output: String::from_utf8_lossy(&output).into_owned(),
        omitted_bytes: 0,
        file: None,
        ending: ShellEnding::Exited { code },
        cwd: "/home/agent".to_owned(),
    })))
}

fn said(output: String) -> Outcome {
    Outcome::Done(RunnerReply::Shell(ShellOutput {
        output,
        omitted_bytes: 0,
        file: None,
        ending: ShellEnding::Exited { code: 0 },
        cwd: "/home/agent".to_owned(),
    }))
}

fn failed(problem: String) -> Outcome {
    Outcome::Failed { problem }
}
