//! Programs that speak with the server over their standard streams, such as MCP servers. Each runs for one stream and
//! is killed when the stream ends.

use std::{io, process::Stdio, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use deskhand_core::sandbox::{ByteStream, LONGEST_ORDER_BYTES, ProgramFrame, ProgramOrder};
use futures::{FutureExt, SinkExt, StreamExt, future::FusedFuture};
use rustix::process::Pid;
use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::Semaphore,
    time::timeout,
};

use crate::{
    complaints::Complaints,
    pour::pour,
    processes::KilledGroup,
    shell::{ShellConfig, set_environment},
};

/// The most programs at the same time.
const MOST_PROGRAMS: usize = 32;
/// The timeout for the order after the stream is open.
const ORDER_TIMEOUT: Duration = Duration::from_secs(10);
/// The time in which a program that closed its output may end by itself, to report its status.
const END_TIMEOUT: Duration = Duration::from_secs(2);
const PIECE_BYTES: usize = 64 * 1024;

/// Reasons why a program was not started.
#[derive(Debug, thiserror::Error)]
enum StartProgramError {
    #[error("{MOST_PROGRAMS} such programs are running already")]
    TooMany,
    #[error("there was no order to start one")]
    NoOrder,
    #[error("there is no program {0}")]
    NotFound(String),
    #[error("{command} could not be started: {error}")]
    Failed { command: String, error: io::Error },
}

/// Starts programs and limits their number. Clones share the limit.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    config: ShellConfig,
    places: Arc<Semaphore>,
}

/// A running program. The group is dropped first: it is found through the parent processes, which must still exist.
#[derive(Debug)]
struct StartedProgram {
    _group: KilledGroup,
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    complaints: Complaints,
}

impl Programs {
    pub(crate) fn new(config: ShellConfig) -> Self {
        Self {
            config,
            places: Arc::new(Semaphore::new(MOST_PROGRAMS)),
        }
    }

    /// Starts the program that the first message names, and carries its bytes until it or the stream ends.
    pub(crate) async fn serve(&self, mut stream: ByteStream) {
        let place = self.places.try_acquire();
        let started = match &place {
            Ok(_) => self.start(&mut stream).await,
            Err(_full) => Err(StartProgramError::TooMany),
        };
        let ended = match started {
            Ok(program) => program.carry(&mut stream).await,
            Err(error) => Some(error.to_string()),
        };
        if let Some(reason) = ended {
            // The server may be gone.
            let _ = stream
                .outgoing
                .send(ProgramFrame::Ended(reason).encode())
                .await;
        }
        let _ = stream.outgoing.close().await;
    }

    async fn start(&self, stream: &mut ByteStream) -> Result<StartedProgram, StartProgramError> {
        let order = timeout(ORDER_TIMEOUT, stream.incoming.next()).await;
        let order = order.ok().flatten().and_then(|order| read(&order));
        let order = order.ok_or(StartProgramError::NoOrder)?;
        let mut command = program(&order.command);
        set_environment(&mut command, &self.config);
        let env = order.env.iter();
        let spawned = command
            .args(&order.args)
            .envs(env.map(|(name, value)| (name, value.expose())))
            .current_dir(&self.config.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn();
        let failed = |error: io::Error| {
            let command = order.command.clone();
            if error.kind() == io::ErrorKind::NotFound {
                StartProgramError::NotFound(command)
            } else {
                StartProgramError::Failed { command, error }
            }
        };
        StartedProgram::new(spawned.map_err(failed)?).map_err(failed)
    }
}

impl StartedProgram {
    fn new(mut child: Child) -> io::Result<Self> {
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let streams = (child.stdin.take(), child.stdout.take());
        let (Some(pid), (Some(input), Some(output))) = (pid, streams) else {
            return Err(io::Error::other("it has no standard streams"));
        };
        Ok(Self {
            _group: KilledGroup(pid),
            child,
            input,
            output,
            complaints: Complaints::default(),
        })
    }

    /// Carries bytes until one side ends. Returns the reason if it is the program.
    async fn carry(mut self, stream: &mut ByteStream) -> Option<String> {
        let ByteStream { incoming, outgoing } = stream;
        outgoing.send(ProgramFrame::Started.encode()).await.ok()?;
        let stderr = self.child.stderr.take();
        let complaints = self.complaints.clone();
        let mut complaining = std::pin::pin!(
            async {
                if let Some(stderr) = stderr {
                    complaints.keep(stderr).await;
                }
            }
            .fuse()
        );
        let (input, output) = (&mut self.input, &mut self.output);
        let inward = async {
            let poured = pour(incoming.by_ref().map(Ok::<_, io::Error>), input).await;
            match poured {
                Err(stuck) if stuck.kind() == io::ErrorKind::TimedOut => Some(stuck.to_string()),
                Ok(()) => None,
                // A program that closed its input may still answer.
                Err(_closed) => {
                    while incoming.next().await.is_some() {}
                    None
                }
            }
        };
        let outward = async {
            loop {
                let mut piece = BytesMut::with_capacity(PIECE_BYTES);
                if !matches!(output.read_buf(&mut piece).await, Ok(1..)) {
                    return Ok(());
                }
                let frame = ProgramFrame::Output(piece.freeze());
                outgoing.send(frame.encode()).await?;
            }
        };
        let (mut inward, mut outward) = (std::pin::pin!(inward), std::pin::pin!(outward));
        let carried: io::Result<()> = loop {
            tokio::select! {
                ended = &mut inward => return ended,
                ended = &mut outward => break ended,
                () = &mut complaining, if !complaining.is_terminated() => {}
            }
        };
        // An error means that the server is gone.
        carried.ok()?;
        let ending = async {
            let status = self.child.wait().await;
            // Its last words may still be in the pipe.
            if !complaining.is_terminated() {
                complaining.await;
            }
            status
        };
        let status = timeout(END_TIMEOUT, ending).await;
        let complaint = self.complaints.last();
        Some(match status {
            Ok(Ok(status)) => format!("its program ended ({status}){complaint}"),
            Ok(Err(_)) | Err(_) => format!("its program closed its output{complaint}"),
        })
    }
}

fn read(order: &Bytes) -> Option<ProgramOrder> {
    if order.len() > LONGEST_ORDER_BYTES {
        return None;
    }
    serde_json::from_slice(order).ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "programs are started in the runner, and only this module starts those of streams"
)]
fn program(name: &str) -> Command {
    Command::new(name)
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
