//! The task that owns the running bash and carries out one command after the other.

use std::{
    collections::{HashMap, HashSet},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::ExitStatus,
    sync::Arc,
    time::Duration,
};

use deskhand_core::shell::{ShellEnding, ShellOutput, ShellRequest};
use rustix::{
    process::{Pid, Signal, kill_process},
    rand::{GetRandomFlags, getrandom},
};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    OnOutput, Order, Pause, QueuedCommand, ShellConfig, ShellError,
    bash::{Bash, Report, Sign},
    capture::Captured,
    output::Output,
    processes,
    whole_output::OutputFiles,
};
use crate::{processes::ProcessSlot, terminals::Transcript};

/// The time a command gets to end before the shell is ended with it.
const END_TIMEOUT: Duration = Duration::from_secs(2);
/// The time that each signal gets to take effect.
const STEP: Duration = Duration::from_millis(300);
const SHELL_LOST_NOTE: &str =
    "\n[The shell had to be ended too: its variables and jobs are gone.]\n";

#[derive(Debug)]
pub(super) struct Session {
    config: ShellConfig,
    output: Output,
    bash: Bash,
    /// The working directory that the shell last reported.
    directory: String,
    /// Every bash that is running or has left jobs.
    started: Started,
    /// The transcript in which people watch the commands, if they can.
    transcript: Option<Transcript>,
}

/// The sessions of all shells. Dropping this value kills them.
#[derive(Debug, Default)]
struct Started {
    sessions: Vec<Pid>,
    /// The newest of them.
    current: Arc<ProcessSlot>,
}

/// A running command.
struct Run<'a> {
    nonce: String,
    on_output: &'a OnOutput,
    /// Jobs of earlier commands, which a timeout of this one must not end.
    spared: HashSet<i32>,
}

/// The result of waiting for a command.
enum Waited {
    Sign(Sign),
    /// The deadline passed.
    Late,
    /// The command was cancelled.
    Stopped,
}

impl Session {
    pub(super) fn start(
        config: ShellConfig,
        transcript: Option<Transcript>,
    ) -> Result<Self, ShellError> {
        let output = Output::open(
            config.output_bytes,
            OutputFiles::new(&config.home),
            transcript.clone(),
        );
        let output = output.map_err(ShellError::Start)?;
        let mut started = Started::default();
        let bash = started.bash(&config, &config.home, &output)?;
        let directory = config.home.to_string_lossy().into_owned();
        Ok(Self {
            config,
            output,
            bash,
            directory,
            started,
            transcript,
        })
    }

    pub(super) async fn serve(
        mut self,
        mut orders: mpsc::Receiver<Order>,
        shutdown: CancellationToken,
    ) {
        loop {
            let order = tokio::select! {
                () = shutdown.cancelled() => return,
                order = orders.recv() => order,
                _ = self.output.fill() => continue,
            };
            let carried_out = async {
                match order? {
                    Order::Command(command) => {
                        let result = self.perform(&command).await;
                        // The caller may have stopped waiting.
                        let _ = command.reply.send(result);
                    }
                    Order::Pause(pause) => self.rest(pause).await,
                }
                Some(())
            };
            let carried_out = shutdown.run_until_cancelled(carried_out).await;
            if carried_out.flatten().is_none() {
                return;
            }
        }
    }

    /// Returns the process of the current bash, which changes with it.
    pub(super) fn process(&self) -> Arc<ProcessSlot> {
        Arc::clone(&self.started.current)
    }

    async fn rest(&mut self, pause: Pause) {
        // If the caller has stopped waiting, the pause is over already.
        let _ = pause.paused.send(());
        loop {
            tokio::select! {
                () = pause.resumed.cancelled() => return,
                _ = self.output.fill() => {}
            }
        }
    }

    async fn perform(&mut self, order: &QueuedCommand) -> Result<ShellOutput, ShellError> {
        if order.cancel.is_cancelled() {
            return Err(ShellError::Cancelled);
        }
        match &order.request {
            ShellRequest::Restart => self.restart(),
            ShellRequest::Run {
                command,
                timeout_ms,
            } => {
                if let Some(status) = self.bash.exited().map_err(ShellError::Link)? {
                    self.renew()?;
                    return Err(ShellError::Died {
                        code: exit_code(status),
                    });
                }
                self.run(command, *timeout_ms, order).await
            }
        }
    }

    fn restart(&mut self) -> Result<ShellOutput, ShellError> {
        self.started.kill_all();
        self.directory = self.config.home.to_string_lossy().into_owned();
        self.renew()?;
        // The rest of the old shell's output is dropped.
        self.output.end();
        Ok(self.answer(Captured::default(), ShellEnding::Restarted))
    }

