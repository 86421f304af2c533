//! The hosts of the test, in a network namespace of their own.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread::JoinHandle,
};

use deskhand_testkit::{FAR_ADDRESS, OwnNetwork, Postgres, ServerOptions, eventually};

/// The names of hosts on the public internet, which have certificates, with their addresses.
const PUBLIC: &[(&str, &str)] = &[
    ("web.example", FAR_ADDRESS),
    ("chromium.example", FAR_ADDRESS),
    ("firefox.example", FAR_ADDRESS),
    ("static.example", "11.22.33.2"),
    ("socket.example", "11.22.33.2"),
    ("git.example", "11.22.33.3"),
    ("pypi.example", "11.22.33.3"),
    ("npm.example", "11.22.33.3"),
    ("large.example", "11.22.33.3"),
    ("db.example", "11.22.33.4"),
    ("shell.example", "11.22.33.5"),
    ("six.example", "2a00:ffff::6"),
    ("sni.example", "11.22.33.2"),
    ("cleartext.example", "11.22.33.2"),
    ("hidden.example", "11.22.33.2"),
    ("dot.example", "11.22.33.2"),
    ("pinned.example", "11.22.33.2"),
    ("changing.example", "11.22.33.2"),
    ("asked.example", "11.22.33.2"),
    ("dns.google", "8.8.8.8"),
];

/// Names of addresses that are not on the public internet.
pub(super) const PRIVATE: &[(&str, &str)] = &[
    ("private.example", "10.0.0.5"),
    ("metadata.example", "169.254.169.254"),
    ("carrier.example", "100.100.100.200"),
    ("azure.example", "168.63.129.16"),
    ("loopback.example", "127.0.0.1"),
    ("unspecified.example", "0.0.0.0"),
    ("local-six.example", "fd00:ec2::254"),
    ("loopback-six.example", "::1"),
    ("mapped.example", "::ffff:10.0.0.5"),
    ("nat64.example", "64:ff9b::a9fe:a9fe"),
    ("six-to-four.example", "2002:a00:5::1"),
    ("documentation.example", "203.0.113.9"),
];

/// The addresses of the far side that no program may reach.
pub(super) const FORBIDDEN: &[&str] = &[
    "10.0.0.5",
    "169.254.169.254",
    "100.100.100.200",
    "168.63.129.16",
    "203.0.113.9",
    "fd00:ec2::254",
    "64:ff9b::a9fe:a9fe",
    "2002:a00:5::1",
    // Other resolvers.
    "8.8.8.8",
    "1.1.1.1",
];

/// Further addresses of public hosts.
const ADDRESSES: &[&str] = &[
    "11.22.33.2",
    "11.22.33.3",
    "11.22.33.4",
    "11.22.33.5",
    "2a00:ffff::6",
];

const MARK: &str = "marked\n";

/// The hosts. They end with the test.
pub(super) struct Hosts {
    pub(super) network: OwnNetwork,
    folder: tempfile::TempDir,
    /// The output of the program that plays most hosts.
    lines: Arc<Mutex<Vec<String>>>,
    _programs: Vec<Running>,
    _database: Database,
}

