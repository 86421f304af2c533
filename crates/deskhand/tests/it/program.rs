//! The program under test, with a home and a data folder of its own.

use std::{
    collections::HashMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal};

/// The longest anything may take here.
const PATIENCE: Duration = Duration::from_secs(60);

/// A place to run the program in, removed with everything in it at the end.
pub(crate) struct Place {
    home: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

/// What a run of the program came to.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.home().join(".local/share/deskhand")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.home().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Text with this place's own folder called `HOME`.
    pub(crate) fn neutral(&self, text: &str) -> String {
        text.replace(self.home().to_str().unwrap(), "HOME")
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.start(args).end()
    }

    /// The same, with this on its standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Ended {
        let mut started = self.start_with(args, Stdio::piped());
        let mut stdin = started.child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        started.end()
    }

    /// Starts the program.
    pub(crate) fn start(&self, args: &[&str]) -> Started {
        self.start_with(args, Stdio::null())
    }

    #[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
    fn start_with(&self, args: &[&str], stdin: Stdio) -> Started {
        let mut child = Command::new(env!("CARGO_BIN_EXE_deskhand"))
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home())
            // As a shell does for a job, so that Ctrl-C reaches all of it.
            .process_group(0)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = lines(child.stdout.take().unwrap());
        let stderr = lines(child.stderr.take().unwrap());
        Started {
            child,
            stdout,
            stderr,
        }
    }
}

/// A program that runs. It is killed when it is dropped.
pub(crate) struct Started {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Started {
    /// Waits for a line on standard output that contains `text`, and gives it back.
    pub(crate) fn says(&self, text: &str) -> String {
        wait_for_line(&self.stdout, text, self)
    }

    /// The same on standard error.
    pub(crate) fn notes(&self, text: &str) -> String {
        wait_for_line(&self.stderr, text, self)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    /// Presses Ctrl-C, which a terminal sends to every process of the job.
    pub(crate) fn ctrl_c(&self) {
        rustix::process::kill_process_group(self.pid(), Signal::INT).unwrap();
    }

    /// Waits for the end, and gives back what was not read yet.
    pub(crate) fn end(mut self) -> Ended {
        let rest = |lines: &Receiver<String>| {
            let deadline = Instant::now() + PATIENCE;
            let mut text = String::new();
            while let Ok(line) = lines.recv_timeout(deadline - Instant::now()) {
                text.push_str(&line);
                text.push('\n');
            }
            text
        };
        let stdout = rest(&self.stdout);
        let stderr = rest(&self.stderr);
        let code = self.child.wait().unwrap().code();
        Ended {
            code,
            stdout,
            stderr,
        }
    }

    /// Every process that this one started, directly or not, with the times they began.
    pub(crate) fn descendants(&self) -> HashMap<i32, String> {
        let all = processes();
        let mut found = HashMap::new();
        let mut parents = vec![self.pid().as_raw_nonzero().get()];
        while let Some(parent) = parents.pop() {
            for (pid, (its_parent, began)) in &all {
                if *its_parent == parent {
                    found.insert(*pid, began.clone());
                    parents.push(*pid);
                }
            }
        }
        found
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Which of these processes still run.
pub(crate) fn survivors(of: &HashMap<i32, String>) -> Vec<i32> {
    let now = processes();
    let lives = |pid: &i32, began: &String| now.get(pid).is_some_and(|(_, at)| at == began);
    of.iter()
        .filter(|(pid, began)| lives(pid, began))
        .map(|(pid, _)| *pid)
        .collect()
}

/// Waits until something is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "in vain waited until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// All processes but zombies: parent and time of beginning by pid.
fn processes() -> HashMap<i32, (i32, String)> {
    let mut found = HashMap::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse() else {
            continue;
        };
        // A process may end while it is looked at.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // The name may contain anything; the fields behind its closing bracket are plain.
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 1..]
            .split_whitespace()
            .collect();
        if fields[0] != "Z" {
            found.insert(pid, (fields[1].parse().unwrap(), fields[19].to_owned()));
        }
    }
    found
}

fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn wait_for_line(lines: &Receiver<String>, text: &str, started: &Started) -> String {
    let deadline = Instant::now() + PATIENCE;
    let mut seen = Vec::new();
    while let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        if line.contains(text) {
            return line;
        }
        seen.push(line);
    }
    let errors: Vec<String> = started.stderr.try_iter().collect();
    panic!(
        "no line says {text:?}:\n{}\n{}",
        seen.join("\n"),
        errors.join("\n")
    );
}
