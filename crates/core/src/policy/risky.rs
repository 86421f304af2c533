//! The shell commands that people are asked about, by their effect. `docs/guide/approvals.md` says the same in words.
//!
//! The files and programs of the sandbox are the agent's own. People are asked when a command leaves the sandbox,
//! becomes another user, or removes what people may have put into the home folder.

use std::collections::HashSet;

use super::{
    Reach,
    commands::{Command, CommandInput, name_of, split},
    destination::{is_loopback, is_remote_redirect, is_url},
    fuel::Fuel,
    inline,
    interpreters::{code_of, is_interpreter, is_shell, reads_script},
    outside::{output_files, outside},
    pipes::piped_text,
    removal::{Folder, removes_home, removes_listed},
    wrappers::passed_on,
};

const BECOMES_ROOT: [&str; 8] = [
    "sudo", "su", "doas", "pkexec", "runuser", "sudoedit", "gosu", "su-exec",
];
const FETCHES: [&str; 6] = ["curl", "wget", "http", "https", "xh", "aria2c"];
/// Programs that turn unreadable text into something else.
const DECODES: [&str; 9] = [
    "base64", "base32", "basenc", "xxd", "openssl", "uudecode", "rev", "gpg", "tac",
];
/// The most levels of texts in texts that are read.
const MOST_LEVELS: usize = 8;
/// The maximum number of commands in a text. A person could not review more either.
const MOST_COMMANDS: usize = 1_000;
/// The most commands of a pipeline whose output is looked at.
const LONGEST_PIPELINE: usize = 20;

const BECOMES_USER: &str = "becomes another user";
const REMOVES_HOME: &str = "removes everything in a folder that may contain files of people";
const RUNS_FETCHED: &str = "runs what it fetches from the network";
const HIDES: &str = "hides what it runs";

/// A reader of commands in their order, with what it knows about those before.
#[derive(Debug)]
pub(super) struct Judge {
    pub(super) reach: Reach,
    fuel: Fuel,
    /// The number of texts around the one that is read.
    level: usize,
    folder: Folder,
    /// The names of files that were fetched.
    fetched: HashSet<String>,
}

/// Returns the risk of these commands, as the end of "… a command that …". `is_cut` is true if some are missing.
pub(super) fn risk(commands: &[Command], is_cut: bool, reach: Reach) -> Option<&'static str> {
    let mut judge = Judge {
        reach,
        fuel: Fuel::for_text(""),
        level: 0,
        folder: Folder::default(),
        fetched: HashSet::new(),
    };
    let found = judge.list(commands);
    let hides = (is_cut || judge.fuel.is_out()) && reach == Reach::Connected;
    found.or(hides.then_some(HIDES))
}

impl Judge {
    /// Returns the risk of a text that another program runs.
    pub(super) fn text(&mut self, text: &str) -> Option<&'static str> {
        let commands = split(text, &self.fuel);
        self.inside(&commands)
    }

    fn inside(&mut self, commands: &[Command]) -> Option<&'static str> {
        self.level += 1;
        let found = self.list(commands);
        self.level -= 1;
        found
    }

    fn list(&mut self, commands: &[Command]) -> Option<&'static str> {
        if self.level > MOST_LEVELS || commands.len() > MOST_COMMANDS {
            self.fuel.run_out();
            return None;
        }
        for (index, command) in commands.iter().enumerate() {
            let earlier = &commands[..index];
            let found = self
                .command(command, earlier)
                .or_else(|| self.substitutions(command))
                .or_else(|| self.passed_on(command, earlier));
            if found.is_some() {
                return found;
            }
            self.fetched.extend(fetched_files(command, earlier));
            self.folder = std::mem::take(&mut self.folder).after(command);
        }
        None
    }

    /// Returns the risk of the substitutions in a command, which run in a shell of their own.
    fn substitutions(&mut self, command: &Command) -> Option<&'static str> {
        if command.inner.is_empty() {
            return None;
        }
        let folder = self.folder.clone();
        let found = self.inside(&command.inner);
        self.folder = folder;
        found
    }

    /// Returns the risk of the commands that a command passes to another program or reads from a pipe.
    fn passed_on(&mut self, command: &Command, earlier: &[Command]) -> Option<&'static str> {
        let passed = passed_on(command, &self.fuel);
        let found = self.inside(&passed);
        if found.is_some() || !is_shell(command.program()) {
            return found;
        }
        piped_text(command, earlier).and_then(|text| self.text(&text))
    }

    /// Returns the risk of one command, without those inside it.
    fn command(&mut self, command: &Command, earlier: &[Command]) -> Option<&'static str> {
        if BECOMES_ROOT.contains(&command.program()) {
            return Some(BECOMES_USER);
        }
        let is_listed = |source: &Command| removes_listed(command, source, &self.folder);
        if removes_home(command, &self.folder) || earlier.last().is_some_and(is_listed) {
            return Some(REMOVES_HOME);
        }
        if command
            .redirects
            .iter()
            .any(|target| is_remote_redirect(target))
        {
            return Some("sends data over the network");
        }
        if let Some(why) = outside(command) {
            return Some(why);
        }
        if let Some(code) = code(command, earlier)
            && let Some(why) = inline::risk(&code, self)
        {
            return Some(why);
        }
        // Nothing can be fetched, and what is hidden reaches nothing.
        if self.reach == Reach::Sealed {
            return None;
        }
        let sources = sources_of_script(command, earlier);
        if sources.iter().any(|source| fetches(source)) {
            return Some(RUNS_FETCHED);
        }
        let decodes = |source: &&Command| DECODES.contains(&source.program());
        if sources.iter().any(decodes) {
            return Some(HIDES);
        }
        runs_file_of(command, &self.fetched).then_some(RUNS_FETCHED)
    }
}

