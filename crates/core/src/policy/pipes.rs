//! Texts that a command writes into the pipe to the next one.

use super::commands::{Command, CommandInput};

/// The longest text that `printf` makes of its arguments, in bytes.
const LONGEST_TEXT: usize = 65_536;

/// Returns the text that a command reads from a pipe, if the commands in front of it show that.
pub(super) fn piped_text(command: &Command, earlier: &[Command]) -> Option<String> {
    if !matches!(
        command.input,
        CommandInput::Piped | CommandInput::PipedFromGroup
    ) {
        return None;
    }
    // `tee` passes on what it reads.
    let passes = |source: &&Command| {
        matches!(source.program(), "cat" | "tee")
            && source.documents.is_empty()
            && source.input == CommandInput::Piped
    };
    let source = earlier.iter().rev().find(|source| !passes(source))?;
    let arguments = source.arguments();
    match source.program() {
        "echo" => Some(echoed(arguments)),
        "printf" => Some(printed(arguments)),
        "cat" | "tee" => Some(source.documents.join("\n")),
        _ => None,
    }
}

fn echoed(arguments: &[String]) -> String {
    let is_option = |word: &&String| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.bytes().all(|b| b"neE".contains(&b))
    };
    let n_options = arguments.iter().take_while(is_option).count();
    let (options, texts) = arguments.split_at(n_options);
    let text = texts.join(" ");
    if options.iter().any(|option| option.contains('e')) {
        unescaped(&text)
    } else {
        text
    }
}

/// Returns the text that `printf` writes. Its format is used again while arguments are left.
fn printed(arguments: &[String]) -> String {
    let skips = usize::from(arguments.first().is_some_and(|word| word == "--"));
    let Some((format, values)) = arguments.get(skips..).and_then(<[String]>::split_first) else {
        return String::new();
    };
    let format = unescaped(format);
    let mut values = values.iter();
    let mut text = String::new();
    loop {
        let n_before = values.len();
        let mut parts = format.split('%');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let place = part.find(|c: char| c.is_ascii_alphabetic() || c == '%');
            let (value, rest) = match place {
                Some(place) => (values.next(), &part[place + 1..]),
                None => (None, part),
            };
            text.push_str(value.map_or("", String::as_str));
            text.push_str(rest);
        }
        let is_done = values.len() == 0 || values.len() == n_before;
        if is_done || text.len() > LONGEST_TEXT {
            return text;
        }
    }
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t")
}
