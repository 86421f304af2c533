//! The shell of a fake sandbox: a few commands over files in memory, and the commands that a test scripts.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use deskhand_core::{
    sandbox::Progress,
    shell::{ShellEnding, ShellOutput},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(super) const HOME: &str = "/home/agent";

/// The scripted answer to a shell command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FakeCommand {
    pub output: String,
    pub code: i32,
    /// The time until it ends.
    pub takes: Duration,
}

/// A running command.
pub(super) struct FakeShell<'a> {
    pub(super) files: &'a super::Files,
    pub(super) cancel: &'a CancellationToken,
    /// Receives the output as it arrives.
    pub(super) progress: Option<Progress>,
    pub(super) deadline: Instant,
    pub(super) timeout_ms: u64,
    pub(super) output: String,
}

/// The end of one statement.
enum StatementEnd {
    Exited(i32),
    /// The whole command has ended in this way.
    Over(ShellEnding),
}

impl FakeShell<'_> {
    /// Plays a scripted command.
    pub(super) async fn play(mut self, command: &FakeCommand) -> ShellOutput {
        self.print(&command.output);
        let code = command.code;
        let ending = match self.wait(command.takes).await {
            Some(ending) => ending,
            None => ShellEnding::Exited { code },
        };
        self.finish(ending)
    }

    /// Runs a script of statements: `echo`, `printf`, `cat`, `rm -f`, `true`, `false`, `pwd`, `sleep` and `exit`, with
    /// `>` and `>>`, separated by `;`, `&&` or line ends. `sh FILE` runs the statements of a file, in which `export` and
    /// `cd` do nothing.
    pub(super) async fn run(mut self, script: &str) -> ShellOutput {
        let file = script.strip_prefix("sh ").and_then(|path| self.read(path));
        let (script, is_file) = match &file {
            Some(content) => (&**content, true),
            None => (script, false),
        };
        let mut code = 0;
        for line in script.split([';', '\n']) {
            for statement in line.split("&&") {
                match self.statement(statement.trim()).await {
                    StatementEnd::Exited(exited) => code = exited,
                    // A script ends itself, and not the shell that runs it.
                    StatementEnd::Over(ShellEnding::ShellEnded { code }) if is_file => {
                        return self.finish(ShellEnding::Exited { code });
                    }
                    StatementEnd::Over(ending) => return self.finish(ending),
                }
                if code != 0 {
                    break;
                }
            }
        }
        self.finish(ShellEnding::Exited { code })
    }

    async fn statement(&mut self, statement: &str) -> StatementEnd {
        let (command, target) = redirected(statement);
        let (word, argument) = command.split_once(' ').unwrap_or((command, ""));
        let (text, code) = match word {
            "" | "true" | "export" | "cd" => (String::new(), 0),
            "false" => (String::new(), 1),
            "echo" => (format!("{}\n", unquoted(argument)), 0),
            "printf" => (unquoted(argument), 0),
            "pwd" => (format!("{HOME}\n"), 0),
            "cat" => match self.read(argument) {
                Some(content) => (content, 0),
                None => {
                    let path = expanded(argument);
                    (format!("cat: {path}: No such file or directory\n"), 1)
                }
            },
            "rm" => {
                let path = expanded(argument.trim_start_matches("-f "));
                self.lock().remove(&path);
                (String::new(), 0)
            }
            "sleep" => {
                let seconds = argument.trim().parse().unwrap_or(0.0);
                match self.wait(Duration::from_secs_f64(seconds)).await {
                    Some(ending) => return StatementEnd::Over(ending),
                    None => (String::new(), 0),
                }
            }
            "exit" => {
                let code = argument.trim().parse().unwrap_or(0);
                return StatementEnd::Over(ShellEnding::ShellEnded { code });
            }
            unknown => (format!("bash: {unknown}: command not found\n"), 127),
        };
        match target {
            Some((path, is_appended)) => self.write(&path, &text, is_appended),
            None => self.print(&text),
        }
        StatementEnd::Exited(code)
    }

    /// Waits. Returns the command's ending if it was interrupted or timed out.
    async fn wait(&self, time: Duration) -> Option<ShellEnding> {
        let after_ms = self.timeout_ms;
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Some(ShellEnding::Interrupted),
            () = tokio::time::sleep(time) => None,
            () = tokio::time::sleep_until(self.deadline) => Some(ShellEnding::TimedOut { after_ms }),
        }
    }

    fn print(&mut self, text: &str) {
        self.output.push_str(text);
        if let Some(progress) = &mut self.progress
            && !text.is_empty()
        {
            // The reply has everything, so a piece that does not fit may be dropped.
            let _ = progress.try_send(Bytes::copy_from_slice(text.as_bytes()));
        }
    }

    fn read(&self, path: &str) -> Option<String> {
        let files = self.lock();
        let content = files.get(&expanded(path))?;
        Some(String::from_utf8_lossy(content).into_owned())
    }

    fn write(&self, path: &str, text: &str, is_appended: bool) {
        let mut files = self.lock();
        let earlier = files.remove(path).filter(|_| is_appended);
        let mut content = earlier.unwrap_or_default().to_vec();
        content.extend_from_slice(text.as_bytes());
        files.insert(path.to_owned(), content.into());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Bytes>> {
        self.files.lock().expect("no edit panics")
    }

    fn finish(self, ending: ShellEnding) -> ShellOutput {
        ShellOutput {
            output: self.output,
            omitted_bytes: 0,
            file: None,
            ending,
            cwd: HOME.to_owned(),
        }
    }
}

/// Splits off a redirection: the file, and true if it is appended to.
fn redirected(statement: &str) -> (&str, Option<(String, bool)>) {
    if let Some((command, path)) = statement.split_once(">>") {
        return (command.trim(), Some((expanded(path), true)));
    }
    if let Some((command, path)) = statement.split_once('>') {
        return (command.trim(), Some((expanded(path), false)));
    }
    (statement, None)
}

/// Returns an absolute path.
fn expanded(path: &str) -> String {
    let path = unquoted(path);
    match path.strip_prefix("~/") {
        Some(rest) => format!("{HOME}/{rest}"),
        None if path.starts_with('/') => path,
        None => format!("{HOME}/{path}"),
    }
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let quoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let text = quoted('\'').or_else(|| quoted('"')).unwrap_or(text);
    text.to_owned()
}
