//! Programs that speak with other computers themselves.

use super::{
    REACHES, SENDS,
    operands::{only_fetches, operands},
    requests,
};
use crate::policy::{
    commands::{Command, CommandInput},
    destination::{is_loopback, is_remote_path, is_url},
    options::Options,
};

const SSH_VALUES: [&str; 18] = [
    "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p", "-R",
    "-S", "-W",
];
const NETCAT_VALUES: [&str; 10] = ["-e", "-c", "-i", "-I", "-O", "-p", "-s", "-w", "-x", "-X"];

/// Returns the effect of such a program.
pub(super) fn effect(program: &str, command: &Command) -> Option<&'static str> {
    let arguments = command.arguments();
    match program {
        "curl" | "curlie" | "wget" | "wget2" | "http" | "https" | "xh" | "xhs" => {
            requests::sends(program, command).then_some(SENDS)
        }
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
        "nc" | "ncat" | "netcat" => connects(arguments).then_some(REACHES),
        "telnet" => {
            let host = Options::leading(arguments, &["-l", "-n", "-b", "-e", "-X", "-S"]);
            let host = host.operands.first();
            host.is_some_and(|host| !is_loopback(host))
                .then_some(REACHES)
        }
        "ftp" | "lftp" | "tftp" => exchanges_files(command).then_some(REACHES),
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

fn ssh(arguments: &[String]) -> bool {
    // The options behind the host are those of the command there.
    let read = Options::leading(arguments, &SSH_VALUES);
    let asks = read.has(&["-V", "-G", "-Q"]);
    let host = read.operands.first();
    !asks && host.is_some_and(|host| !is_loopback(host))
}

/// Returns true if a client of FTP is told to open another computer, by its arguments or by its input.
fn exchanges_files(command: &Command) -> bool {
    let read = Options::leading(command.arguments(), &["-c", "-e", "-f", "-u", "-p"]);
    if let Some(host) = read.operands.first() {
        return !is_loopback(host);
    }
    let has_input = command.input != CommandInput::Own || read.has(&["-f"]);
    let mut texts = read.values(&["-c", "-e"]);
    texts.extend(command.documents.iter().map(String::as_str));
    let words = || {
        let texts = texts.iter();
        texts.flat_map(|text| text.split([' ', ';', '\n']))
    };
    let is_local = words().any(is_loopback);
    let is_told = words().any(|word| word == "open" || is_url(word));
    has_input || is_told && !is_local
}

fn connects(arguments: &[String]) -> bool {
    let read = Options::read(arguments, &NETCAT_VALUES);
    let listens_or_looks = read.has(&["-l", "-z", "--listen"]);
    let host = read.operands.first();
    !listens_or_looks && host.is_some_and(|host| !is_loopback(host))
}

fn rclone(arguments: &[String]) -> bool {
    const COPIES: [&str; 4] = ["copy", "copyto", "sync", "copyurl"];
    const ACTS: [&str; 9] = [
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
    let operands = operands(arguments);
    let Some((verb, places)) = operands.split_first() else {
        return false;
    };
    if COPIES.contains(&verb.word) {
        return !only_fetches(places);
    }
    ACTS.contains(&verb.word) && places.iter().any(|place| is_remote_path(place.word))
}
