//! Programs whose subcommands act outside of the sandbox: releases, code hosts, clouds.
//!
//! A tool that is mostly used inside is listed with what it does outside. Of a tool whose purpose is outside, everything
//! counts but what only looks.

mod lists;
mod storage;

use self::lists::{
    ACT_WORDS, ACTS, CLIENTS, KUBE_WORDS, LOOK_WORDS, LOOKS, OF_GOALS, OWN_WORDS, WEAK_LOOK_WORDS,
};
use super::{
    CHANGES, is_help,
    operands::{Operand, begin_with, operands},
};

/// Returns the effect of such a program.
pub(super) fn effect(program: &str, arguments: &[String]) -> Option<&'static str> {
    if asks_for_help(arguments) || only_tries(arguments) {
        return None;
    }
    let words = operands(arguments);
    let acts = match program {
        "git" => git(arguments),
        "aws" | "gsutil" => return storage::effect(program, &words),
        "gcloud" if begin_with(&words, "storage") => {
            return storage::effect(program, &words);
        }
        "gh" if begin_with(&words, "api") => api_of_github(arguments),
        "kubectl" | "oc" => {
            !words.is_empty() && !KUBE_WORDS.iter().any(|look| begin_with(&words, look))
        }
        _ => acts_by_list(program, arguments, &words),
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
    let is_none = |value: &str| matches!(value, "=none" | "=false");
    let mut before: &str = "";
    for word in arguments.iter().take_while(|word| *word != "--") {
        let is_trial = match word.strip_prefix("--dry-run") {
            Some(value) => value.is_empty() || value.starts_with('=') && !is_none(value),
            None => false,
        };
        let takes_it = before.starts_with('-') && !before.contains('=');
        if is_trial && (!takes_it || WITHOUT_VALUE.contains(&before)) {
            return true;
        }
        before = word;
    }
    false
}

fn acts_by_list(program: &str, arguments: &[String], words: &[Operand<'_>]) -> bool {
    if let Some((_, acts)) = ACTS.iter().find(|(name, _)| *name == program) {
        let words = without_target(program, words);
        let is_goal = |act: &&str| words.iter().any(|operand| is_goal(operand.word, act));
        let pushes = program == "docker" && arguments.iter().any(|word| word == "--push");
        return pushes
            || if OF_GOALS.contains(&program) {
                acts.iter().any(is_goal)
            } else {
                acts.iter().any(|act| begin_with(words, act))
            };
    }
    if CLIENTS.contains(&program) {
        // `vercel` alone deploys.
        return (program == "vercel" || !words.is_empty())
            && !client_looks(program, arguments, words);
    }
    match LOOKS.iter().find(|(name, _)| *name == program) {
        Some((_, looks)) => {
            let looks_by_option = arguments.iter().any(|word| looks.contains(&&**word));
            let first = words.first().map(|operand| operand.word);
            let is_look = first.is_some_and(|first| looks.contains(&first));
            let does_something = program == "surge" || !words.is_empty();
            does_something && !is_look && !(looks_by_option && looks[0].starts_with("--"))
        }
        None => false,
    }
}

/// Returns the operands behind those that only say for which toolchain or package a subcommand is.
fn without_target<'a, 'b>(program: &str, words: &'b [Operand<'a>]) -> &'b [Operand<'a>] {
    let at = |index: usize| words.get(index).map_or("", |operand| operand.word);
    let n_words = match (program, at(0), at(1)) {
        ("cargo", toolchain, _) if toolchain.starts_with('+') => 1,
        ("yarn", "workspace", _) | ("yarn", "workspaces", "foreach") => 2,
        ("pnpm", "recursive", _) => 1,
        _ => 0,
    };
    words.get(n_words..).unwrap_or_default()
}

/// Returns true if a word of a build tool is this goal, also that of a module or of one of several places:
/// `:lib:publish`, `publishAllPublicationsToCentral`.
fn is_goal(word: &str, act: &str) -> bool {
    let last = word.rsplit(':').next().unwrap_or(word);
    let is_remote = last.starts_with("publish") && !last.ends_with("ToMavenLocal");
    word == act || act == "publish" && is_remote
}

/// Returns true if a client of a service only looks. Of the words before the options, the first that says something
/// decides: `gh release view run` and `gcloud projects delete dev`.
fn client_looks(program: &str, arguments: &[String], words: &[Operand<'_>]) -> bool {
    let first = words.first().map(|operand| operand.word);
    if first.is_some_and(|first| OWN_WORDS.contains(&first)) {
        return true;
    }
    let place = arguments.iter().position(|word| Some(&**word) == first);
    let from_there = arguments
        .get(place.unwrap_or(arguments.len())..)
        .unwrap_or_default();
    let verbs = from_there.iter().take_while(|word| !word.starts_with('-'));
    let mut is_weak = false;
    for (index, verb) in verbs.enumerate() {
        // `gh run list`, `gcloud run services list`
        if index == 0 && verb == "run" && matches!(program, "gh" | "gcloud") {
            continue;
        }
        // `heroku config:get`, `gcloud projects get-iam-policy`
        let part = verb.rsplit(':').next().unwrap_or(verb);
        let is = |all: &[&str]| all.contains(&&**verb) || all.contains(&part);
        if is(&LOOK_WORDS) || part.starts_with("get-") || part.starts_with("list-") {
            return true;
        }
        if WEAK_LOOK_WORDS.contains(&&**verb) {
            is_weak = true;
        } else if is(&ACT_WORDS) {
            return false;
        }
    }
    is_weak
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
        "subtree" => rest.iter().find(|word| !word.starts_with('-')) == Some(&"push"),
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
