//! Copies into and out of buckets.

use crate::policy::outside::{
    CHANGES, SENDS,
    operands::{Operand, only_fetches},
};

/// The beginnings of verbs that only look.
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
/// The verbs that only look.
const LOOK_VERBS: [&str; 12] = [
    "ls", "wait", "help", "tail", "stat", "cat", "du", "hash", "version", "presign", "scan",
    "query",
];

/// Returns the effect of a client of buckets: copies from a bucket only look.
pub(super) fn effect(program: &str, operands: &[Operand<'_>]) -> Option<&'static str> {
    let first = operands.first().map_or("", |operand| operand.word);
    // `aws SERVICE VERB`, `gcloud storage VERB`, `gsutil VERB`
    let n_before = usize::from(program != "gsutil");
    if program == "aws" && matches!(first, "help" | "configure" | "sso") {
        return None;
    }
    let (verb, places) = operands.get(n_before..)?.split_first()?;
    let verb = verb.word;
    if LOOKS.iter().any(|look| verb.starts_with(look)) || LOOK_VERBS.contains(&verb) {
        return None;
    }
    match verb {
        "cp" | "sync" | "rsync" => (!only_fetches(places)).then_some(SENDS),
        _ => Some(CHANGES),
    }
}
