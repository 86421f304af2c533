//! Interpreters, and the programs that they are given as text.

use super::commands::name_of;

const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash"];
/// The options of a shell that have a value.
const SHELL_VALUES: [&str; 6] = ["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];

/// An interpreter that is no shell.
struct Interpreter {
    name: &'static str,
    /// The short options whose value is the program.
    letters: &'static str,
    /// The long ones, or the subcommand.
    words: &'static [&'static str],
    /// Other options with a value.
    with_value: &'static [&'static str],
}

const INTERPRETERS: [Interpreter; 9] = [
    Interpreter {
        name: "python",
        letters: "c",
        words: &[],
        with_value: &["-W", "-X", "-m"],
    },
    Interpreter {
        name: "perl",
        letters: "eE",
        words: &[],
        with_value: &["-I"],
    },
    Interpreter {
        name: "node",
        letters: "ep",
        words: &["--eval", "--print"],
        with_value: &["-r", "--require", "--import", "--loader"],
    },
    Interpreter {
        name: "bun",
        letters: "ep",
        words: &["--eval", "--print"],
        with_value: &[],
    },
    Interpreter {
        name: "ruby",
        letters: "e",
        words: &[],
        with_value: &["-I", "-r"],
    },
    Interpreter {
        name: "php",
        letters: "r",
        words: &["--run"],
        with_value: &["-d", "-c"],
    },
    Interpreter {
        name: "lua",
        letters: "e",
        words: &[],
        with_value: &["-l"],
    },
    Interpreter {
        name: "Rscript",
        letters: "e",
        words: &[],
        with_value: &[],
    },
    Interpreter {
        name: "deno",
        letters: "",
        words: &["eval"],
        with_value: &[],
    },
];

pub(super) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Returns true if a program runs a program that it is given as text.
pub(super) fn is_interpreter(program: &str) -> bool {
    is_shell(program) || interpreter(program).is_some()
}

fn interpreter(program: &str) -> Option<&'static Interpreter> {
    // `python3.12` is `python`.
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_python = program.starts_with("python");
    let mut all = INTERPRETERS.iter();
    all.find(|one| one.name == program || is_python && one.name == plain)
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
    if is_shell(name) {
        return code_after(arguments, "c", &[], &SHELL_VALUES);
    }
    let one = interpreter(name)?;
    code_after(arguments, one.letters, one.words, one.with_value)
}

/// Returns the program that one of these options has. They stand before the first operand.
fn code_after<'a>(
    arguments: &'a [String],
    letters: &str,
    words: &[&str],
    with_value: &[&str],
) -> Option<&'a str> {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        at += 1;
        let next = || {
            let mut rest = arguments.get(at..).unwrap_or_default().iter();
            rest.find(|word| !word.starts_with('-')).map(String::as_str)
        };
        if words.contains(&&**word) {
            return next();
        }
        if let Some((option, code)) = word.split_once('=')
            && words.contains(&option)
        {
            return Some(code);
        }
        let is_cluster = word.starts_with('-') && !word.starts_with("--");
        let place = word.find(|c: char| letters.contains(c));
        // `-euo pipefail`
        let last = word.chars().last().map(|letter| format!("-{letter}"));
        let has_value = last.is_some_and(|last| with_value.contains(&&*last));
        if with_value.contains(&&**word) || is_cluster && place.is_none() && has_value {
            at += 1;
        } else if is_cluster {
            let Some(place) = place else {
                continue;
            };
            let attached = &word[place + 1..];
            // `-e'CODE'`; but `-ce` and `-pie` are several options.
            let is_code = place == 1 && !attached.bytes().all(|b| b.is_ascii_alphanumeric());
            return if is_code { Some(attached) } else { next() };
        } else if !word.starts_with(['-', '+']) {
            return None;
        }
    }
    None
}
