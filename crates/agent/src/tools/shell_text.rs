//! The text of a shell command's result: the output, and notes in brackets about its end.

use deskhand_core::shell::{ShellEnding, ShellOutput};

/// Writes a command's result. Returns true with it if it counts as an error. A command that ended by itself does not,
/// whatever its exit code.
pub(super) fn shell_text(output: &ShellOutput) -> (String, bool) {
    let cwd = &output.cwd;
    let (note, is_error) = match output.ending {
        ShellEnding::Exited { code: 0 } => {
            let note = output.output.is_empty().then(|| "[no output]".to_owned());
            (note, false)
        }
        ShellEnding::Exited { code } => (Some(format!("[exit code {code}]")), false),
        ShellEnding::TimedOut { after_ms } => (
            Some(format!(
                "[The command took longer than {} and was ended. The shell kept its state.]",
                span(after_ms)
            )),
            true,
        ),
        ShellEnding::TimedOutWithShell { after_ms } => (
            Some(format!(
                "[The command took longer than {} and could only be ended together with the shell: variables, \
                 functions and background jobs are gone. A new shell is ready in {cwd}.]",
                span(after_ms)
            )),
            true,
        ),
        ShellEnding::ShellEnded { code } => (
            Some(format!(
                "[The command ended the shell with exit code {code}: variables, functions and background jobs \
                 are gone. A new shell is ready in {cwd}.]"
            )),
            false,
        ),
        ShellEnding::Interrupted => (
            Some("[The command was stopped before it was done.]".to_owned()),
            true,
        ),
        ShellEnding::Restarted => (Some(format!("[A new shell is ready in {cwd}.]")), false),
    };
    let mut text = printed(output);
    match note {
        Some(note) => text.push_str(&note),
        None => text.truncate(text.trim_end_matches('\n').len()),
    }
    (text, is_error)
}

/// Returns the output of an interrupted command, ready for a line with the reason of the interruption. Returns `None`
/// if the command ended in another way.
pub(crate) fn interrupted_shell_text(output: &ShellOutput) -> Option<String> {
    (output.ending == ShellEnding::Interrupted).then(|| printed(output))
}

/// Returns the output with a trailing newline, so that a note can follow.
fn printed(output: &ShellOutput) -> String {
    let mut text = output.output.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if output.omitted_bytes > 0 {
        let all = output
            .file
            .as_ref()
            .map(|path| format!(" All of it is in {path}."))
            .unwrap_or_default();
        text.push_str(&format!(
            "[{} bytes from the middle of the output are left out.{all}]\n",
            output.omitted_bytes
        ));
    }
    text
}

fn span(ms: u64) -> String {
    if ms.is_multiple_of(1000) {
        format!("{} s", ms / 1000)
    } else {
        format!("{ms} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(output: &str, omitted_bytes: u64, ending: ShellEnding) -> String {
        let (text, is_error) = shell_text(&ShellOutput {
            output: output.to_owned(),
            omitted_bytes,
            file: (omitted_bytes > 0).then(|| "/home/agent/.deskhand/output/1.txt".to_owned()),
            ending,
            cwd: "/home/agent".to_owned(),
        });
        format!("{}{text}", if is_error { "error: " } else { "" })
    }

    #[test]
    fn endings_are_told_in_plain_words() {
        let exited = |code| ShellEnding::Exited { code };
        insta::assert_snapshot!(told("hi\n", 0, exited(0)), @"hi");
        insta::assert_snapshot!(told("", 0, exited(0)), @"[no output]");
        insta::assert_snapshot!(told("no", 0, exited(3)), @"
        no
        [exit code 3]
        ");
        insta::assert_snapshot!(told("ab\n", 7, exited(0)), @"
        ab
        [7 bytes from the middle of the output are left out. All of it is in /home/agent/.deskhand/output/1.txt.]
        ");
        insta::assert_snapshot!(told("", 0, ShellEnding::TimedOut { after_ms: 120_000 }), @"error: [The command took longer than 120 s and was ended. The shell kept its state.]");
        insta::assert_snapshot!(told("", 0, ShellEnding::TimedOutWithShell { after_ms: 1_500 }), @"error: [The command took longer than 1500 ms and could only be ended together with the shell: variables, functions and background jobs are gone. A new shell is ready in /home/agent.]");
        insta::assert_snapshot!(told("bye\n", 0, ShellEnding::ShellEnded { code: 3 }), @"
        bye
        [The command ended the shell with exit code 3: variables, functions and background jobs are gone. A new shell is ready in /home/agent.]
        ");
        insta::assert_snapshot!(told("half", 0, ShellEnding::Interrupted), @"
        error: half
        [The command was stopped before it was done.]
        ");
        insta::assert_snapshot!(told("", 0, ShellEnding::Restarted), @"[A new shell is ready in /home/agent.]");
    }
}