/// Returns the program text in the arguments or the input of an interpreter that is no shell.
fn code(command: &Command, earlier: &[Command]) -> Option<String> {
    let words = command.words();
    if is_shell(command.program()) || !is_interpreter(command.program()) {
        return None;
    }
    match code_of(words) {
        Some(code) => Some(code.to_owned()),
        None if reads_script(words) => {
            let piped = piped_text(command, earlier).unwrap_or_default();
            Some(command.documents.join("\n") + &piped)
        }
        None => None,
    }
}

/// Returns the commands whose output a command runs as a program.
fn sources_of_script<'a>(command: &'a Command, earlier: &'a [Command]) -> Vec<&'a Command> {
    let program = command.program();
    let inner = || command.inner.iter().flat_map(Command::with_inner);
    // `$(…) arguments` runs the words that it makes.
    let is_made = command
        .words()
        .first()
        .is_some_and(|word| word.starts_with("$("));
    if is_made || matches!(program, "eval" | "source" | ".") {
        return inner().collect();
    }
    if !is_interpreter(program) {
        return Vec::new();
    }
    // `bash -c "$(…)"`, `bash <(…)`, `python3 -c "$(…)"`
    let words = command.words();
    let mut sources: Vec<&Command> = Vec::new();
    let is_made = code_of(words).is_none_or(|code| code.trim_start().starts_with("$("));
    if is_shell(program) || is_made {
        sources.extend(inner());
    }
    if !reads_script(words) {
        return sources;
    }
    match command.input {
        CommandInput::Own | CommandInput::File => {}
        CommandInput::PipedFromGroup => {
            let earlier = earlier.iter().rev().take(LONGEST_PIPELINE);
            sources.extend(earlier.flat_map(Command::with_inner));
        }
        CommandInput::Piped => {
            for source in earlier.iter().rev().take(LONGEST_PIPELINE) {
                sources.extend(source.with_inner());
                if source.input != CommandInput::Piped {
                    break;
                }
            }
        }
    }
    sources
}

/// Returns true if a command fetches something from another computer.
fn fetches(command: &Command) -> bool {
    let program = command.program();
    let mut places = command
        .arguments()
        .iter()
        .filter(|word| is_url(word) || (!word.starts_with('-') && word.contains(['.', ':', '$'])));
    match places.next() {
        _ if !FETCHES.contains(&program) => false,
        None => true,
        Some(first) => {
            !is_loopback(first) || places.any(|place| is_url(place) && !is_loopback(place))
        }
    }
}

/// Returns the names of the files that a command writes with what it fetches.
fn fetched_files(command: &Command, earlier: &[Command]) -> Vec<String> {
    let arguments = command.arguments();
    if command.program() == "tee" && earlier.last().is_some_and(fetches) {
        return arguments.iter().map(|path| name_of_path(path)).collect();
    }
    if !fetches(command) {
        return Vec::new();
    }
    let mut files: Vec<String> = command
        .redirects
        .iter()
        .map(|path| name_of_path(path))
        .collect();
    let outputs = output_files(command.program(), arguments);
    files.extend(outputs.into_iter().map(name_of_path));
    let urls = arguments
        .iter()
        .filter(|word| word.contains('/') && !word.starts_with('-'));
    files.extend(urls.map(|url| name_of_path(url)));
    files
}

/// Returns true if a command runs one of these files.
fn runs_file_of(command: &Command, files: &HashSet<String>) -> bool {
    let words = command.words();
    let is_path = words.first().is_some_and(|word| word.contains('/'));
    let is_run = |path: &String| files.contains(&name_of_path(path));
    let program = name_of(words);
    if is_path && words.first().is_some_and(is_run) {
        return true;
    }
    let runs_argument = is_interpreter(program) || matches!(program, "source" | ".");
    let mut operands = words.iter().skip(1).filter(|word| !word.starts_with('-'));
    runs_argument && code_of(words).is_none() && operands.next().is_some_and(is_run)
}

fn name_of_path(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}
