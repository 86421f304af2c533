//! The places of a task in its sandbox, and the scripts that are written there.

/// The folder of a task, outside the home folder that the agent works in.
pub const FOLDER: &str = "/tmp/eval";
pub const SETUP: &str = "/tmp/eval/setup.sh";
/// The checker. It is written when the turn has ended.
pub const CHECK: &str = "/tmp/eval/check.sh";
/// The agent's last answer. It is written when the turn has ended.
pub const ANSWER: &str = "/tmp/eval/answer.txt";
/// The forms that pages sent, one per line as JSON.
pub const SUBMISSIONS: &str = "/tmp/eval/submissions.jsonl";
pub const PAGES: &str = "/tmp/eval/pages";
/// The port of the pages on the sandbox's loopback.
pub const PAGES_PORT: u16 = 8000;

/// Returns a script of a suite with the paths of its task. Its lines keep their numbers.
pub fn script(text: &str) -> String {
    format!("export ANSWER={ANSWER} SUBMISSIONS={SUBMISSIONS}; cd; {text}")
}
