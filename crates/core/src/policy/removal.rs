//! Commands that remove the home folder, in which people put files, or everything in it.

use super::{
    commands::{Command, CommandInput, base_name},
    options::Options,
};

/// The folders that are not removed without asking.
const KEPT: [&str; 5] = ["", "/", "/home", "/home/agent", "/home/agent/uploads"];

/// The folder in which a command runs, as far as the text says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Folder {
    /// It is where the shell happens to be.
    #[default]
    Unknown,
    /// The text has gone there.
    Known(String),
}

impl Folder {
    /// Returns the folder after a command.
    pub(super) fn after(self, command: &Command) -> Self {
        let words = command.words();
        match command.program() {
            "cd" | "pushd" => {}
            "popd" => return Self::Unknown,
            _ => return self,
        }
        let target = words.iter().skip(1).find(|word| !word.starts_with('-'));
        match target.map(String::as_str) {
            None => Self::Known(absolute("~", &self).unwrap_or_default()),
            Some(target) => match absolute(target, &self) {
                Some(folder) => Self::Known(folder),
                // The folder above may be the home folder.
                None if matches!(last_name(target), ".." | "." | "" | "agent" | "uploads") => {
                    Self::Unknown
                }
                // A relative folder is somewhere below, which is not the home folder itself.
                None => Self::Known("./below".to_owned()),
            },
        }
    }
}

/// Returns true if the command removes a folder in which people's files may be, as a whole.
pub(super) fn removes_home(command: &Command, folder: &Folder) -> bool {
    let arguments = command.arguments();
    match command.program() {
        "rm" => {
            let read = Options::read(arguments, &[]);
            let is_recursive = read.has(&["-r", "-R", "--recursive"]);
            let is_kept = |path: &&str| {
                let is_all = path.ends_with('*');
                (is_recursive || is_all) && is_whole(path, folder)
            };
            read.operands.iter().any(is_kept)
        }
        "find" => {
            let removes = arguments.iter().any(|word| word == "-delete")
                || (arguments.iter().any(|word| word == "-exec")
                    && arguments.iter().any(|word| word == "rm"));
            removes && finds_all(arguments, folder)
        }
        "rsync" => {
            let read = Options::read(arguments, &["-e", "--exclude", "--include", "--rsh"]);
            let empties = read
                .options
                .iter()
                .any(|(name, _)| name.starts_with("--delete"));
            empties
                && read
                    .operands
                    .last()
                    .is_some_and(|path| is_whole(path, folder))
        }
        _ => false,
    }
}

/// Returns true if a command removes what the command in front of it in the pipe lists, and that is a whole folder in
/// which people's files may be: `ls -A ~ | xargs rm -rf`.
pub(super) fn removes_listed(command: &Command, source: &Command, folder: &Folder) -> bool {
    let removes = command.program() == "rm" && command.is_behind("xargs");
    if !removes || command.input != CommandInput::Piped {
        return false;
    }
    let read = Options::read(command.arguments(), &[]);
    let is_recursive = read.has(&["-r", "-R", "--recursive"]);
    let listed = source.arguments();
    is_recursive
        && match source.program() {
            "ls" => {
                let paths = Options::read(listed, &[]).operands;
                let is_here = paths.is_empty() && is_whole("*", folder);
                is_here || paths.iter().any(|path| is_whole(path, folder))
            }
            "find" => finds_all(listed, folder),
            _ => false,
        }
}

/// Returns true if `find` with these arguments finds everything in a folder that is kept.
fn finds_all(arguments: &[String], folder: &Folder) -> bool {
    const TESTS: [&str; 10] = [
        "-name", "-iname", "-path", "-regex", "-mtime", "-mmin", "-size", "-empty", "-newer",
        "-user",
    ];
    // With a test, it finds only a part, but `! -name x` finds nearly everything.
    let is_test = |(index, word): (usize, &String)| {
        let before = arguments[..index].iter().rev();
        let before = before.map(String::as_str).find(|word| *word != "(");
        TESTS.contains(&&**word) && !matches!(before, Some("!" | "-not"))
    };
    if arguments.iter().enumerate().any(is_test) {
        return false;
    }
    let is_link_option = |word: &&String| matches!(&***word, "-H" | "-L" | "-P");
    let rest = arguments.iter().skip_while(is_link_option);
    let mut paths = rest
        .take_while(|word| !word.starts_with('-') && *word != "!" && *word != "(")
        .peekable();
    if paths.peek().is_none() {
        return is_whole(".", folder);
    }
    paths.any(|path| is_whole(path, folder))
}

/// Returns true if a path stands for all of a folder that is kept.
fn is_whole(path: &str, folder: &Folder) -> bool {
    let mut bare = without_pattern(path);
    while let Some(rest) = bare.strip_prefix("./") {
        bare = rest;
    }
    let bare = if bare == "." { "" } else { bare };
    match absolute(bare, folder) {
        Some(path) => KEPT.contains(&&*path),
        // Everything in a folder that may be any.
        None => path != bare && bare.is_empty() && *folder == Folder::Unknown,
    }
}

/// Returns a path without a last part that stands for everything: `~/*`, `./.[a-z]*`.
fn without_pattern(path: &str) -> &str {
    const ALL: [&str; 6] = ["*", ".*", ".[a-z]*", ".[!.]*", ".??*", "."];
    match path.rsplit_once('/') {
        Some((folder, last)) if ALL.contains(&last) => {
            if folder.is_empty() {
                "/"
            } else {
                folder
            }
        }
        None if ALL.contains(&path) => "",
        Some(_) | None => path,
    }
}

fn last_name(path: &str) -> &str {
    base_name(path.trim_end_matches('/'))
}

/// Returns the absolute form of a path without a slash at its end. `None` if the text does not say where it is.
fn absolute(path: &str, folder: &Folder) -> Option<String> {
    let path = match path.strip_prefix('~') {
        Some(rest) => format!("/home/agent{}", rest.strip_prefix("agent").unwrap_or(rest)),
        None => path.to_owned(),
    };
    let path = if path.starts_with('/') {
        path
    } else {
        match folder {
            Folder::Known(folder) if folder.starts_with('/') => format!("{folder}/{path}"),
            Folder::Known(_) | Folder::Unknown => return None,
        }
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}
