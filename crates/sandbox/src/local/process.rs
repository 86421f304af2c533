//! Starts programs on this machine. Only this module of the crate does.
//!
//! One thread that lives as long as the server starts all sandboxes, for two reasons. Bubblewrap's
//! `--die-with-parent` asks the kernel for a signal at the end of the *thread* that started it, so a thread of a
//! pool would kill its sandboxes when the pool shrinks. And the thread has its own view of the file system if that
//! is needed, see [`super::view`]. When the last handle is dropped, or the server is killed, the thread ends,
//! and with it every sandbox it started.

mod keeper;
mod tree;

use std::{
    ffi::{CStr, OsStr, OsString},
    fs,
    io::{self, Seek, Write},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::{ffi::OsStrExt, net::UnixStream, process::CommandExt},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Mutex, PoisonError, mpsc},
    thread,
};

use rustix::{
    fs::{MemfdFlags, memfd_create},
    io::{FdFlags, fcntl_setfd},
};
use tokio::sync::oneshot;

use super::{identity::Identity, view::View};

use self::keeper::Keeper;
pub(crate) use self::tree::Tree;

/// A handle to the thread that starts sandboxes.
#[derive(Debug, Clone)]
pub(crate) struct Spawner {
    jobs: mpsc::Sender<Job>,
}

#[derive(Debug)]
struct Job {
    start: SandboxStart,
    reply: oneshot::Sender<io::Result<Spawned>>,
}

/// A start of bubblewrap.
#[derive(Debug)]
pub(crate) struct SandboxStart {
    pub(crate) program: PathBuf,
    /// The name of the process. Programs in the sandbox can read it.
    pub(crate) name: String,
    /// The user outside.
    pub(crate) identity: Identity,
    /// Bubblewrap's own options. They contain paths of the host, so the sandbox does not see them.
    pub(crate) options: Vec<OsString>,
    /// The filter of system calls, if there is one for this processor.
    pub(crate) filter: Option<Vec<u8>>,
    /// Files that cover those at the same paths.
    pub(crate) covered: Vec<CoveredFile>,
    /// The command that runs in the sandbox.
    pub(crate) command: Vec<OsString>,
}

/// A file that a sandbox sees in place of the one at the same path. It can only be read.
#[derive(Debug)]
pub(crate) struct CoveredFile {
    /// A file that exists in every sandbox.
    pub(crate) path: &'static str,
    pub(crate) content: Vec<u8>,
}

/// A newly started bubblewrap, with our ends of its standard input and standard error.
///
/// Both are sockets. A pipe could be opened by any program in the sandbox, through the folder `/proc/1/fd`.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) child: Child,
    pub(crate) stdin: UnixStream,
    pub(crate) stderr: UnixStream,
    /// The pipe on which it reports the id of the sandbox's first process.
    pub(crate) info: OwnedFd,
}

impl Spawner {
    /// Starts the thread.
    ///
    /// Also returns the paths of the folder of sandboxes and of the runner's program, as the programs that the
    /// thread starts see them.
    pub(crate) fn start(identity: Identity, dir: &Path, runner: &Path) -> io::Result<(Self, View)> {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let (ready, view) = mpsc::sync_channel(1);
        let (dir, runner) = (dir.to_owned(), runner.to_owned());
        thread::Builder::new()
            .name("sandboxes".to_owned())
            .spawn(move || {
                let prepared = keep_descriptors_in()
                    .and_then(|()| Ok((Keeper::start()?, View::take(identity, &dir, &runner)?)));
                let (keeper, view) = match prepared {
                    Ok((keeper, view)) => (Some(keeper), Ok(view)),
                    Err(error) => (None, Err(error)),
                };
                // If no caller waits for this, there will be no jobs either.
                let _ = ready.send(view);
                if let Some(keeper) = keeper {
                    serve(&inbox, keeper);
                }
            })?;
        let view = view
            .recv()
            .map_err(|_ended| io::Error::other("the thread that starts sandboxes ended"))??;
        Ok((Self { jobs }, view))
    }

    /// Starts bubblewrap.
    pub(crate) async fn spawn(&self, start: SandboxStart) -> io::Result<Spawned> {
        let (reply, spawned) = oneshot::channel();
        let ended = |()| io::Error::other("the thread that starts sandboxes has ended");
        self.jobs
            .send(Job { start, reply })
            .map_err(|_job| ended(()))?;
        spawned.await.map_err(|_closed| ended(()))?
    }
}

