//! Programs that run other commands: what stands in front of a command, and what is passed to an interpreter.

use super::{
    commands::{Command, name_of, split},
    fuel::Fuel,
};

/// Words in front of a command that are not a program.
const RESERVED: [&str; 9] = [
    "then", "do", "else", "elif", "if", "while", "until", "!", "time",
];
/// Programs that run the command that follows them, with their options that have a value.
const WRAPPERS: [(&str, &str); 30] = [
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
const RUNNERS: [(&str, &str); 8] = [
    ("bundle", "exec"),
    ("npm", "exec"),
    ("pipx", "run"),
    ("pnpm", "dlx"),
    ("pnpm", "exec"),
    ("poetry", "run"),
    ("uv", "run"),
    ("yarn", "dlx"),
];
/// Wrappers with a first argument of their own, such as the duration of `timeout`.
const WITH_ARGUMENT: [&str; 4] = ["chrt", "flock", "taskset", "timeout"];
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash"];
/// Interpreters, with the options whose value is their program.
const INTERPRETERS: [(&str, &[&str]); 8] = [
    ("python", &["-c"]),
    ("python2", &["-c"]),
    ("python3", &["-c"]),
    (
        "perl",
        &["-e", "-E", "-ne", "-pe", "-lne", "-lpe", "-pie", "-nle"],
    ),
    ("node", &["-e", "-p", "--eval", "--print"]),
    ("ruby", &["-e", "-ne", "-pe"]),
    ("php", &["-r"]),
    ("deno", &["eval"]),
];
/// The most wrappers around each other.
const MOST_WRAPPERS: usize = 16;

pub(super) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Returns the options of an interpreter whose value is its program.
fn code_options(program: &str) -> Option<&'static [&'static str]> {
    // `python3.12` is `python3`.
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let of = |name: &str| {
        let mut all = INTERPRETERS.iter();
        all.find(|(known, _)| *known == name)
            .map(|(_, options)| *options)
    };
    of(program).or_else(|| of(plain).filter(|_| program.starts_with("python")))
}

/// Returns true if a program runs a program that it is given as text.
pub(super) fn is_interpreter(program: &str) -> bool {
    is_shell(program) || code_options(program).is_some()
}

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
    let runs = |(program, subcommand): &(&str, &str)| {
        name == *program && rest.first().is_some_and(|word| word == subcommand)
    };
    if RUNNERS.iter().any(runs) {
        return rest.get(1..).unwrap_or_default();
    }
    let Some((_, with_value)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) else {
        return words;
    };
    // `command -v x` looks for a program, and `env -S` has a text, which is read elsewhere.
    let first_option = rest.first().map(String::as_str);
    if matches!((name, first_option), ("command", Some("-v" | "-V"))) {
        return words;
    }
    let mut at = 0;
    while let Some(option) = rest.get(at).filter(|word| word.starts_with('-')) {
        let has_value = with_value.split(' ').any(|known| known == option);
        at += if has_value { 2 } else { 1 };
        if option == "--" {
            break;
        }
    }
    at += usize::from(WITH_ARGUMENT.contains(&name));
    rest.get(at..).unwrap_or_default()
}

/// Returns true if the words run a script from the standard input.
pub(super) fn reads_script(words: &[String]) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    if code_of(words).is_some() {
        return false;
    }
    let mut operands = arguments
        .iter()
        .filter(|word| !word.starts_with('-') || *word == "-");
    match operands.next() {
        None => !arguments
            .iter()
            .any(|word| word == "-m" || word == "--version" || word == "-V"),
        Some(first) => {
            let stands_for_input = first == "-" || first == "/dev/stdin";
            // `sh -s -- -y` passes arguments to what it reads.
            let has_s = arguments
                .iter()
                .take_while(|word| *word != first)
                .any(|word| {
                    word.starts_with('-') && !word.starts_with("--") && word.ends_with('s')
                });
            stands_for_input || (is_shell(name_of(words)) && has_s)
        }
    }
}

/// Returns the program that an interpreter is given in its arguments.
pub(super) fn code_of(words: &[String]) -> Option<&str> {
    let name = name_of(words);
    let arguments = words.get(1..).unwrap_or_default();
    let options = code_options(name);
    let is_code_option = |word: &String| match options {
        Some(options) => options.contains(&&**word),
        None => {
            is_shell(name)
                && word.starts_with('-')
                && !word.starts_with("--")
                && word.ends_with('c')
        }
    };
    let place = arguments.iter().position(is_code_option)?;
    arguments.get(place + 1).map(String::as_str)
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
        "script" => after_option(arguments, 'c')
            .map(split)
            .unwrap_or_default(),
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
    let runs_texts = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or(word);
        ["env", "watch", "parallel", "xvfb-run"].contains(&name)
    };
    if !in_front.iter().any(runs_texts) {
        return Vec::new();
    }
    let texts = all.iter().filter(|word| word.contains(' '));
    texts
        .flat_map(|text| split(text.trim_start_matches("-S"), fuel))
        .collect()
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
