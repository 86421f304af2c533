//! Database clients. A change to a database on another computer is a change outside of the sandbox.

use super::CHANGES;
use crate::policy::{
    commands::{Command, CommandInput},
    destination::{is_loopback, is_url},
};

const CLIENTS: [&str; 9] = [
    "psql",
    "mysql",
    "mariadb",
    "mongosh",
    "mongo",
    "redis-cli",
    "sqlcmd",
    "clickhouse-client",
    "cqlsh",
];
/// Words that change data.
const CHANGE_WORDS: [&str; 22] = [
    "drop",
    "delete",
    "truncate",
    "insert",
    "update",
    "alter",
    "grant",
    "revoke",
    "create",
    "merge",
    "replace",
    "flushall",
    "flushdb",
    "del",
    "set",
    "rename",
    "call",
    "copy",
    "deleteone",
    "deletemany",
    "updatemany",
    "dropdatabase",
];

/// Returns the effect of a client, if it is one.
pub(super) fn effect(program: &str, command: &Command) -> Option<&'static str> {
    let arguments = command.arguments();
    if [
        "pg_restore",
        "mysqlimport",
        "mongorestore",
        "dropdb",
        "createdb",
    ]
    .contains(&program)
    {
        return is_elsewhere(arguments).then_some(CHANGES);
    }
    if !CLIENTS.contains(&program) || !is_elsewhere(arguments) {
        return None;
    }
    let runs_file = arguments
        .iter()
        .any(|word| matches!(&**word, "-f" | "--file") || word.ends_with(".sql"));
    let reads_input = command.input != CommandInput::Own
        || !command.redirects.is_empty()
        || !command.documents.is_empty();
    let changes = arguments.iter().any(|word| has_change(word));
    (runs_file || reads_input || changes).then_some(CHANGES)
}

fn has_change(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| CHANGE_WORDS.contains(&&*word.to_ascii_lowercase()))
}

/// Returns true if the arguments name another computer.
fn is_elsewhere(arguments: &[String]) -> bool {
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        // Nobody knows what a variable stands for.
        if (is_url(word) && !is_loopback(word)) || word.starts_with('$') {
            return true;
        }
        let host = match &**word {
            "-h" | "--host" => words.peek().map(|host| host.as_str()),
            word => word
                .strip_prefix("--host=")
                .or_else(|| word.strip_prefix("host="))
                .or_else(|| word.strip_prefix("-h").filter(|host| !host.is_empty())),
        };
        if host.is_some_and(|host| !is_loopback(host) && !host.starts_with('/')) {
            return true;
        }
    }
    false
}