impl Hosts {
    /// Starts the hosts, and moves the calling thread to the server's side of their network.
    ///
    /// Returns the reason if this machine cannot have them.
    pub(super) fn start() -> Result<Self, String> {
        if let Some(obstacle) = obstacle() {
            return Err(obstacle);
        }
        let network = OwnNetwork::make(&[FORBIDDEN, ADDRESSES].concat())?;
        for (name, address) in PUBLIC.iter().chain(PRIVATE) {
            network.names().set(name, &[address]);
        }
        let (database, port) = Database::start(&network);
        let folder = prepare();
        let ssh = start_ssh(&network, folder.path());
        let mut hosts = network.far_command("node");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/network/hosts.mjs");
        hosts
            .arg(script)
            .arg(folder.path())
            .arg(port.recv().unwrap().to_string());
        let mut hosts = hosts.stdout(Stdio::piped()).spawn().unwrap();
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let output = BufReader::new(hosts.stdout.take().unwrap());
        let kept = Arc::clone(&lines);
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                kept.lock().unwrap().push(line);
            }
        });
        let hosts = Self {
            network,
            folder,
            lines,
            _programs: vec![ssh, Running(hosts)],
            _database: database,
        };
        eventually("the hosts listen", || {
            hosts.lines().iter().any(|line| line == "ready")
        });
        hosts.network.enter();
        Ok(hosts)
    }

    /// Returns options for a server that reaches the hosts, and whose sandboxes trust their certificates.
    pub(super) fn options(&self, scenarios: &[(&str, &str)]) -> ServerOptions {
        let mut covers = self.network.covers();
        covers.push((self.folder.path().join("certs"), "/etc/ssl/certs".into()));
        covers.push((
            self.folder.path().join("firefox"),
            "/usr/share/firefox-esr/distribution".into(),
        ));
        let owned = |(name, yaml): &(&str, &str)| ((*name).to_owned(), (*yaml).to_owned());
        ServerOptions {
            covers,
            scenarios: scenarios.iter().map(owned).collect(),
            ..ServerOptions::default()
        }
    }

    /// Returns the hash of the hosts' key, as Chromium wants it.
    pub(super) fn key_hash(&self) -> String {
        let hash = std::fs::read_to_string(self.folder.path().join("key-hash")).unwrap();
        hash.trim().to_owned()
    }

    /// Returns what the hosts have told so far.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

/// Returns the reason if the walk cannot run on this machine.
fn obstacle() -> Option<String> {
    let programs = [
        "/usr/bin/firefox-esr",
        "/usr/sbin/dropbear",
        "/usr/lib/chromium/chromium",
    ];
    for program in programs {
        if !Path::new(program).exists() {
            return Some(format!("{program} is missing: run scripts/setup test"));
        }
    }
    let mut device = std::fs::File::options();
    let opened = device.read(true).write(true).open("/dev/net/tun");
    let error = opened.err()?;
    Some(format!(
        "sandboxes have no interface here: /dev/net/tun: {error}"
    ))
}

fn prepare() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("hosts-").tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/network/prepare.sh");
    let mut prepare = command(script);
    prepare
        .arg(folder.path())
        .args(PUBLIC.iter().map(|(name, _)| name));
    assert!(prepare.status().unwrap().success());
    std::fs::write(folder.path().join("account/.ssh/mark"), MARK).unwrap();
    folder
}

/// Starts a host for ssh. Its only account has a home of the test.
fn start_ssh(network: &OwnNetwork, folder: &Path) -> Running {
    let mut ssh = network.far_command("bwrap");
    ssh.args(["--die-with-parent", "--dev-bind", "/", "/", "--bind"]);
    ssh.arg(folder.join("account")).arg("/root");
    ssh.args([
        "dropbear",
        "-F",
        "-E",
        "-s",
        "-p",
        "11.22.33.5:22",
        "-P",
        "",
        "-r",
    ])
    .arg(folder.join("host-key"));
    Running(ssh.stderr(Stdio::null()).spawn().unwrap())
}

/// A database behind the loopback of the far side. It ends with this.
struct Database {
    end: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Database {
    /// Starts a database, and returns where its port will be told.
    fn start(network: &OwnNetwork) -> (Self, mpsc::Receiver<u16>) {
        let (end, ended) = mpsc::channel();
        let (tell_port, port) = mpsc::channel();
        let thread = network.on_far_thread(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let database = runtime.block_on(Postgres::start());
            tell_port.send(database.port()).unwrap();
            // It ends without a message.
            let _: Result<(), _> = ended.recv();
        });
        let database = Self {
            end: Some(end),
            thread: Some(thread),
        };
        (database, port)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        drop(self.end.take());
        // Its folder is removed on its thread, which has failed if the test has.
        let _ = self.thread.take().map(JoinHandle::join);
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

#[expect(clippy::disallowed_methods, reason = "the hosts are part of the test")]
fn command(program: &str) -> Command {
    Command::new(program)
}
