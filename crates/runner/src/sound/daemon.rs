//! Starts PulseAudio when a program connects to its socket, and notices when it ends.

use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use deskhand_core::tasks::Tasks;
use rustix::{
    event::{PollFd, PollFlags, poll},
    process::Pid,
};
use tokio::{
    io::{Interest, unix::AsyncFd},
    process::{Child, Command},
    sync::mpsc,
    time::Instant,
};

use super::{PROGRAM, SoundCard};
use crate::{complaints::Complaints, processes::KilledGroup};

/// The shortest life of a PulseAudio that is started again after a failure. One that ended earlier, but properly, is
/// started again after this time.
pub(super) const MIN_LIFE: Duration = Duration::from_secs(1);

/// The name of the output.
pub(super) const SINK: &str = "desk";
/// The source that hears what the output plays.
pub(super) const MONITOR: &std::ffi::CStr = c"desk.monitor";

/// Its options. Each module is an option too, since programs could change a file with them before it is read.
const OPTIONS: &[&str] = &[
    // No modules but ours.
    "-n",
    "--daemonize=no",
    "--use-pid-file=no",
    "--realtime=no",
    "--high-priority=no",
    "--disallow-exit=yes",
    // Other processes of the same user could map it, and would find the sound of a person's time in it.
    "--disable-shm=yes",
    // A module may be any shared object, and it would go on while a person has control.
    "--disallow-module-loading=yes",
    // Starting it again takes less than a tenth of a second.
    "--exit-idle-time=60",
    "--log-target=stderr",
    "--log-level=error",
    "--load=module-suspend-on-idle timeout=2",
    // A silent microphone. Without one, whoever records without choosing a source would hear the desktop.
    "--load=module-null-source source_name=silence",
];

/// Runs PulseAudio whenever it is needed.
pub(super) struct Daemon {
    card: SoundCard,
    listener: AsyncFd<OwnedFd>,
    folder: PathBuf,
    notices: mpsc::Sender<String>,
    tasks: Tasks,
}

/// A running PulseAudio. The group is dropped first: it is found through the parent processes, which must still exist.
struct RunningDaemon {
    _group: KilledGroup,
    child: Child,
    complaints: Complaints,
}

impl Daemon {
    pub(super) fn new(
        card: SoundCard,
        listener: OwnedFd,
        folder: &Path,
        notices: mpsc::Sender<String>,
        tasks: &Tasks,
    ) -> io::Result<Self> {
        Ok(Self {
            card,
            listener: watched(listener)?,
            folder: folder.to_owned(),
            notices,
            tasks: tasks.clone(),
        })
    }

    /// Starts PulseAudio for the first connection, and again for the first one after it has ended.
    ///
    /// Returns if it cannot be started. The socket is closed then, and programs notice that there is no sound.
    pub(super) async fn keep(self) {
        loop {
            let ended = match self.connected().await {
                Ok(()) => self.run().await,
                Err(error) => Err(error.to_string()),
            };
            if let Err(problem) = ended {
                let text = format!("The sound card does not work: {problem}.");
                if let Err(error) = self.notices.try_send(text) {
                    tracing::warn!(%error, problem, "could not start PulseAudio");
                }
                return;
            }
        }
    }

    /// Waits until a connection is there that nobody has accepted.
    async fn connected(&self) -> io::Result<()> {
        loop {
            let mut ready = self.listener.readable().await?;
            let mut polled = [PollFd::new(&self.listener, PollFlags::IN)];
            if poll(&mut polled, Some(&rustix::time::Timespec::default()))? > 0 {
                return Ok(());
            }
            // An earlier PulseAudio has accepted it.
            ready.clear_ready();
        }
    }

    /// Runs PulseAudio until it ends. Returns the reason if it should not be started again.
    async fn run(&self) -> Result<(), String> {
        let started_at = Instant::now();
        // Registered before there is a process, so that no request to end it is missed.
        let mut asked_to_end = std::pin::pin!(self.card.0.end.notified());
        asked_to_end.as_mut().enable();
        let mut running = self
            .start()
            .map_err(|error| format!("PulseAudio could not be started ({error})"))?;
        let status = tokio::select! {
            status = running.child.wait() => Some(status),
            () = asked_to_end => None,
        };
        let Some(status) = status else {
            // It is killed on drop. Until then it would accept connections, so it does not count as ended before.
            drop(running);
            self.card.0.process.clear();
            return Ok(());
        };
        self.card.0.process.clear();
        let how = match status {
            Ok(status) if status.success() => {
                // A program may end it again and again, and must not have it started as often.
                tokio::time::sleep_until(started_at + MIN_LIFE).await;
                return Ok(());
            }
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let how = format!("{how}{}", running.complaints.last());
        tracing::warn!(how, "PulseAudio ended");
        if started_at.elapsed() < MIN_LIFE {
            return Err(format!("PulseAudio ended at once ({how})"));
        }
        Ok(())
    }

    fn start(&self) -> io::Result<RunningDaemon> {
        let folder = self.folder.display();
        // With rewinds, it would render two seconds of silence at its start, and the first program would have to wait
        // for their end.
        let output = format!(
            "--load=module-null-sink sink_name={SINK} rate=48000 channels=2 format=s16le norewinds=1 \
             sink_properties=device.description=Deskhand"
        );
        let door = format!(
            "--load=module-native-protocol-unix socket={folder}/native auth-anonymous=1 auth-cookie-enabled=0"
        );
        let mut child = command("sh")
            // It takes over a socket on descriptor 3 that was made for its process.
            .args([
                "-c",
                r#"LISTEN_FDS=1 LISTEN_PID=$$ exec "$@" 3<&0 </dev/null"#,
            ])
            .args(["sh", PROGRAM])
            .args(OPTIONS)
            .args([output, door])
            // It must not read settings from the home folder, which name the folder of its modules.
            .env("PULSE_CONFIG", "/dev/null")
            .env("PULSE_RUNTIME_PATH", &self.folder)
            .env("PULSE_STATE_PATH", self.folder.join("state"))
            .stdin(self.listener.get_ref().try_clone()?)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pid = pid.ok_or(io::ErrorKind::NotFound)?;
        self.card.0.process.set(pid);
        let complaints = Complaints::default();
        if let Some(stderr) = child.stderr.take() {
            let keeping = complaints.clone().keep(stderr);
            let shutdown = self.tasks.shutdown().clone();
            self.tasks.spawn("PulseAudio's complaints", async move {
                shutdown.run_until_cancelled(keeping).await;
            });
        }
        Ok(RunningDaemon {
            _group: KilledGroup(pid),
            child,
            complaints,
        })
    }
}

/// Registers the socket, so that this process notices connections.
fn watched(listener: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    #[expect(
        unsafe_code,
        reason = "tokio marks every registration of a descriptor as unsafe"
    )]
    // SAFETY: the descriptor is open, and nothing else owns or closes it.
    let watched = unsafe { AsyncFd::register_with_interest(listener, Interest::READABLE) };
    Ok(watched?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "programs are started in the runner, and only this module starts PulseAudio"
)]
fn command(program: &str) -> Command {
    Command::new(program)
}
