//! Commands that reach another computer or a person, send data, or change something outside of the sandbox.

mod databases;
mod operands;
mod requests;
mod services;
mod transfers;

pub(super) use self::requests::output_files;
use super::commands::Command;

const REACHES: &str = "reaches another computer or person";
const SENDS: &str = "sends data over the network";
const CHANGES: &str = "changes something outside this computer";

/// Returns the effect of a command outside of the sandbox, as the end of "… a command that …".
pub(super) fn outside(command: &Command) -> Option<&'static str> {
    let (program, arguments) = (command.program(), command.arguments());
    if arguments.first().is_some_and(|word| is_help(word)) {
        return None;
    }
    transfers::effect(program, command)
        .or_else(|| databases::effect(program, command))
        .or_else(|| services::effect(program, arguments))
}

fn is_help(word: &str) -> bool {
    matches!(word, "--help" | "--version")
}