fn serve(inbox: &mpsc::Receiver<Job>, mut keeper: Keeper) {
    for job in inbox {
        let spawned = spawn(&job.start, &mut keeper);
        if let Err(Ok(mut unwanted)) = job.reply.send(spawned) {
            // The caller is gone. Both calls fail only if bubblewrap has ended by itself.
            let _ = unwanted.child.kill();
            let _ = unwanted.child.wait();
        }
    }
}

fn spawn(start: &SandboxStart, keeper: &mut Keeper) -> io::Result<Spawned> {
    /// Locked while descriptors can be inherited, so that no second program starts and inherits them too.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);

    let (info, told) = rustix::pipe::pipe()?;
    fcntl_setfd(&info, FdFlags::CLOEXEC)?;
    let options = inherited_file(c"options", &separated(&start.options))?;
    let filter = start.filter.as_deref();
    let filter = filter.map(|filter| inherited_file(c"filter", filter));
    let filter = filter.transpose()?;
    let covered = start.covered.iter().map(|file| {
        let content = inherited_file(c"covered", &file.content)?;
        Ok((content, file.path))
    });
    let covered = covered.collect::<io::Result<Vec<_>>>()?;
    let (stdin, inner_stdin) = UnixStream::pair()?;
    let (stderr, inner_stderr) = UnixStream::pair()?;
    let mut command = command(start.program.as_os_str());
    command
        .arg0(&start.name)
        .args(["--info-fd", &number(&told)])
        .args(["--args", &number(&options)]);
    if let Some(filter) = &filter {
        command.args(["--seccomp", &number(filter)]);
    }
    for (content, path) in &covered {
        command.args(["--perms", "0444", "--ro-bind-data", &number(content), path]);
    }
    command
        .arg("--")
        .args(&start.command)
        // The sandbox's first process is bubblewrap itself, and its environment can be read in the sandbox. The
        // server's environment may hold keys.
        .env_clear()
        .current_dir("/")
        // Ctrl-C in a terminal goes to the server's whole process group, but the server decides when a sandbox
        // ends.
        .process_group(keeper.group()?)
        .stdin(OwnedFd::from(inner_stdin))
        .stdout(Stdio::null())
        .stderr(OwnedFd::from(inner_stderr));
    if let Identity::Other { uid, gid } = start.identity {
        command.uid(uid).gid(gid);
    }
    let child = command.spawn()?;
    Ok(Spawned {
        child,
        stdin,
        stderr,
        info,
    })
}

/// Makes a file in memory that the next program inherits.
fn inherited_file(name: &CStr, content: &[u8]) -> io::Result<OwnedFd> {
    let mut file = fs::File::from(memfd_create(name, MemfdFlags::empty())?);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file.into())
}

/// Joins arguments as bubblewrap reads them from a file, each with a zero byte after it.
fn separated(arguments: &[OsString]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for argument in arguments {
        bytes.extend_from_slice(argument.as_bytes());
        bytes.push(0);
    }
    bytes
}

fn number(descriptor: &OwnedFd) -> String {
    descriptor.as_fd().as_raw_fd().to_string()
}

/// Runs a short program as `identity`, for at most five seconds.
pub(crate) fn output<I>(program: &Path, arguments: I, identity: Identity) -> io::Result<Output>
where
    I: IntoIterator,
    I::Item: AsRef<OsStr>,
{
    let mut command = command(OsStr::new("timeout"));
    command
        .args(["--signal=KILL", "5"])
        .arg(program)
        .args(arguments)
        .current_dir("/")
        .stdin(Stdio::null());
    if let Identity::Other { uid, gid } = identity {
        command.uid(uid).gid(gid);
    }
    command.output()
}

/// Starts our own program for a short task, as the server's user. It speaks over its standard input.
pub(crate) fn helper(program: &Path, arguments: &[&str], stdin: UnixStream) -> io::Result<Child> {
    command(program.as_os_str())
        .args(arguments)
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(stdin))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

#[expect(
    clippy::disallowed_methods,
    reason = "only this module of the sandbox crate starts programs"
)]
fn command(program: &OsStr) -> Command {
    Command::new(program)
}

/// Marks every descriptor of this process as close-on-exec.
///
/// Descriptors that the server's own parent left open would otherwise be open in every sandbox.
fn keep_descriptors_in() -> io::Result<()> {
    for entry in fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if number > 2 {
            #[expect(
                unsafe_code,
                reason = "only the numbers of these descriptors are known"
            )]
            // SAFETY: the descriptor is used for one call that changes only its flag. If it was closed meanwhile,
            // the call fails or marks another descriptor, which does no harm.
            let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
            match fcntl_setfd(descriptor, FdFlags::CLOEXEC) {
                Ok(()) | Err(rustix::io::Errno::BADF) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}
