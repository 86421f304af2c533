//! Attempts of programs to reach hosts.

use std::time::{Duration, Instant};

use deskhand_api::network::{DestinationView, NetworkView};
use deskhand_core::network::policy::BlockReason;
use deskhand_testkit::Session;

use crate::world::say;

/// The longest wait for a record. The server records every second.
const PATIENCE: Duration = Duration::from_secs(60);

/// One command in a sandbox.
#[derive(Debug)]
pub(super) struct Attempt {
    what: String,
    command: String,
    /// A part of the command's output.
    shows: String,
    recorded: Recorded,
}

/// The record that the server should have of an attempt.
#[derive(Debug)]
pub(super) enum Recorded {
    /// A connection to this port of this host.
    Reached(&'static str, u16),
    /// A connection on which so many bytes came.
    Received(&'static str, u16, u64),
    Blocked(String, u16, BlockReason),
    /// Nothing about this port of any host: the packets did not even get to the server.
    Nothing(u16),
    /// No packet can be made.
    NoPacket,
}

impl Attempt {
    pub(super) fn new(what: &str, command: &str, shows: &str, recorded: Recorded) -> Self {
        Self {
            what: what.to_owned(),
            command: command.to_owned(),
            shows: shows.to_owned(),
            recorded,
        }
    }

    /// Returns an attempt that should be blocked.
    pub(super) fn blocked(
        what: &str,
        command: &str,
        shows: &str,
        host: &str,
        port: u16,
        reason: BlockReason,
    ) -> Self {
        Self::new(
            what,
            command,
            shows,
            Recorded::Blocked(host.to_owned(), port, reason),
        )
    }
}

/// Makes attempts one after the other. Returns a line for each whose program saw something else than expected.
pub(super) async fn try_all(session: &Session, attempts: &[Attempt]) -> Vec<String> {
    let mut failures = Vec::new();
    for Attempt {
        what,
        command,
        shows,
        ..
    } in attempts
    {
        let begun = Instant::now();
        let output = session.shell(command).await;
        let took_ms = begun.elapsed().as_millis();
        let last = output.trim().lines().last().unwrap_or_default();
        say(&format!("{what:<50} {took_ms:>6} ms  saw {last:?}"));
        if !output.contains(shows) {
            failures.push(format!("{what}: {shows:?} is not in {output:?}"));
        }
    }
    failures
}

/// Waits until the server has recorded all attempts. Returns a line for each of which it has another record.
pub(super) async fn judge_records(session: &Session, attempts: &[Attempt]) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    let mut records = records(session).await;
    let is_missing = |attempt: &Attempt, records: &_| judge(attempt, records).is_none();
    while Instant::now() < deadline && attempts.iter().any(|it| is_missing(it, &records)) {
        tokio::time::sleep(Duration::from_millis(50)).await;
        records = self::records(session).await;
    }
    let mut failures = Vec::new();
    for attempt in attempts {
        match judge(attempt, &records) {
            Some(verdict) => say(&format!("{:<50} {verdict}", attempt.what)),
            None => failures.push(format!(
                "{}: {:?} is not recorded",
                attempt.what, attempt.recorded
            )),
        }
    }
    if !failures.is_empty() {
        failures.push(format!("{records:?}"));
    }
    failures
}

/// Returns all destinations of a session.
pub(super) async fn records(session: &Session) -> Vec<DestinationView> {
    let answer = session
        .client
        .get(&session.path("/network?limit=200"))
        .await;
    let view: NetworkView = answer.view();
    view.destinations
}

/// Returns the verdict in words, or nothing if the record is another one.
fn judge(attempt: &Attempt, records: &[DestinationView]) -> Option<String> {
    let find = |host: &str, port: u16| {
        let mut all = records.iter();
        all.find(|record| record.host == host && record.port == port)
    };
    match &attempt.recorded {
        Recorded::Reached(host, port) => {
            let record =
                find(host, *port).filter(|it| it.connections > 0 && it.blocked.is_none())?;
            Some(format!(
                "recorded {host}:{port}, {} connections",
                record.connections
            ))
        }
        Recorded::Received(host, port, n_bytes) => {
            let record = find(host, *port).filter(|it| it.received_bytes >= *n_bytes)?;
            Some(format!(
                "recorded {host}:{port}, {} bytes",
                record.received_bytes
            ))
        }
        Recorded::Blocked(host, port, reason) => {
            let record = find(host, *port)?;
            let is_it = record.blocked == Some(*reason) && record.blocked_connections > 0;
            // Nothing is answered to a program that is blocked.
            (is_it && record.received_bytes == 0)
                .then(|| format!("blocked {host}:{port}, {}", reason.name()))
        }
        Recorded::Nothing(port) => {
            let is_absent = records.iter().all(|record| record.port != *port);
            is_absent.then(|| "never reached the server".to_owned())
        }
        Recorded::NoPacket => Some("no packet can be made".to_owned()),
    }
}
