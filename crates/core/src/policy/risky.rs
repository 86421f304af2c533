//! The list of risky shell commands. `docs/guide/approvals.md` says the same in words.
//!
//! The mouse, keyboard and editor are not in it: a click does not show what it will do, and the files are the agent's
//! own.

use super::commands::{Command, split};

const BECOMES_ROOT: [&str; 4] = ["sudo", "su", "doas", "pkexec"];
const ENDS_MACHINE: [&str; 4] = ["shutdown", "reboot", "halt", "poweroff"];
const OVERWRITES_DISKS: [&str; 4] = ["dd", "mkfs", "fdisk", "shred"];
const GOES_ELSEWHERE: [&str; 6] = ["ssh", "scp", "sftp", "rsync", "mail", "sendmail"];
const FETCHES: [&str; 2] = ["curl", "wget"];
const INTERPRETS: [&str; 8] = [
    "sh", "bash", "dash", "zsh", "python", "python3", "perl", "node",
];
/// Programs and subcommands that act outside this computer or cannot be undone.
const PUBLISHES: [(&str, &str); 10] = [
    ("git", "push"),
    ("npm", "publish"),
    ("cargo", "publish"),
    ("twine", "upload"),
    ("docker", "push"),
    ("gh", "release"),
    ("gh", "pr"),
    ("terraform", "apply"),
    ("kubectl", "apply"),
    ("kubectl", "delete"),
];
/// Options that turn a download into an upload.
const SENDS: [&str; 10] = [
    "-d",
    "--data",
    "-F",
    "--form",
    "-T",
    "--upload-file",
    "--json",
    "--post-data",
    "--post-file",
    "-X",
];

/// Returns the risk of these commands, as the end of "… a command that …".
pub(super) fn risk(commands: &[Command], whole: &str) -> Option<&'static str> {
    let fetches = FETCHES.iter().any(|program| whole.contains(program));
    let runs_fetched = |command: &Command| fetches && INTERPRETS.contains(&command.program());
    if commands.iter().any(runs_fetched) {
        return Some("runs what it fetches from the network");
    }
    commands.iter().find_map(risk_of)
}

fn risk_of(command: &Command) -> Option<&'static str> {
    let program = command.program();
    let arguments = command.arguments();
    let has_letter = |letters: &[char]| {
        let short = |word: &String| word.starts_with('-') && !word.starts_with("--");
        let mut options = arguments.iter().filter(|word| short(word));
        options.any(|word| word.contains(letters))
    };
    let has = |option: &str| arguments.iter().any(|word| word == option);
    // A command passed to another shell counts as if it stood here.
    if INTERPRETS.contains(&program)
        && let Some(place) = arguments.iter().position(|word| word == "-c")
        && let Some(inner) = arguments.get(place + 1)
    {
        return risk(&split(inner), inner);
    }
    if BECOMES_ROOT.contains(&program) {
        return Some("becomes another user");
    }
    if ENDS_MACHINE.contains(&program) {
        return Some("shuts down the computer");
    }
    if OVERWRITES_DISKS.contains(&program) || program.starts_with("mkfs.") {
        return Some("overwrites disks or files");
    }
    if program == "rm" && (has_letter(&['r', 'R', 'f']) || has("--recursive") || has("--force")) {
        return Some("removes files for good");
    }
    if program == "find" && (has("-delete") || (has("-exec") && has("rm"))) {
        return Some("removes files for good");
    }
    if ["chmod", "chown"].contains(&program) && (has_letter(&['R']) || has("--recursive")) {
        return Some("changes whole folders");
    }
    if program == "git" && ((has("reset") && has("--hard")) || has("clean")) {
        return Some("throws work away");
    }
    let publishes = |(name, word): &(&str, &str)| program == *name && has(word);
    if PUBLISHES.iter().any(publishes) {
        return Some("changes something outside this computer");
    }
    if GOES_ELSEWHERE.contains(&program) {
        return Some("reaches another computer or person");
    }
    let sends = |word: &String| {
        let option = word.split('=').next().unwrap_or_default();
        SENDS.contains(&option) || option.starts_with("--data-")
    };
    if FETCHES.contains(&program) && arguments.iter().any(sends) {
        return Some("sends data over the network");
    }
    None
}
