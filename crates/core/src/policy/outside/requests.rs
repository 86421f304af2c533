//! Requests to web servers.

use crate::policy::{
    commands::{Command, CommandInput},
    destination::is_loopback,
    options::Options,
};

const CURL_VALUES: [&str; 41] = [
    "-A",
    "-b",
    "-c",
    "-C",
    "-d",
    "-D",
    "-e",
    "-E",
    "-F",
    "-H",
    "-K",
    "-m",
    "-o",
    "-P",
    "-Q",
    "-r",
    "-t",
    "-T",
    "-u",
    "-U",
    "-w",
    "-x",
    "-X",
    "-y",
    "-Y",
    "-z",
    "--config",
    "--url-query",
    "--user-agent",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--data-ascii",
    "--form",
    "--json",
    "--request",
    "--upload-file",
    "--url",
    "--output",
    "--header",
];
const WGET_VALUES: [&str; 14] = [
    "-O",
    "-o",
    "-P",
    "-U",
    "-T",
    "-t",
    "-i",
    "--output-document",
    "--post-data",
    "--post-file",
    "--body-data",
    "--body-file",
    "--method",
    "--header",
];
/// Methods that change nothing.
const READS: [&str; 3] = ["GET", "HEAD", "OPTIONS"];
/// Programs that print files, with the operands in front of these.
const PRINTS: [(&str, usize); 18] = [
    ("cat", 0),
    ("base64", 0),
    ("base32", 0),
    ("xxd", 0),
    ("od", 0),
    ("head", 0),
    ("tail", 0),
    ("tac", 0),
    ("gzip", 0),
    ("strings", 0),
    ("sort", 0),
    ("paste", 0),
    ("tar", 0),
    ("sed", 1),
    ("awk", 1),
    ("grep", 1),
    ("jq", 1),
    ("cut", 0),
];

/// Returns true if a program for requests sends something to another computer.
pub(super) fn sends(program: &str, command: &Command) -> bool {
    let arguments = command.arguments();
    match program {
        "curl" | "curlie" => curl(arguments, prints_file(command)),
        "wget" | "wget2" => wget(arguments, prints_file(command)),
        _ => httpie(command),
    }
}

/// Returns true if a substitution in a command stands for what is in a file.
fn prints_file(command: &Command) -> bool {
    let mut inner = command.inner.iter().flat_map(Command::with_inner);
    inner.any(|one| {
        // `$(<file)`
        if one.words().is_empty() {
            return one.input == CommandInput::File;
        }
        let printer = PRINTS.iter().find(|(name, _)| *name == one.program());
        let operands = one.arguments().iter().filter(|word| !word.starts_with('-'));
        // `-w0` and its like leave no operand behind.
        let is_number = |word: &&String| word.bytes().all(|b| b.is_ascii_digit());
        let n_operands = operands.filter(|word| !is_number(word)).count();
        printer
            .is_some_and(|(_, n_before)| n_operands > *n_before || one.input == CommandInput::File)
    })
}

fn curl(arguments: &[String], prints_file: bool) -> bool {
    let read = Options::read(arguments, &CURL_VALUES);
    let method = read
        .value(&["-X", "--request"])
        .map(str::to_ascii_uppercase);
    let is_body = |name: &str| {
        matches!(
            name,
            "-d" | "-F" | "-T" | "--form" | "--form-string" | "--json" | "--upload-file"
        ) || name.starts_with("--data")
    };
    let mut bodies = read.options.iter().filter(|(name, _)| is_body(name));
    let sends = if read.has(&["-G", "--get"]) {
        // What a file contains is sent in the address.
        bodies.any(|(_, value)| value.is_some_and(names_file))
    } else {
        bodies.next().is_some()
    };
    let changes = method.is_some_and(|method| !READS.contains(&&*method));
    // The body may be in the file with further arguments.
    let is_unknown = read.has(&["-K", "--config"]);
    let mut queries = read.values(&["--url-query"]).into_iter();
    let asks_with_file = prints_file || queries.any(names_file);
    let mut urls = read.values(&["--url"]);
    urls.extend(&read.operands);
    (sends || changes || is_unknown || asks_with_file) && !are_local(urls.into_iter())
}

/// Returns true if data for `curl` is the name of a file: `@file` or `name@file`.
fn names_file(data: &str) -> bool {
    let name = data.split('@').next().unwrap_or_default();
    data.contains('@') && !name.contains('=')
}

fn wget(arguments: &[String], prints_file: bool) -> bool {
    let read = Options::read(arguments, &WGET_VALUES);
    let method = read.value(&["--method"]).map(str::to_ascii_uppercase);
    let changes = method.is_some_and(|method| !READS.contains(&&*method));
    let bodies = ["--post-data", "--post-file", "--body-data", "--body-file"];
    let sends = read.has(&bodies) || changes || prints_file;
    sends && !are_local(read.operands.iter().copied())
}

fn httpie(command: &Command) -> bool {
    const WITH_VALUE: [&str; 6] = ["-a", "--auth", "-o", "--output", "--session", "--timeout"];
    let read = Options::read(command.arguments(), &WITH_VALUE);
    let (first, rest) = match read.operands.split_first() {
        Some((first, rest)) => (*first, rest),
        None => return false,
    };
    let is_word = !first.is_empty() && first.bytes().all(|b| b.is_ascii_alphabetic());
    let is_method = is_word && !rest.is_empty() && !is_loopback(first);
    let (url, items) = if is_method {
        rest.split_first()
            .map_or(("", rest), |(url, items)| (*url, items))
    } else {
        (first, rest)
    };
    // Items with a value are the body; headers and parameters of the address are not.
    let is_body = |item: &&str| !item.contains("==") && (item.contains('=') || item.contains('@'));
    let reads_input = command.input != CommandInput::Own
        && !command.is_behind("xargs")
        && !read.has(&["-I", "--ignore-stdin"]);
    let sends = if is_method {
        !READS.contains(&&*first.to_ascii_uppercase())
    } else {
        reads_input || !command.documents.is_empty() || items.iter().any(is_body)
    };
    sends && !is_loopback(url) && !url.starts_with(':')
}

/// Returns the names of the files into which a program writes what it fetches.
pub(in crate::policy) fn output_files<'a>(program: &str, arguments: &'a [String]) -> Vec<&'a str> {
    let with_value: &[&str] = match program {
        "curl" | "curlie" => &CURL_VALUES,
        "wget" | "wget2" => &WGET_VALUES,
        _ => &["-o", "--output"],
    };
    let read = Options::read(arguments, with_value);
    let is_output = |name: &str| {
        matches!(name, "-o" | "--output" | "--output-document") || name == "-O" && program != "curl"
    };
    let options = read.options.iter().filter(|(name, _)| is_output(name));
    options.filter_map(|(_, value)| *value).collect()
}

/// Returns true if there are places, and all of them are this computer.
fn are_local<'a>(places: impl Iterator<Item = &'a str>) -> bool {
    let mut n_places = 0;
    let mut all = true;
    for place in places {
        n_places += 1;
        all &= is_loopback(place);
    }
    n_places > 0 && all
}
