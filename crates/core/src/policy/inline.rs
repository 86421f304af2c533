//! Programs in the arguments of interpreters, such as `python3 -c '…'`.

use super::{
    Reach,
    destination::{is_loopback, is_url},
    risky::Judge,
};

/// Names by which programs send something to another computer.
const SENDS: [&str; 25] = [
    "requests.post",
    "requests.put",
    "requests.patch",
    "requests.delete",
    "httpx.post",
    "httpx.put",
    "httpx.patch",
    "httpx.delete",
    "session.post",
    "urlopen",
    "http.client",
    "smtplib",
    "paramiko",
    "ftplib",
    "socket.socket",
    "socket.create_connection",
    "net.connect",
    "net/smtp",
    "LWP::UserAgent",
    "IO::Socket",
    "Net::SMTP",
    "Net::HTTP",
    "axios.post",
    "axios.put",
    "XMLHttpRequest",
];
/// Names that fetch, unless a method or data is given with them.
const FETCH: [&str; 3] = ["fetch(", "urlopen", "Net::HTTP"];
/// Names by which programs run commands.
const RUNS: [&str; 9] = [
    "system",
    "popen",
    "Popen",
    "subprocess",
    "spawn",
    "execSync",
    "exec(",
    "qx",
    "shell_exec",
];
const DECODES: [&str; 5] = ["b64decode", "base64", "atob", "fromhex", "decode_base64"];

/// Returns the risk of a program, as the end of "… a command that …".
pub(super) fn risk(code: &str, judge: &mut Judge) -> Option<&'static str> {
    let texts = literals(code);
    let names = |all: &[&str]| all.iter().any(|name| code.contains(name));
    if names(&RUNS) || code.contains('`') {
        let found = texts.iter().find_map(|text| judge.text(text));
        // `subprocess.run(["git", "push"])`
        let found = found.or_else(|| judge.text(&texts.join(" ")));
        if found.is_some() {
            return found;
        }
    }
    let urls: Vec<&String> = texts.iter().filter(|text| is_url(text)).collect();
    let is_local = !urls.is_empty() && urls.iter().all(|url| is_loopback(url))
        || texts.iter().any(|text| is_loopback(text)) && urls.is_empty();
    let has_data = ["method", "data=", "POST", "PUT", "PATCH", "DELETE"]
        .iter()
        .any(|word| code.contains(word));
    let only_fetches = names(&FETCH)
        && !has_data
        && !SENDS
            .iter()
            .any(|name| code.contains(name) && !FETCH.contains(name));
    let sends = names(&SENDS) && !only_fetches
        || names(&["fetch(", ".request("]) && has_data
        || sends_by_library(code);
    if sends && !is_local {
        return Some("sends data over the network");
    }
    if judge.reach == Reach::Connected && names(&["exec(", "eval(", "eval "]) && names(&DECODES) {
        return Some("hides what it runs");
    }
    None
}

/// Returns true if a program sends something with a library for requests, by whatever name it calls its session.
fn sends_by_library(code: &str) -> bool {
    const LIBRARIES: [&str; 8] = [
        "requests",
        "httpx",
        "aiohttp",
        "urllib3",
        "axios",
        "superagent",
        "node-fetch",
        "Faraday",
    ];
    const METHODS: [&str; 4] = [".post(", ".put(", ".patch(", ".delete("];
    const CHANGES: [&str; 8] = [
        ".upload_",
        ".put_",
        ".delete_",
        ".create_",
        ".send_",
        ".copy_",
        ".terminate_",
        ".publish(",
    ];
    let has = |all: &[&str]| all.iter().any(|name| code.contains(name));
    has(&LIBRARIES) && has(&METHODS) || code.contains("boto3") && has(&CHANGES)
}

/// Returns the texts in quotes. A plain text ends with its line, so that an apostrophe in a comment quotes no more than
/// that.
fn literals(code: &str) -> Vec<String> {
    let chars: Vec<char> = code.chars().collect();
    let mut texts = Vec::new();
    let mut at = 0;
    while let Some(&quote) = chars.get(at) {
        at += 1;
        if !matches!(quote, '\'' | '"' | '`') {
            continue;
        }
        let follows = |at: usize, n: usize| {
            let next = chars.get(at..at + n);
            next.is_some_and(|next| next.iter().all(|c| *c == quote))
        };
        let is_triple = quote != '`' && follows(at, 2);
        at += if is_triple { 2 } else { 0 };
        let mut text = String::new();
        while let Some(&c) = chars.get(at) {
            let is_end = c == quote && (!is_triple || follows(at, 3));
            at += if is_end && is_triple { 3 } else { 1 };
            match c {
                _ if is_end => break,
                '\n' if !is_triple && quote != '`' => break,
                '\\' => {
                    text.extend(chars.get(at));
                    at += 1;
                }
                c => text.push(c),
            }
        }
        texts.push(text);
    }
    texts
}
