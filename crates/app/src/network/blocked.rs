//! Reports hosts to the agent that were blocked while one of its commands ran. The command itself only sees that a name
//! does not resolve, or that a connection is refused.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deskhand_core::{
    id::SessionId,
    network::{policy::BlockReason, question::NetworkQuestion},
};

/// The maximum number of hosts that are remembered for one command.
const MOST_NAMED: usize = 20;

/// The running commands, each with the hosts that were blocked since it started. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockedHosts(Arc<Mutex<HashMap<SessionId, Vec<WatchedCommand>>>>);

#[derive(Debug)]
struct WatchedCommand {
    number: u64,
    blocked: Vec<(NetworkQuestion, BlockReason)>,
    n_left_out: usize,
}

/// Collects the hosts that are blocked while a command runs. Stops on drop.
#[derive(Debug)]
pub(crate) struct BlockedMeanwhile {
    all: BlockedHosts,
    session: SessionId,
    number: u64,
}

impl BlockedHosts {
    /// Starts collecting for one command of a session.
    pub(crate) fn watch(&self, session: SessionId) -> BlockedMeanwhile {
        let mut all = self.all();
        let commands = all.entry(session).or_default();
        let number = commands.last().map_or(0, |command| command.number + 1);
        commands.push(WatchedCommand {
            number,
            blocked: Vec::new(),
            n_left_out: 0,
        });
        BlockedMeanwhile {
            all: self.clone(),
            session,
            number,
        }
    }

    /// Adds a blocked host to all running commands of a session.
    pub(super) fn note(&self, session: SessionId, question: &NetworkQuestion, reason: BlockReason) {
        let mut all = self.all();
        for command in all.get_mut(&session).into_iter().flatten() {
            let is_known = |(known, _): &(NetworkQuestion, BlockReason)| known == question;
            if command.blocked.iter().any(is_known) {
                continue;
            }
            if command.blocked.len() < MOST_NAMED {
                command.blocked.push((question.clone(), reason));
            } else {
                command.n_left_out += 1;
            }
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Vec<WatchedCommand>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BlockedMeanwhile {
    /// Returns a line for each blocked host that one of these texts mentions, and one more if some were left out.
    ///
    /// Hosts that no text mentions are skipped, because the browser and other programs contact hosts at the same time.
    pub(crate) fn lines(&self, texts: &[&str]) -> Vec<String> {
        let all = self.all.all();
        let mut commands = all.get(&self.session).into_iter().flatten();
        let Some(command) = commands.find(|command| command.number == self.number) else {
            return Vec::new();
        };
        let line = |(question, reason): &(NetworkQuestion, BlockReason)| {
            format!("[network: {question} was blocked: {}]", reason.sentence())
        };
        let is_named = |(question, _): &&(NetworkQuestion, BlockReason)| {
            let host = question.host.to_string();
            texts
                .iter()
                .any(|text| text.to_ascii_lowercase().contains(&host))
        };
        let mut lines: Vec<_> = command.blocked.iter().filter(is_named).map(line).collect();
        if command.n_left_out > 0 && !lines.is_empty() {
            lines.push("[network: further hosts were blocked]".to_owned());
        }
        lines
    }
}

impl Drop for BlockedMeanwhile {
    fn drop(&mut self) {
        let mut all = self.all.all();
        if let Some(commands) = all.get_mut(&self.session) {
            commands.retain(|command| command.number != self.number);
            if commands.is_empty() {
                all.remove(&self.session);
            }
        }
    }
}
