//! Database clients. A change to a database on another computer is a change outside of the sandbox.

use super::CHANGES;
use crate::policy::{
    commands::{Command, CommandInput},
    destination::{is_loopback, is_url},
    options::Options,
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
        return is_elsewhere(program, command).then_some(CHANGES);
    }
    if !CLIENTS.contains(&program) || !is_elsewhere(program, command) {
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

/// Returns true if the arguments or the variables in front of a client name another computer.
fn is_elsewhere(program: &str, command: &Command) -> bool {
    let arguments = command.arguments();
    let all = command.all_words();
    let in_front = &all[..all.len() - command.words().len()];
    let mut hosts: Vec<&str> = in_front
        .iter()
        .filter_map(|word| {
            let (name, value) = word.split_once('=')?;
            matches!(name, "PGHOST" | "PGHOSTADDR" | "MYSQL_HOST" | "PGSERVICE").then_some(value)
        })
        .collect();
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        // Nobody knows what a variable stands for.
        if (is_url(word) && !is_loopback(word)) || word.starts_with('$') {
            return true;
        }
        let is_host_option = matches!(&**word, "-h" | "--host")
            || program == "sqlcmd" && matches!(&**word, "-S" | "--server");
        if is_host_option {
            hosts.extend(words.peek().map(|host| host.as_str()));
        }
        let host = word
            .strip_prefix("--host=")
            .or_else(|| word.strip_prefix("-h").filter(|host| !host.is_empty()));
        hosts.extend(host);
        // `psql "host=db dbname=a"`
        let parts = word.split_whitespace();
        hosts.extend(parts.filter_map(|part| {
            part.strip_prefix("host=")
                .or_else(|| part.strip_prefix("hostaddr="))
        }));
    }
    hosts.extend(host_operand(program, arguments));
    let is_other = |host: &&str| {
        // `tcp:db.example.com,1433`
        let host = host.trim_start_matches("tcp:");
        let host = host.split(',').next().unwrap_or(host);
        !is_loopback(host) && !matches!(host, "" | ".") && !host.starts_with(['/', '-', '('])
    };
    hosts.iter().any(is_other)
}

/// Returns the host among the operands of clients that take it without an option.
fn host_operand<'a>(program: &str, arguments: &'a [String]) -> Option<&'a str> {
    let with_value: &[&str] = match program {
        "cqlsh" => &["-e", "--execute", "-f", "--file", "-u", "-p", "-k"],
        "mongosh" | "mongo" => &["--eval", "-u", "-p", "--port", "--file", "-f"],
        _ => return None,
    };
    let read = Options::leading(arguments, with_value);
    let first = *read.operands.first()?;
    // A plain word is a database of this computer to `mongosh`.
    (program == "cqlsh" || first.contains(['.', ':']) && !first.ends_with(".js")).then_some(first)
}
