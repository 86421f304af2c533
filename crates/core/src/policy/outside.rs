//! Commands that reach another computer or a person, send data, or change something outside of the sandbox.

mod databases;
mod services;
mod transfers;

use super::commands::Command;

const REACHES: &str = "reaches another computer or person";
const SENDS: &str = "sends data over the network";
const CHANGES: &str = "changes something outside this computer";

/// Returns the effect of a command outside of the sandbox, as the end of "… a command that …".
pub(super) fn outside(command: &Command) -> Option<&'static str> {
    let arguments = command.arguments();
    let asks_for_help = |word: &String| matches!(&**word, "--help" | "--version");
    if arguments.iter().any(asks_for_help) {
        return None;
    }
    let program = command.program();
    transfers::effect(program, command)
        .or_else(|| databases::effect(program, command))
        .or_else(|| services::effect(program, arguments))
}
