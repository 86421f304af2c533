//! A live view of the agent's shell for people: its commands and their output.

use std::sync::Arc;

use deskhand_core::{
    plain::visible,
    shell::ShellEnding,
    terminal::{TerminalNumber, TerminalSize},
};

use super::display::Display;

/// Shows the agent's shell like a terminal. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Transcript(pub(super) Arc<Display>);

impl Default for Transcript {
    fn default() -> Self {
        let (name, size) = ("agent".to_owned(), TerminalSize::default());
        Self(Arc::new(Display::new(TerminalNumber::AGENT, name, size)))
    }
}

impl Transcript {
    /// Shows a command that starts.
    pub(crate) fn command(&self, command: &str) {
        let lines = visible(command.trim_end()).replace('\n', "\r\n> ");
        self.0
            .append(format!("\x1b[0m\x1b[1m$ {lines}\x1b[0m\r\n").as_bytes());
    }

    /// Shows output. It comes from a pipe, so carriage returns are added as a terminal would.
    pub(crate) fn output(&self, bytes: &[u8]) {
        let mut shown = Vec::with_capacity(bytes.len() + bytes.len() / 16);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(text) => {
                    shown.extend_from_slice(text);
                    shown.extend_from_slice(b"\r\n");
                }
                None => shown.extend_from_slice(line),
            }
        }
        self.0.append(&shown);
    }

    /// Shows how a command ended, unless it succeeded.
    pub(crate) fn ending(&self, ending: ShellEnding) {
        let text = match ending {
            ShellEnding::Exited { code: 0 } => return,
            ShellEnding::Exited { code } => format!("exit code {code}"),
            ShellEnding::TimedOut { after_ms } | ShellEnding::TimedOutWithShell { after_ms } => {
                format!("ended after {after_ms} ms")
            }
            ShellEnding::ShellEnded { code } => format!("the shell ended with exit code {code}"),
            ShellEnding::Interrupted => "interrupted".to_owned(),
            ShellEnding::Restarted => "the shell was restarted".to_owned(),
        };
        self.0
            .append(format!("\x1b[0m\x1b[2m[{text}]\x1b[0m\r\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminals::scrollback::OutputPiece;

    #[test]
    fn commands_and_output_are_shown_as_in_a_terminal() {
        let transcript = Transcript::default();
        transcript.command("echo \u{1b}[2J\nfalse\n");
        transcript.output(b"a\nb");
        transcript.ending(ShellEnding::Exited { code: 0 });
        transcript.ending(ShellEnding::Exited { code: 1 });
        let OutputPiece::Bytes(shown) = transcript.0.read(&mut 0) else {
            panic!("something is shown");
        };
        assert_eq!(
            String::from_utf8_lossy(&shown),
            "\x1b[0m\x1b[1m$ echo \\u001b[2J\r\n> false\x1b[0m\r\na\r\nb\x1b[0m\x1b[2m[exit code 1]\x1b[0m\r\n"
        );
    }
}
