//! Programs whose subcommands act outside of the sandbox: releases, code hosts, clouds.
//!
//! A tool that is mostly used inside is listed with what it does outside. A tool whose purpose is outside is listed with
//! what only looks; everything else that it does counts.

use super::{CHANGES, SENDS, is_help};
use crate::policy::destination::is_remote_path;

/// Programs with the subcommands that act outside.
const ACTS: [(&str, &[&str]); 26] = [
    (
        "npm",
        &[
            "publish",
            "unpublish",
            "deprecate",
            "dist-tag",
            "owner",
            "access",
            "login",
            "star",
        ],
    ),
    ("pnpm", &["publish", "unpublish", "deprecate", "login"]),
    ("yarn", &["publish", "npm publish", "npm tag", "login"]),
    ("bun", &["publish"]),
    ("deno", &["publish", "deploy"]),
    ("cargo", &["publish", "yank", "owner", "login"]),
    ("twine", &["upload", "register"]),
    ("poetry", &["publish"]),
    ("uv", &["publish"]),
    ("flit", &["publish"]),
    ("hatch", &["publish"]),
    ("gem", &["push", "yank", "owner"]),
    ("mvn", &["deploy", "release:perform"]),
    ("gradle", &["publish"]),
    ("gradlew", &["publish"]),
    ("dotnet", &["nuget push", "nuget delete"]),
    (
        "docker",
        &[
            "push",
            "login",
            "image push",
            "compose push",
            "manifest push",
        ],
    ),
    ("podman", &["push", "login", "image push", "manifest push"]),
    ("buildah", &["push", "login"]),
    ("skopeo", &["copy", "sync", "delete", "login"]),
    ("crane", &["push", "copy", "delete", "tag"]),
    (
        "helm",
        &[
            "install",
            "upgrade",
            "uninstall",
            "rollback",
            "push",
            "delete",
        ],
    ),
    (
        "terraform",
        &["apply", "destroy", "import", "taint", "untaint", "state"],
    ),
    (
        "tofu",
        &["apply", "destroy", "import", "taint", "untaint", "state"],
    ),
    (
        "pulumi",
        &["up", "update", "destroy", "import", "cancel", "refresh"],
    ),
    ("hg", &["push"]),
];

/// Programs that act outside, with the words that only look.
const LOOKS: [(&str, &[&str]); 27] = [
    ("gh", LOOK_WORDS),
    ("glab", LOOK_WORDS),
    ("hub", LOOK_WORDS),
    ("kubectl", KUBE_WORDS),
    ("oc", KUBE_WORDS),
    ("gcloud", LOOK_WORDS),
    ("az", LOOK_WORDS),
    ("doctl", LOOK_WORDS),
    ("oci", LOOK_WORDS),
    ("ibmcloud", LOOK_WORDS),
    ("hcloud", LOOK_WORDS),
    ("linode-cli", LOOK_WORDS),
    ("vercel", LOOK_WORDS),
    ("netlify", LOOK_WORDS),
    ("fly", LOOK_WORDS),
    ("flyctl", LOOK_WORDS),
    ("heroku", LOOK_WORDS),
    ("firebase", LOOK_WORDS),
    ("wrangler", LOOK_WORDS),
    ("railway", LOOK_WORDS),
    ("cdk", LOOK_WORDS),
    ("serverless", LOOK_WORDS),
    ("surge", LOOK_WORDS),
    ("stripe", LOOK_WORDS),
    ("ansible", &["--check", "--list-hosts"]),
    (
        "ansible-playbook",
        &["--check", "--syntax-check", "--list-tasks", "--list-hosts"],
    ),
    ("s3cmd", &["ls", "info", "du", "get"]),
];
const LOOK_WORDS: &[&str] = &[
    "list",
    "ls",
    "view",
    "show",
    "status",
    "describe",
    "get",
    "diff",
    "checks",
    "checkout",
    "clone",
    "download",
    "watch",
    "search",
    "browse",
    "help",
    "version",
    "completion",
    "config",
    "alias",
    "info",
    "logs",
    "log",
    "whoami",
    "dev",
    "build",
    "synth",
    "init",
    "emulators:start",
    "serve",
    "token",
    "account",
    "ps",
];
const KUBE_WORDS: &[&str] = &[
    "get",
    "describe",
    "logs",
    "explain",
    "version",
    "config",
    "api-resources",
    "api-versions",
    "cluster-info",
    "top",
    "diff",
    "auth",
    "wait",
    "completion",
    "options",
    "help",
    "kustomize",
    "port-forward",
];

/// Returns the effect of such a program.
pub(super) fn effect(program: &str, arguments: &[String]) -> Option<&'static str> {
    if asks_for_help(arguments) || only_tries(arguments) {
        return None;
    }
    let acts = match program {
        "git" => git(arguments),
        "aws" | "gsutil" => return storage(program, arguments),
        "gh" if operands(arguments).first() == Some(&"api") => api_of_github(arguments),
        _ => acts_by_list(program, arguments),
    };
    acts.then_some(CHANGES)
}

/// Returns true if a program only prints its help. Behind an option the word may be a value, and behind `--` it is for
/// another program.
fn asks_for_help(arguments: &[String]) -> bool {
    let mut words = arguments
        .iter()
        .take_while(|word| !word.starts_with('-') || is_help(word));
    words.any(|word| is_help(word))
}

