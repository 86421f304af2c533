//! Programs that speak with other computers themselves.

use super::{REACHES, SENDS};
use crate::policy::{
    commands::Command,
    destination::{is_loopback, is_remote_path},
    options::Options,
};

const CURL_VALUES: [&str; 38] = [
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
const WGET_VALUES: [&str; 13] = [
    "-O",
    "-o",
    "-P",
    "-U",
    "-T",
    "-t",
    "-i",
    "--post-data",
    "--post-file",
    "--body-data",
    "--body-file",
    "--method",
    "--header",
];
const SSH_VALUES: [&str; 18] = [
    "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p", "-R",
    "-S", "-W",
];
const NETCAT_VALUES: [&str; 10] = ["-e", "-c", "-i", "-I", "-O", "-p", "-s", "-w", "-x", "-X"];
/// Methods that change nothing.
const READS: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// Returns the effect of such a program.
pub(super) fn effect(program: &str, command: &Command) -> Option<&'static str> {
    let arguments = command.arguments();
    match program {
        "curl" | "curlie" => curl(arguments).then_some(SENDS),
        "wget" | "wget2" => wget(arguments).then_some(SENDS),
        "http" | "https" | "xh" | "xhs" => httpie(arguments).then_some(SENDS),
        "ssh" | "slogin" | "mosh" | "autossh" | "ssh-copy-id" | "sshfs" => {
            ssh(arguments).then_some(REACHES)
        }
        "scp" | "sftp" | "rsync" | "rcp" | "unison" => {
            let is_remote = |word: &String| !word.starts_with('-') && is_remote_path(word);
            let is_host = program == "sftp" && !arguments.is_empty();
            (is_host || arguments.iter().any(is_remote)).then_some(REACHES)
        }
        "mail" | "mailx" | "s-nail" | "mutt" | "neomutt" | "sendmail" | "msmtp" | "ssmtp"
        | "swaks" => (!arguments.is_empty()).then_some(REACHES),
        "nc" | "ncat" | "netcat" | "telnet" | "ftp" | "lftp" | "tftp" => {
            connects(arguments).then_some(REACHES)
        }
        "socat" => {
            let listens = |word: &String| {
                let kind = word
                    .split(':')
                    .next()
                    .unwrap_or_default()
                    .to_ascii_uppercase();
                let is_out = [
                    "TCP",
                    "TCP4",
                    "TCP6",
                    "UDP",
                    "OPENSSL",
                    "SSL",
                    "TCP-CONNECT",
                ]
                .contains(&&*kind);
                is_out
                    && word
                        .split_once(':')
                        .is_some_and(|(_, place)| !is_loopback(place))
            };
            arguments.iter().any(listens).then_some(REACHES)
        }
        "openssl" => {
            let is_client = arguments.first().is_some_and(|word| word == "s_client");
            (is_client && !arguments.iter().any(|word| is_loopback(word))).then_some(REACHES)
        }
        "ngrok" | "cloudflared" | "lt" | "localtunnel" | "bore" | "croc" | "wormhole"
        | "tailscale" => (!arguments.is_empty()).then_some(REACHES),
        "rclone" => rclone(arguments).then_some(SENDS),
        _ => None,
    }
}

fn curl(arguments: &[String]) -> bool {
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
    let urls = read.options.iter().filter(|(name, _)| name == "--url");
    let urls = urls
        .filter_map(|(_, value)| *value)
        .chain(read.operands.iter().copied());
    (sends || changes) && !are_local(urls)
}

/// Returns true if data for `curl` is the name of a file: `@file` or `name@file`.
fn names_file(data: &str) -> bool {
    let name = data.split('@').next().unwrap_or_default();
    data.contains('@') && !name.contains('=')
}

fn wget(arguments: &[String]) -> bool {
    let read = Options::read(arguments, &WGET_VALUES);
    let method = read.value(&["--method"]).map(str::to_ascii_uppercase);
    let changes = method.is_some_and(|method| !READS.contains(&&*method));
    let bodies = ["--post-data", "--post-file", "--body-data", "--body-file"];
    (read.has(&bodies) || changes) && !are_local(read.operands.iter().copied())
}

fn httpie(arguments: &[String]) -> bool {
    let read = Options::read(
        arguments,
        &["-a", "--auth", "-o", "--output", "--session", "--timeout"],
    );
    let (first, rest) = match read.operands.split_first() {
        Some((first, rest)) => (*first, rest),
        None => return false,
    };
    let is_method = !first.is_empty() && first.bytes().all(|b| b.is_ascii_uppercase());
    let (url, items) = if is_method {
        rest.split_first()
            .map_or(("", rest), |(url, items)| (*url, items))
    } else {
        (first, rest)
    };
    // Items with a value are the body; headers and parameters of the address are not.
    let is_body = |item: &&str| !item.contains("==") && (item.contains('=') || item.contains('@'));
    let sends = if is_method {
        !READS.contains(&first)
    } else {
        items.iter().any(is_body)
    };
    sends && !is_loopback(url) && !url.starts_with(':')
}

fn ssh(arguments: &[String]) -> bool {
    let read = Options::read(arguments, &SSH_VALUES);
    let asks = read.has(&["-V", "-G", "-Q"]);
    let host = read.operands.first();
    !asks && host.is_some_and(|host| !is_loopback(host))
}

fn connects(arguments: &[String]) -> bool {
    let read = Options::read(arguments, &NETCAT_VALUES);
    let listens_or_looks = read.has(&["-l", "-z", "--listen"]);
    let host = read.operands.first();
    !listens_or_looks && host.is_some_and(|host| !is_loopback(host))
}

fn rclone(arguments: &[String]) -> bool {
    const ACTS: [&str; 12] = [
        "copy",
        "copyto",
        "sync",
        "bisync",
        "move",
        "moveto",
        "delete",
        "deletefile",
        "purge",
        "rmdir",
        "rcat",
        "link",
    ];
    let read = Options::read(arguments, &[]);
    let (verb, places) = match read.operands.split_first() {
        Some((verb, places)) => (*verb, places),
        None => return false,
    };
    let is_outside = |place: &&str| is_remote_path(place);
    ACTS.contains(&verb) && places.last().is_some_and(is_outside)
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
