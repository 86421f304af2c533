//! What can die.

use deskhand_testkit::{kill, processes_with_mount};
use rand::{Rng, seq::IndexedRandom};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blow {
    /// `kill -9` of the server, which is then started again.
    Server,
    /// `kill -9` of a runner.
    Runner,
    /// `kill -9` of an X server.
    Screen,
    /// `kill -9` of a browser.
    Browser,
    /// Connections of clients break.
    Clients,
    /// The database is stopped and started again.
    Database,
}

impl Blow {
    pub(crate) fn choose(random: &mut impl Rng, has_postgres: bool) -> Self {
        let number = random.random_range(0..100);
        match number {
            0..25 => Self::Server,
            25..45 => Self::Runner,
            45..65 => Self::Screen,
            65..75 => Self::Browser,
            75..85 => Self::Clients,
            85.. if has_postgres => Self::Database,
            _ => Self::Server,
        }
    }

    /// Kills one process of this kind in a sandbox; tells which.
    pub(crate) fn kill_one(self, mark: &str, random: &mut impl Rng) -> String {
        let mut found = processes_with_mount(mark);
        found.retain(|(_, command)| self.is_victim(command));
        match found.choose(random) {
            Some((pid, _)) if kill(*pid) => format!("one of {}", found.len()),
            Some(_) | None => "there was none".to_owned(),
        }
    }

    fn is_victim(self, command: &str) -> bool {
        match self {
            Self::Runner => command.contains("deskhand runner"),
            Self::Screen => command.contains("Xvnc"),
            Self::Browser => command.contains("--user-data-dir") && !command.contains("--type="),
            Self::Server | Self::Clients | Self::Database => false,
        }
    }
}
