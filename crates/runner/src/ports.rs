//! The ports on which programs in the sandbox listen.
//!
//! The kernel lists all sockets of the network namespace in `/proc/net`. Ports on which the runner itself listens, such
//! as that of the model gateway, are neither reported nor reachable through streams. The same applies to the port of VS
//! Code, which has its own kind of stream.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    io::Read,
    sync::Arc,
    time::Duration,
};

use deskhand_core::{
    sandbox::{LONGEST_PROGRAM_NAME, ListeningPort, MOST_PORTS},
    tasks::Tasks,
};
use deskhand_runner_protocol::FromRunner;
use tokio::sync::Notify;

use crate::{code_server::CodeServer, link::Outbox, processes};

/// The interval at which the ports are read, which takes tens of microseconds.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The most bytes that are read from a list of sockets.
const LONGEST_LIST_BYTES: u64 = 4 * 1024 * 1024;
/// The state of a socket that listens, in the kernel's list.
const LISTENS: &str = "0A";

/// Reports the listening ports to the server whenever they change. Clones share the state.
#[derive(Debug, Clone)]
pub(crate) struct PortWatch {
    again: Arc<Notify>,
}

/// The inodes of the listening sockets of each port.
type Listeners = BTreeMap<u16, HashSet<u64>>;

impl PortWatch {
    /// Starts to watch.
    pub(crate) fn start(outbox: Outbox, code: CodeServer, tasks: &Tasks) -> Self {
        let watch = Self {
            again: Arc::default(),
        };
        let again = Arc::clone(&watch.again);
        let shutdown = tasks.shutdown().clone();
        tasks.spawn("ports", async move {
            let reporting = report(outbox, code, again);
            shutdown.run_until_cancelled(reporting).await;
        });
        watch
    }

    /// Reports the ports again, since an earlier report may have been lost.
    pub(crate) fn tell_again(&self) {
        self.again.notify_one();
    }
}

async fn report(outbox: Outbox, code: CodeServer, again: Arc<Notify>) {
    let mut known = Listeners::new();
    let mut ports = Vec::new();
    loop {
        let is_asked = tokio::time::timeout(LOOK_EVERY, again.notified())
            .await
            .is_ok();
        let seen = tokio::task::spawn_blocking(foreign_listeners).await;
        let Ok(mut seen) = seen else { return };
        if let Some(port) = code.port() {
            seen.remove(&port);
        }
        let has_changed = seen != known;
        if has_changed {
            let named = seen.clone();
            let named = tokio::task::spawn_blocking(move || named_ports(&named)).await;
            let Ok(named) = named else { return };
            ports = named;
            known = seen;
        }
        if has_changed || is_asked {
            let ports = ports.clone();
            outbox.tell(FromRunner::Ports { ports });
        }
    }
}

/// Returns true if the runner itself listens on this port.
pub(crate) fn is_own(port: u16) -> bool {
    let own = own_sockets();
    let all = listeners();
    let sockets = all.get(&port);
    sockets.is_some_and(|sockets| sockets.iter().any(|socket| own.contains(socket)))
}

/// Returns the listening sockets of all programs except the runner.
fn foreign_listeners() -> Listeners {
    let own = own_sockets();
    let mut all = listeners();
    all.retain(|_, sockets| sockets.is_disjoint(&own));
    all
}

fn listeners() -> Listeners {
    let mut all = Listeners::new();
    for list in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let mut text = String::new();
        let read = fs::File::open(list)
            .and_then(|file| file.take(LONGEST_LIST_BYTES).read_to_string(&mut text));
        if read.is_ok() {
            for (port, socket) in text.lines().filter_map(parse_listener) {
                all.entry(port).or_default().insert(socket);
            }
        }
    }
    all
}

/// Parses a line of the kernel's list: `number: local remote state queues timer retransmissions user timeout socket …`.
fn parse_listener(line: &str) -> Option<(u16, u64)> {
    let mut fields = line.split_ascii_whitespace();
    let local = fields.nth(1)?;
    if fields.nth(1)? != LISTENS {
        return None;
    }
    let (_, port) = local.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let socket = fields.nth(5)?.parse().ok()?;
    Some((port, socket))
}

/// Returns the ports with the names of their programs.
fn named_ports(listeners: &Listeners) -> Vec<ListeningPort> {
    let mut programs: HashMap<u64, String> = HashMap::new();
    for process in processes::all() {
        let Ok(name) = fs::read_to_string(format!("/proc/{}/comm", process.pid)) else {
            continue;
        };
        for socket in sockets_of(&process.pid.to_string()) {
            programs.entry(socket).or_insert_with(|| shown(&name));
        }
    }
    let ports = listeners.iter().take(MOST_PORTS);
    ports
        .map(|(port, sockets)| ListeningPort {
            port: *port,
            program: sockets
                .iter()
                .find_map(|socket| programs.get(socket).cloned()),
        })
        .collect()
}

fn shown(name: &str) -> String {
    let plain = name.trim().chars().filter(|letter| !letter.is_control());
    plain.take(LONGEST_PROGRAM_NAME).collect()
}

fn own_sockets() -> HashSet<u64> {
    sockets_of("self").into_iter().collect()
}

/// Returns the inodes of the sockets that a process has open.
fn sockets_of(process: &str) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(format!("/proc/{process}/fd")) else {
        return Vec::new();
    };
    let links = entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok());
    links
        .filter_map(|link| parse_socket(link.to_str()?))
        .collect()
}

fn parse_socket(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_listening_sockets_are_reported() {
        let listens = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0";
        assert_eq!(parse_listener(listens), Some((8080, 4711)));
        let sixth = "   1: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 4712 1";
        assert_eq!(parse_listener(sixth), Some((3000, 4712)));
        let connected = listens.replace(" 0A ", " 01 ");
        assert_eq!(parse_listener(&connected), None);
        assert_eq!(parse_listener("  sl  local_address rem_address   st"), None);
    }

    #[test]
    fn the_ports_of_this_process_are_its_own() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_own(port));
        assert!(!foreign_listeners().contains_key(&port));
        drop(listener);
        assert!(!is_own(port));
    }
}
