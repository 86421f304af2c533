//! A private network for one test: two network namespaces with a virtual cable between them.
//!
//! The server under test is on the near side, and the hosts of the test are on the far side, with any public and private
//! addresses. Nothing else is connected, so nothing leaves the machine.

mod names;

use std::{
    fs::{self, File},
    io::Write,
    os::fd::AsFd,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use rustix::{
    process::geteuid,
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

pub use self::names::Names;
use crate::{eventually, server::covered};

/// The address of the near side, from which the server connects.
pub const NEAR_ADDRESS: &str = "11.22.33.254";
/// The address of the far side's resolver, and of further hosts of the test.
pub const FAR_ADDRESS: &str = "11.22.33.1";

/// The IPv6 addresses of the cable. They are private, so that no program mistakes them for a host.
const NEAR_V6: &str = "fd00:77::2";
const FAR_V6: &str = "fd00:77::1";

/// Two namespaces. They end with the process.
#[derive(Debug)]
pub struct OwnNetwork {
    near: Holder,
    far: Holder,
    names: Names,
    folder: tempfile::TempDir,
}

impl OwnNetwork {
    /// Creates the namespaces. The far side has these addresses in addition to [`FAR_ADDRESS`].
    ///
    /// Returns the reason if this machine does not allow namespaces.
    pub fn make(addresses: &[&str]) -> Result<Self, String> {
        if !geteuid().is_root() {
            return Err("only root can make network namespaces".to_owned());
        }
        let (near, far) = (Holder::start()?, Holder::start()?);
        near.run_ip(&format!(
            "link set lo up
             link add near type veth peer name far netns {}
             address add {NEAR_ADDRESS}/24 dev near
             address add {NEAR_V6}/64 dev near nodad
             link set near up
             route add default via {FAR_ADDRESS}
             route add default via {FAR_V6}",
            far.pid()
        ))?;
        let mut script = format!(
            "link set lo up
             address add {FAR_ADDRESS}/24 dev far
             address add {FAR_V6}/64 dev far nodad
             link set far up\n"
        );
        for address in addresses {
            let (bits, flag) = if address.contains(':') {
                (128, "nodad")
            } else {
                (32, "")
            };
            script.push_str(&format!("address add {address}/{bits} dev far {flag}\n"));
        }
        far.run_ip(&script)?;
        let folder = tempfile::Builder::new()
            .prefix("own-network-")
            .tempdir()
            .unwrap();
        let names = Names::default();
        let network = Self {
            near,
            far,
            names: names.clone(),
            folder,
        };
        network.on_far_thread(move || names.serve((FAR_ADDRESS, 53)));
        Ok(network)
    }

    /// Moves the calling thread, and everything that it starts afterwards, to the near side.
    pub fn enter(&self) {
        self.near.enter();
    }

    /// Runs a function on a thread of the far side.
    pub fn on_far_thread<T: Send + 'static>(
        &self,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> std::thread::JoinHandle<T> {
        let namespace = self.far.namespace();
        std::thread::spawn(move || {
            enter(&namespace);
            run()
        })
    }

    /// Returns a command for a program of the far side. The process does not outlive the calling thread.
    pub fn far_command(&self, program: &str) -> Command {
        let mut command = command("setpriv");
        command
            .args(["--pdeathsig", "KILL", "nsenter"])
            .arg(format!("--net=/proc/{}/ns/net", self.far.pid()))
            .arg(program)
            .stdin(Stdio::null());
        command
    }

    /// Returns a command for a program of the near side that uses the resolver of the far side.
    ///
    /// The calling thread must have entered the near side.
    pub fn near_command(&self, program: &str) -> Command {
        let mut command = covered(&self.covers(), program.as_ref());
        command.stdin(Stdio::null());
        command
    }

    /// Returns the names that the resolver of the far side knows.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the files that configure that resolver, each with the system file that it covers.
    pub fn covers(&self) -> Vec<(PathBuf, PathBuf)> {
        let files = [
            ("resolv.conf", format!("nameserver {FAR_ADDRESS}\n")),
            (
                "nsswitch.conf",
                "passwd: files\ngroup: files\nhosts: files dns\n".to_owned(),
            ),
        ];
        let cover = |(name, text): (&str, String)| {
            let path = self.folder.path().join(name);
            fs::write(&path, text).unwrap();
            (path, PathBuf::from("/etc").join(name))
        };
        files.map(cover).into()
    }
}

/// A process that keeps a network namespace.
#[derive(Debug)]
struct Holder(Child);

impl Holder {
    fn start() -> Result<Self, String> {
        let mut holder = command("setpriv");
        holder.args([
            "--pdeathsig",
            "KILL",
            "unshare",
            "--net",
            "sleep",
            "infinity",
        ]);
        holder.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut holder = Self(holder.spawn().map_err(|error| error.to_string())?);
        let ours = fs::read_link("/proc/thread-self/ns/net").map_err(|error| error.to_string())?;
        let mut has_ended = false;
        eventually("a network namespace is there", || {
            has_ended = holder.0.try_wait().unwrap().is_some();
            has_ended || fs::read_link(holder.namespace()).is_ok_and(|namespace| namespace != ours)
        });
        if has_ended {
            return Err("this machine has no network namespaces for us".to_owned());
        }
        Ok(holder)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn namespace(&self) -> PathBuf {
        format!("/proc/{}/ns/net", self.pid()).into()
    }

    fn enter(&self) {
        enter(&self.namespace());
    }

    /// Runs commands of `ip`, one in each line.
    fn run_ip(&self, script: &str) -> Result<(), String> {
        let mut ip = command("nsenter");
        ip.arg(format!("--net={}", self.namespace().display()));
        ip.args(["ip", "-batch", "-"]);
        ip.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut ip = ip.spawn().map_err(|error| error.to_string())?;
        ip.stdin
            .take()
            .unwrap()
            .write_all(script.as_bytes())
            .unwrap();
        let output = ip.wait_with_output().unwrap();
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        Err(format!("ip cannot make a network here: {}", text.trim()))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // Both calls fail only if the process has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn enter(namespace: &std::path::Path) {
    let namespace = File::open(namespace).unwrap();
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the network is part of the test")]
fn command(program: &str) -> Command {
    Command::new(program)
}
