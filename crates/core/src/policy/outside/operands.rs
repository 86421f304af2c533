//! The operands of programs whose options nobody lists.

use crate::policy::destination::is_remote_path;

/// Common options with a value, which may stand before the subcommand.
const WITH_VALUE: [&str; 17] = [
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
    "--output",
    "--query",
    "--endpoint-url",
    "--ca-bundle",
    "--format",
];
/// Common options without one.
const WITHOUT_VALUE: [&str; 25] = [
    "-q",
    "--quiet",
    "-v",
    "--verbose",
    "--debug",
    "-y",
    "--yes",
    "-s",
    "--silent",
    "--no-cli-pager",
    "--no-sign-request",
    "--no-verify-ssl",
    "--no-paginate",
    "--recursive",
    "-r",
    "-m",
    "-P",
    "--progress",
    "--no-progress",
    "--only-show-errors",
    "--dryrun",
    "--delete",
    "--force",
    "--all",
    "--offline",
];

/// A word that is no option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operand<'a> {
    pub(super) word: &'a str,
    /// True if it may be the value of the option in front of it.
    pub(super) may_be_value: bool,
}

/// Returns the operands in these arguments.
pub(super) fn operands(arguments: &[String]) -> Vec<Operand<'_>> {
    let mut found = Vec::new();
    let mut may_be_value = false;
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word) {
            words.next();
            may_be_value = false;
        } else if word.len() > 1 && word.starts_with('-') {
            may_be_value = word != "--" && !word.contains('=') && !WITHOUT_VALUE.contains(&word);
        } else {
            found.push(Operand { word, may_be_value });
            may_be_value = false;
        }
    }
    found
}

/// Returns true if the operands begin with these words, where what may be a value may stand between them.
pub(super) fn begin_with(operands: &[Operand<'_>], words: &str) -> bool {
    let mut rest = operands.iter();
    words.split(' ').all(|word| {
        rest.by_ref()
            .find(|operand| operand.word == word || !operand.may_be_value)
            .is_some_and(|operand| operand.word == word)
    })
}

/// Returns true if a copy comes from the only place that is remote. A place that may be the value of an option does not
/// count as a local one.
pub(super) fn only_fetches(places: &[Operand<'_>]) -> bool {
    let is_remote = |place: &&Operand<'_>| is_remote_path(place.word);
    let n_remote = places.iter().filter(is_remote).count();
    let mut certain = places
        .iter()
        .filter(|place| is_remote(place) || !place.may_be_value);
    n_remote == 0
        || n_remote == 1
            && certain.next().is_some_and(|first| is_remote(&first))
            && certain.next().is_some()
}
