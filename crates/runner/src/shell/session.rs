//! The task that owns the running bash and carries out one order after the other.

use std::{
    collections::{HashMap, HashSet},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::ExitStatus,
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
    OnOutput, QueuedCommand, ShellConfig, ShellError,
    bash::{Bash, Report, Sign},
    output::Output,
    processes,
};

/// How long a command is asked to end before the shell is ended with it.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long each signal is given to do its work.
const STEP: Duration = Duration::from_millis(300);
const SHELL_LOST_NOTE: &str =
    "\n[The shell had to be ended as well: its variables and jobs are gone.]\n";

#[derive(Debug)]
pub(super) struct Session {
    config: ShellConfig,
    output: Output,
    bash: Bash,
    /// Where the shell was when it last said so.
    directory: String,
    /// Every bash that is there or has left jobs.
    started: Started,
}

/// The sessions of all shells, which end with this value.
#[derive(Debug, Default)]
struct Started(Vec<Pid>);

/// A command on its way.
struct Run<'a> {
    nonce: String,
    on_output: &'a OnOutput,
    /// Jobs of earlier commands, which no time-out of this one may end.
    spared: HashSet<i32>,
}

/// How the wait for a command went.
enum Waited {
    Sign(Sign),
    /// The time was over.
    Late,
    /// A stop came from outside.
    Stopped,
}

impl Session {
    pub(super) fn start(config: ShellConfig) -> Result<Self, ShellError> {
        let output = Output::open(config.output_bytes).map_err(ShellError::Start)?;
        let mut started = Started::default();
        let bash = started.bash(&config, &config.home, &output)?;
        let directory = config.home.to_string_lossy().into_owned();
        Ok(Self {
            config,
            output,
            bash,
            directory,
            started,
        })
    }

    pub(super) async fn serve(
        mut self,
        mut orders: mpsc::Receiver<QueuedCommand>,
        shutdown: CancellationToken,
    ) {
        loop {
            let order = tokio::select! {
                () = shutdown.cancelled() => return,
                order = orders.recv() => order,
                _ = self.output.fill() => continue,
            };
            let Some(order) = order else { return };
            let result = tokio::select! {
                () = shutdown.cancelled() => return,
                result = self.perform(&order) => result,
            };
            // Whoever asked may have stopped waiting.
            let _ = order.reply.send(result);
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
        // What the old shell had to say ends with it.
        self.output.end();
        Ok(self.answer(String::new(), 0, ShellEnding::Restarted))
    }

    async fn run(
        &mut self,
        command: &str,
        timeout_ms: u64,
        order: &QueuedCommand,
    ) -> Result<ShellOutput, ShellError> {
        self.output.begin();
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
                // Bash is going: how it went is told by its exit.
                Err(_) => self.wait(&run, Instant::now() + STEP, &order.cancel).await?,
            },
            () = tokio::time::sleep_until(deadline) => Waited::Late,
            () = order.cancel.cancelled() => Waited::Stopped,
        };
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
                let captured = self.output.end();
                let text = captured.text + SHELL_LOST_NOTE;
                return Ok(self.answer(text, captured.omitted_bytes, ShellEnding::Interrupted));
            }
        };
        let captured = self.output.end();
        Ok(self.answer(captured.text, captured.omitted_bytes, ending))
    }

    /// Takes in output until something happens.
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

    /// Ends the command and tells whether the shell outlived that.
    ///
    /// Bash gives up the rest of its command list on SIGINT. What it waits for has to end first:
    /// each process is asked with SIGINT, then with SIGTERM, and killed when it still is there.
    async fn interrupt(&mut self, run: &Run<'_>) -> Result<bool, ShellError> {
        let give_up = Instant::now() + PATIENCE;
        let mut n_asked: HashMap<Pid, u8> = HashMap::new();
        while Instant::now() < give_up {
            // Processes may have ended by themselves in the meantime.
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

    /// Ends the shell with all that was started from it, and begins a new one in its place.
    fn replace(&mut self) -> Result<(), ShellError> {
        processes::kill_sessions(&[self.bash.pid]);
        self.renew()
    }

    /// Begins a new shell where the old one was. Jobs of the old one go on.
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

    fn answer(&self, output: String, omitted_bytes: u64, ending: ShellEnding) -> ShellOutput {
        ShellOutput {
            output,
            omitted_bytes,
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
        self.0 = processes::living_sessions(&self.0);
        let writer = output.writer().map_err(ShellError::Start)?;
        let bash = Bash::start(config, directory, writer).map_err(ShellError::Start)?;
        self.0.push(bash.pid);
        Ok(bash)
    }

    fn kill_all(&mut self) {
        processes::kill_sessions(&self.0);
        self.0.clear();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// What a shell would show as `$?`.
fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// A word that no command can guess.
fn nonce() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
