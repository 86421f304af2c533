//! Programs that run other commands: what stands in front of a command, and what is passed to an interpreter.

use super::{
    commands::{Command, base_name, name_of, split},
    fuel::Fuel,
    interpreters::{code_of, is_shell},
};

/// Words in front of a command that are not a program.
const RESERVED: [&str; 8] = ["then", "do", "else", "elif", "if", "while", "until", "!"];
/// Programs that run the command that follows them, with their options that have a value.
const WRAPPERS: [(&str, &str); 31] = [
    ("builtin", ""),
    ("bunx", "-p --package"),
    ("caffeinate", ""),
    ("chrt", ""),
    ("command", ""),
    ("dbus-run-session", ""),
    ("env", "-u -C --unset --chdir"),
    ("exec", "-a"),
    ("firejail", ""),
    ("flock", "-w -E"),
    ("ionice", "-c -n -p"),
    ("nice", "-n"),
    ("nohup", ""),
    ("npx", "-p --package"),
    ("parallel", "-j -I --jobs"),
    ("proxychains", "-f"),
    ("proxychains4", "-f"),
    ("setsid", ""),
    ("sshpass", "-p -f -d"),
    ("stdbuf", "-i -o -e"),
    ("strace", "-e -o -p"),
    ("taskset", ""),
    ("time", "-f -o --format --output"),
    ("timeout", "-k -s --kill-after --signal"),
    ("torsocks", ""),
    ("unbuffer", ""),
    ("uvx", "--from --with"),
    ("unshare", ""),
    ("watch", "-n -d"),
    (
        "xargs",
        "-I -n -P -L -d -s -a -E --max-args --max-procs --delimiter --arg-file",
    ),
    ("xvfb-run", "-s -n"),
];
/// Programs with a subcommand that runs what follows.
const RUNNERS: [(&str, &str); 15] = [
    ("bun", "x"),
    ("bundle", "exec"),
    ("hatch", "run"),
    ("npm", "exec"),
    ("npm", "x"),
    ("pdm", "run"),
    ("pipx", "run"),
    ("pnpm", "dlx"),
    ("pnpm", "exec"),
    ("poetry", "run"),
    ("rye", "run"),
    ("uv", "run"),
    ("uv", "tool run"),
    ("yarn", "dlx"),
    ("yarn", "exec"),
];
/// The options of runners that have a value.
const RUNNER_VALUES: [&str; 19] = [
    "-C",
    "-F",
    "-p",
    "-w",
    "--directory",
    "--dir",
    "--env-file",
    "--extra",
    "--filter",
    "--from",
    "--group",
    "--index-url",
    "--package",
    "--prefix",
    "--project",
    "--python",
    "--with",
    "--with-requirements",
    "--workspace",
];
/// Wrappers with a first argument of their own, such as the duration of `timeout`.
const WITH_ARGUMENT: [&str; 4] = ["chrt", "flock", "taskset", "timeout"];
/// The most wrappers around each other.
const MOST_WRAPPERS: usize = 16;

/// Returns the words behind the assignments and wrappers.
pub(super) fn behind_wrappers(words: &[String]) -> &[String] {
    let mut words = words;
    for _ in 0..MOST_WRAPPERS {
        let rest = behind_one(words);
        if rest.len() == words.len() {
            break;
        }
        words = rest;
    }
    words
}

/// Returns the words behind the first wrapper, or all of them if there is none.
fn behind_one(words: &[String]) -> &[String] {
    let Some((first, rest)) = words.split_first() else {
        return words;
    };
    let is_assignment = first.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    if is_assignment || RESERVED.contains(&&**first) {
        return rest;
    }
    let name = name_of(words);
    if name == "busybox" || name == "toybox" {
        return rest;
    }
    let mut runners = RUNNERS.iter().filter(|(program, _)| *program == name);
    if let Some(behind) = runners.find_map(|(_, subcommand)| behind_subcommand(rest, subcommand)) {
        return behind;
    }
    // `python3 -m twine upload`
    if name.starts_with("python")
        && let Some(place) = rest.iter().position(|word| word == "-m")
        && rest[..place].iter().all(|word| word.starts_with('-'))
    {
        return &rest[place + 1..];
    }
    let Some((_, with_value)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) else {
        return words;
    };
    // `command -v x` looks for a program, and `env -S` has a text, which is read elsewhere.
    let first_option = rest.first().map(String::as_str);
    if matches!((name, first_option), ("command", Some("-v" | "-V"))) {
        return words;
    }
    let rest = behind_options(rest, |option| {
        with_value.split(' ').any(|known| known == option)
    });
    let n_own = usize::from(WITH_ARGUMENT.contains(&name));
    rest.get(n_own..).unwrap_or_default()
}

