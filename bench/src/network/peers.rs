//! The same program without a sandbox, and behind the usual user-space networks.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use deskhand_testkit::OwnNetwork;

use super::{memory::megabytes, parse};

const START_TIMEOUT: Duration = Duration::from_secs(5);

/// The networks beside ours.
pub(super) struct Peers<'a> {
    pub(super) network: &'a OwnNetwork,
    pub(super) script: &'a Path,
    /// The arguments of the program that measures.
    pub(super) arguments: String,
}

impl Peers<'_> {
    /// Measures the cable itself.
    pub(super) fn direct(&self) -> HashMap<String, f64> {
        run(self.client(self.network.near_command("/usr/bin/python3"))).unwrap()
    }

    /// Measures slirp4netns, with the settings that its documentation calls fastest.
    pub(super) fn slirp4netns(&self) -> Option<HashMap<String, f64>> {
        let slirp = Slirp::start(self.network)?;
        run(self.client(slirp.command()))
    }

    /// Measures pasta. It refuses to be root, and goes on without doing anything on some machines.
    pub(super) fn pasta(&self) -> Option<HashMap<String, f64>> {
        let mut pasta = self.network.near_command("timeout");
        pasta.args([
            "--signal=KILL",
            "60",
            "pasta",
            "--config-net",
            "--quiet",
            "--mtu",
            "65520",
            "--",
            "/usr/bin/python3",
        ]);
        run(self.client(pasta))
    }

    /// Measures the memory of slirp4netns while 200 connections are open.
    pub(super) fn slirp4netns_memory_mb(&self) -> Option<f64> {
        let slirp = Slirp::start(self.network)?;
        let mut client = self.client(slirp.command());
        client
            .arg("hold")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut client = Running(client.spawn().ok()?);
        let mut line = String::new();
        let output = client.0.stdout.take()?;
        BufReader::new(output).read_line(&mut line).ok()?;
        (line.trim() == "holding").then(|| megabytes(slirp.pid()))
    }

    /// Adds the program that measures to a command for Python.
    fn client(&self, mut python: Command) -> Command {
        python.arg("-I").arg(self.script);
        python.args(self.arguments.split(' '));
        python
    }
}

/// A namespace behind slirp4netns.
struct Slirp {
    holder: Running,
    slirp: Running,
}

impl Slirp {
    fn start(network: &OwnNetwork) -> Option<Self> {
        let mut holder = network.near_command("unshare");
        holder.args(["--user", "--map-root-user", "--net", "sleep", "600"]);
        let holder = Running(holder.spawn().ok()?);
        let pid = holder.0.id();
        // The namespaces exist when the process has become `sleep`.
        wait_until(|| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.starts_with(b"sleep")
        });
        let mut slirp = network.near_command("slirp4netns");
        slirp.args(["--configure", "--mtu=65520", "--userns-path"]);
        slirp.arg(format!("/proc/{pid}/ns/user"));
        slirp.args([&pid.to_string(), "tap0"]);
        slirp.stdout(Stdio::null()).stderr(Stdio::null());
        let slirp = Running(slirp.spawn().ok()?);
        wait_until(|| {
            let table = std::fs::read_to_string(format!("/proc/{pid}/net/route"));
            table.unwrap_or_default().contains("tap0")
        });
        Some(Self { holder, slirp })
    }

    /// Returns a command for Python in the namespace. It has the mounts of the holder, and so asks the same resolver.
    fn command(&self) -> Command {
        let mut command = command("nsenter");
        command.args(["--target", &self.holder.0.id().to_string()]);
        command.args([
            "--user",
            "--net",
            "--mount",
            "--preserve-credentials",
            "/usr/bin/python3",
        ]);
        command
    }

    fn pid(&self) -> i32 {
        self.slirp.0.id().try_into().unwrap()
    }
}

/// Runs the program. Returns nothing if its network does not work here.
fn run(mut client: Command) -> Option<HashMap<String, f64>> {
    let output = client.output().ok()?;
    if !output.status.success() {
        println!("{}", String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    Some(parse(&String::from_utf8_lossy(&output.stdout)))
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + START_TIMEOUT;
    while !is_so() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A process that ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only if it has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the benchmark starts what it compares with"
)]
fn command(program: &str) -> Command {
    Command::new(program)
}