    async fn run(
        &mut self,
        command: &str,
        timeout_ms: u64,
        order: &QueuedCommand,
    ) -> Result<ShellOutput, ShellError> {
        self.output.begin();
        if let Some(transcript) = &self.transcript {
            transcript.command(command);
        }
        let run = Run {
            nonce: nonce().map_err(ShellError::Link)?,
            on_output: &order.on_output,
            spared: processes::children(self.bash.pid),
        };
        let deadline = Instant::now() + Duration::from_millis(timeout_ms);
        let sent = self.bash.send(command, &run.nonce);
        let waited = tokio::select! {
            sent = sent => match sent {
                Ok(()) => self.wait(&run, deadline, &order.cancel).await?,
                // Bash is ending, and its exit status will say how.
                Err(_) => self.wait(&run, Instant::now() + STEP, &order.cancel).await?,
            },
            () = tokio::time::sleep_until(deadline) => Waited::Late,
            () = order.cancel.cancelled() => Waited::Stopped,
        };
        // After a timeout or a cancellation, replace the shell only if it cannot be kept.
        let ending = match waited {
            Waited::Sign(Sign::Finished(report)) => self.finished(report),
            Waited::Sign(Sign::Exited(status)) => {
                self.renew()?;
                ShellEnding::ShellEnded {
                    code: exit_code(status),
                }
            }
            Waited::Late if self.interrupt(&run).await? => ShellEnding::TimedOut {
                after_ms: timeout_ms,
            },
            Waited::Late => {
                self.replace()?;
                ShellEnding::TimedOutWithShell {
                    after_ms: timeout_ms,
                }
            }
            Waited::Stopped if self.interrupt(&run).await? => ShellEnding::Interrupted,
            Waited::Stopped => {
                self.replace()?;
                let mut captured = self.output.end();
                captured.text.push_str(SHELL_LOST_NOTE);
                return Ok(self.answer(captured, ShellEnding::Interrupted));
            }
        };
        let captured = self.output.end();
        Ok(self.answer(captured, ending))
    }

    /// Reads output until the command finishes, is cancelled or reaches the deadline.
    async fn wait(
        &mut self,
        run: &Run<'_>,
        until: Instant,
        stop: &CancellationToken,
    ) -> Result<Waited, ShellError> {
        loop {
            tokio::select! {
                biased;
                sign = self.bash.sign(&run.nonce) => {
                    return sign.map(Waited::Sign).map_err(ShellError::Link);
                }
                () = stop.cancelled() => return Ok(Waited::Stopped),
                () = tokio::time::sleep_until(until) => return Ok(Waited::Late),
                piece = self.output.fill() => {
                    if let Some(bytes) = piece {
                        (run.on_output)(bytes);
                    }
                }
            }
        }
    }

    /// Ends the command. Returns true if the shell survived.
    ///
    /// On SIGINT, bash drops the rest of its command list, but first the processes it waits for must end. Each of
    /// them gets SIGINT, then SIGTERM, then SIGKILL.
    async fn interrupt(&mut self, run: &Run<'_>) -> Result<bool, ShellError> {
        let give_up = Instant::now() + END_TIMEOUT;
        let mut n_asked: HashMap<Pid, u8> = HashMap::new();
        while Instant::now() < give_up {
            // The processes may have ended by themselves in the meantime.
            let _ = kill_process(self.bash.pid, Signal::INT);
            for pid in processes::foreground(self.bash.pid, &run.spared) {
                let n_before = n_asked.entry(pid).or_default();
                let signal = match n_before {
                    0 => Signal::INT,
                    1 => Signal::TERM,
                    2.. => Signal::KILL,
                };
                *n_before = n_before.saturating_add(1);
                let _ = kill_process(pid, signal);
            }
            let until = give_up.min(Instant::now() + STEP);
            match self.wait(run, until, &CancellationToken::new()).await? {
                Waited::Sign(Sign::Finished(report)) => {
                    self.finished(report);
                    return Ok(true);
                }
                Waited::Sign(Sign::Exited(_)) => return Ok(false),
                Waited::Late | Waited::Stopped => {}
            }
        }
        Ok(false)
    }

    fn finished(&mut self, report: Report) -> ShellEnding {
        if !report.directory.is_empty() {
            self.directory = report.directory;
        }
        ShellEnding::Exited {
            code: report.status,
        }
    }

    /// Kills the shell with everything in its session, and starts a new one in its place.
    fn replace(&mut self) -> Result<(), ShellError> {
        processes::kill_sessions(&[self.bash.pid]);
        self.renew()
    }

    /// Starts a new shell in the directory of the old one. Jobs of the old one keep running.
    fn renew(&mut self) -> Result<(), ShellError> {
        let directory = PathBuf::from(&self.directory);
        let directory = if directory.is_dir() {
            &directory
        } else {
            &self.config.home
        };
        self.bash = self.started.bash(&self.config, directory, &self.output)?;
        self.directory = directory.to_string_lossy().into_owned();
        Ok(())
    }

    fn answer(&self, captured: Captured, ending: ShellEnding) -> ShellOutput {
        if let Some(transcript) = &self.transcript {
            transcript.ending(ending);
        }
        ShellOutput {
            output: captured.text,
            omitted_bytes: captured.omitted_bytes,
            file: captured.file,
            ending,
            cwd: self.directory.clone(),
        }
    }
}

impl Started {
    fn bash(
        &mut self,
        config: &ShellConfig,
        directory: &Path,
        output: &Output,
    ) -> Result<Bash, ShellError> {
        self.sessions = processes::living_sessions(&self.sessions);
        let writer = output.writer().map_err(ShellError::Start)?;
        let bash = Bash::start(config, directory, writer).map_err(ShellError::Start)?;
        self.sessions.push(bash.pid);
        self.current.set(bash.pid);
        Ok(bash)
    }

    fn kill_all(&mut self) {
        processes::kill_sessions(&self.sessions);
        self.sessions.clear();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// Returns the exit code as a shell would show it in `$?`.
fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// Returns a word that no command can guess.
fn nonce() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