/// Returns true if a program only says what it would do. Behind an option that may have a value the word counts for
/// nothing, and behind `--` it is for another program.
fn only_tries(arguments: &[String]) -> bool {
    const WITHOUT_VALUE: [&str; 12] = [
        "-f",
        "--force",
        "--force-with-lease",
        "-q",
        "--quiet",
        "-v",
        "--verbose",
        "-u",
        "--all",
        "--tags",
        "--prune",
        "--install",
    ];
    let mut before: &str = "";
    for word in arguments.iter().take_while(|word| *word != "--") {
        let is_trial = word == "--dry-run" || word.starts_with("--dry-run=");
        let takes_it = before.starts_with('-') && !before.contains('=');
        if is_trial && (!takes_it || WITHOUT_VALUE.contains(&before)) {
            return true;
        }
        before = word;
    }
    false
}

fn acts_by_list(program: &str, arguments: &[String]) -> bool {
    let operands = operands(arguments);
    if let Some((_, acts)) = ACTS.iter().find(|(name, _)| *name == program) {
        let (first, two) = (operands.first().copied(), operands.get(..2));
        let two = two.map(|two| two.join(" "));
        let pushes = program == "docker" && arguments.iter().any(|word| word == "--push");
        return pushes
            || acts
                .iter()
                .any(|act| Some(*act) == first || two.as_deref() == Some(*act));
    }
    match LOOKS.iter().find(|(name, _)| *name == program) {
        Some((_, looks)) => {
            // The verb stands before the options: `pr list`, `compute instances list`.
            let first_operand = arguments
                .iter()
                .position(|word| Some(&**word) == operands.first().copied());
            let from_there = &arguments[first_operand.unwrap_or(arguments.len())..];
            let verbs = from_there.iter().take_while(|word| !word.starts_with('-'));
            let options = arguments.iter().filter(|word| word.starts_with("--"));
            let acts_alone = matches!(program, "vercel" | "surge");
            (acts_alone || !operands.is_empty())
                && !verbs.chain(options).any(|word| looks.contains(&&**word))
        }
        None => false,
    }
}

/// Returns the words that are no options, and not the values of those that commonly stand in front.
fn operands(arguments: &[String]) -> Vec<&str> {
    const WITH_VALUE: [&str; 12] = [
        "-n",
        "--namespace",
        "--context",
        "--kubeconfig",
        "-R",
        "--repo",
        "--profile",
        "--region",
        "--project",
        "-C",
        "--cwd",
        "--prefix",
    ];
    let mut found = Vec::new();
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            found.push(word);
        }
    }
    found
}

fn git(arguments: &[String]) -> bool {
    const WITH_VALUE: [&str; 6] = [
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
    ];
    let mut words = arguments.iter().map(String::as_str);
    let verb = loop {
        match words.next() {
            Some(word) if WITH_VALUE.contains(&word) => {
                words.next();
            }
            Some(word) if word.starts_with('-') => {}
            Some(word) => break word,
            None => return false,
        }
    };
    let rest: Vec<&str> = words.collect();
    match verb {
        "push" => {
            let remote = rest.iter().find(|word| !word.starts_with('-'));
            let is_local = |remote: &&&str| {
                ["/", "./", "../", "~", "file://"]
                    .iter()
                    .any(|start| remote.starts_with(start))
            };
            !rest.contains(&"-n") && !remote.is_some_and(|remote| is_local(&remote))
        }
        "send-email" | "imap-send" | "request-pull" => true,
        "lfs" | "svn" | "p4" => rest
            .first()
            .is_some_and(|word| ["push", "dcommit", "submit", "lock", "unlock"].contains(word)),
        _ => false,
    }
}

/// Returns true if a request to the API of GitHub changes something.
fn api_of_github(arguments: &[String]) -> bool {
    let mut words = arguments.iter();
    let mut method = None;
    let mut has_body = false;
    while let Some(word) = words.next() {
        match &**word {
            "-X" | "--method" => method = words.next().map(String::as_str),
            "-f" | "-F" | "--field" | "--raw-field" | "--input" => has_body = true,
            word => {
                if let Some(given) = word
                    .strip_prefix("-X")
                    .or_else(|| word.strip_prefix("--method="))
                {
                    method = Some(given);
                }
            }
        }
    }
    match method {
        Some(method) => !method.eq_ignore_ascii_case("get"),
        None => has_body,
    }
}

/// Returns the effect of `aws` or `gsutil`: copies from a bucket only look.
fn storage(program: &str, arguments: &[String]) -> Option<&'static str> {
    const LOOKS: [&str; 9] = [
        "describe-",
        "list-",
        "get-",
        "head-",
        "search-",
        "lookup-",
        "batch-get-",
        "filter-",
        "scan-",
    ];
    let operands = operands(arguments);
    let (verb, places) = match (program, &operands[..]) {
        ("aws", ["help" | "configure" | "sso", ..] | [] | [_]) | (_, []) => return None,
        ("aws", [_, verb, places @ ..]) => (*verb, places),
        (_, [verb, places @ ..]) => (*verb, places),
    };
    let only_looks = LOOKS.iter().any(|look| verb.starts_with(look))
        || [
            "ls", "wait", "help", "tail", "stat", "cat", "du", "hash", "version", "presign",
            "scan", "query",
        ]
        .contains(&verb);
    if only_looks {
        return None;
    }
    match verb {
        "cp" | "sync" | "rsync" => places
            .last()
            .is_some_and(|place| is_remote_path(place))
            .then_some(SENDS),
        _ => Some(CHANGES),
    }
}