/// Returns the words behind options, their values, and a `--`.
fn behind_options(words: &[String], has_value: impl Fn(&str) -> bool) -> &[String] {
    let mut at = 0;
    while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if has_value(option) { 2 } else { 1 };
        if option == "--" {
            break;
        }
    }
    words.get(at..).unwrap_or_default()
}

/// Returns the words behind the subcommand of a runner and its options: `uv run --with twine twine upload`.
fn behind_subcommand<'a>(words: &'a [String], subcommand: &str) -> Option<&'a [String]> {
    let has_value = |option: &str| RUNNER_VALUES.contains(&option);
    let mut rest = behind_options(words, has_value);
    for wanted in subcommand.split(' ') {
        let (first, behind) = rest.split_first()?;
        if first != wanted {
            return None;
        }
        rest = behind_options(behind, has_value);
    }
    Some(rest)
}

/// Returns the commands that these words pass to another program to run: `bash -c TEXT`, `eval TEXT`, `find -exec …`.
pub(super) fn passed_on(command: &Command, fuel: &Fuel) -> Vec<Command> {
    let split = |text: &str| split(text, fuel);
    let words = command.words();
    let arguments = words.get(1..).unwrap_or_default();
    let name = name_of(words);
    if is_shell(name)
        && let Some(text) = code_of(words)
    {
        return split(text);
    }
    match name {
        "eval" => split(&arguments.join(" ")),
        "find" | "fd" | "fdfind" => executed(arguments),
        "git" => split(&run_by_git(arguments)),
        "script" => after_option(arguments, 'c').map(split).unwrap_or_default(),
        "trap" => arguments
            .first()
            .map(|text| split(text))
            .unwrap_or_default(),
        "alias" => {
            let values = arguments.iter().filter_map(|word| word.split_once('='));
            values.flat_map(|(_, text)| split(text)).collect()
        }
        // These run a text with spaces in it as a command.
        "tmux" | "screen" | "entr" | "hyperfine" | "at" | "batch" => {
            let texts = arguments.iter().filter(|word| word.contains(' '));
            texts.flat_map(|text| split(text)).collect()
        }
        _ => texts_of_wrappers(command, fuel),
    }
}

/// Returns the commands in the texts that wrappers run: `env -S 'a b'`, `watch 'a | b'`.
fn texts_of_wrappers(command: &Command, fuel: &Fuel) -> Vec<Command> {
    let all = command.all_words();
    let wrapped = all.len() - command.words().len();
    let in_front = &all[..wrapped];
    let runs_texts =
        |word: &String| ["env", "watch", "parallel", "xvfb-run", "npx"].contains(&base_name(word));
    if !in_front.iter().any(runs_texts) {
        return Vec::new();
    }
    let texts = all.iter().filter(|word| word.contains(' '));
    texts
        .flat_map(|text| split(text.trim_start_matches("-S"), fuel))
        .collect()
}

/// Returns the text that Git runs in each submodule or for each commit.
fn run_by_git(arguments: &[String]) -> String {
    let mut words = arguments.iter();
    let runs = |word: &String| {
        matches!(&**word, "foreach" | "--exec" | "-x")
            || word == "run" && arguments.iter().any(|word| word == "bisect")
    };
    let is_runner = arguments
        .iter()
        .any(|word| matches!(&**word, "submodule" | "rebase" | "bisect"));
    if !is_runner || !words.any(runs) {
        return String::new();
    }
    let words = words.skip_while(|word| word.starts_with('-'));
    words.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Returns the word after the first short option with this letter at its end.
fn after_option(arguments: &[String], letter: char) -> Option<&str> {
    let is_option =
        |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with(letter);
    let place = arguments.iter().position(is_option)?;
    arguments.get(place + 1).map(String::as_str)
}

/// Returns the commands of `-exec` and its relatives.
fn executed(arguments: &[String]) -> Vec<Command> {
    const EXEC: [&str; 7] = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec"];
    let mut commands = Vec::new();
    let mut rest = arguments;
    while let Some(place) = rest.iter().position(|word| EXEC.contains(&&**word)) {
        rest = &rest[place + 1..];
        let end = rest.iter().position(|word| word == ";" || word == "+");
        let end = end.unwrap_or(rest.len());
        commands.push(Command::of_words(&rest[..end]));
        rest = &rest[end..];
    }
    commands
}
