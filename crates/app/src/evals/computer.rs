//! The computer of a trial: the set-up before the turn, and the checker after it.

use std::time::Duration;

use bytes::Bytes;
use deskhand_core::{
    eval::TrialState,
    file::{FilePath, WriteCondition},
    id::SessionId,
};
use deskhand_evals::{ANSWER, CHECK, FOLDER, PAGES, PAGES_PORT, SETUP, SUBMISSIONS, script};
use futures::stream;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::attempt::{Attempt, Unchecked, Verdict, refused};
use crate::{ActByHand, BodyError, FileUser, WriteFile};

/// The longest time for one thing on the computer, its start included.
const COMPUTER_TIMEOUT: Duration = Duration::from_mins(5);
/// The timeout of a script.
const SCRIPT_TIMEOUT: Duration = Duration::from_mins(2);
/// The notes that the shell adds to the output of a command.
const NOTES: [&str; 2] = ["[exit code ", "[no output]"];

/// The end of a script.
#[derive(Debug)]
struct Ran {
    /// `None` if it was cut short.
    code: Option<i64>,
    output: String,
}

impl Ran {
    /// Returns the last line of the output.
    fn last_line(&self) -> Option<String> {
        let is_said = |line: &&str| {
            !line.trim().is_empty() && !NOTES.iter().any(|note| line.starts_with(note))
        };
        let last = self.output.lines().rev().find(is_said);
        last.map(|line| line.trim().to_owned())
    }
}

impl Attempt<'_> {
    /// Prepares the computer. The session's log shows this; the agent is not told.
    pub(super) async fn set_up(&self, session: SessionId) -> Result<(), Unchecked> {
        let task = &self.trial.task;
        for (path, content) in &task.files {
            self.write(session, path.clone(), content).await?;
        }
        self.write(session, place(SUBMISSIONS)?, "").await?;
        if !task.pages.is_empty() {
            for (name, page) in &task.pages {
                let path = place(&format!("{PAGES}/{name}"))?;
                self.write(session, path, page).await?;
            }
            let ran = self.run(session, &serve_pages()).await?;
            if ran.code != Some(0) {
                let why = ran.last_line().unwrap_or_default();
                return Err(Verdict::error(format!("the pages cannot be shown: {why}")).into());
            }
        }
        if let Some(setup) = &task.setup {
            self.write(session, place(SETUP)?, &script(setup)).await?;
            let ran = self.run(session, &format!("sh {SETUP}")).await?;
            if ran.code != Some(0) {
                let why = ran.last_line().unwrap_or_default();
                return Err(Verdict::error(format!("the set-up failed: {why}")).into());
            }
            // The script may contain what the agent has to find out.
            let removed = self.run(session, &format!("rm -f {SETUP}")).await?;
            if removed.code != Some(0) {
                return Err(Verdict::error("the script of the set-up could not be removed").into());
            }
        }
        Ok(())
    }

    /// Runs the checker. No part of it is in the sandbox before this call.
    pub(super) async fn check(
        &self,
        session: SessionId,
        answer: &str,
    ) -> Result<Verdict, Unchecked> {
        // The agent's variables, functions and background jobs must not decide.
        self.act(session, json!({"shell": "restart"})).await?;
        self.write(session, place(ANSWER)?, answer).await?;
        let check = script(&self.trial.task.check);
        self.write(session, place(CHECK)?, &check).await?;
        let ran = self.run(session, &format!("sh {CHECK}")).await?;
        let reason = ran.last_line();
        Ok(match ran.code {
            Some(0) => Verdict {
                state: TrialState::Passed,
                reason,
                worked: None,
            },
            Some(code) => {
                let reason = reason.unwrap_or_else(|| format!("the checker exited with {code}"));
                Verdict::failed(reason)
            }
            None => {
                let seconds = SCRIPT_TIMEOUT.as_secs();
                Verdict::failed(format!("the checker did not end within {seconds} s"))
            }
        })
    }

    async fn write(
        &self,
        session: SessionId,
        path: FilePath,
        content: &str,
    ) -> Result<(), Unchecked> {
        let parts = &self.evals.0;
        // It is never closed.
        let _place = parts.open.transfers.acquire().await;
        let user = FileUser {
            user: self.trial.owner,
            may_wake: true,
        };
        let file = WriteFile {
            path,
            length: u64::try_from(content.len()).ok(),
            condition: WriteCondition::Always,
            is_executable: false,
        };
        let bytes = Bytes::copy_from_slice(content.as_bytes());
        let body = stream::iter([Ok::<Bytes, BodyError>(bytes)]);
        let writing = parts.files.write(user, session, file, body);
        let written = timeout(COMPUTER_TIMEOUT, writing).await;
        written
            .map_err(|_late| too_slow())?
            .map_err(|error| refused(&error))?;
        Ok(())
    }

    /// Runs a command in the shell, as a person by hand.
    async fn run(&self, session: SessionId, command: &str) -> Result<Ran, Unchecked> {
        let ms = u64::try_from(SCRIPT_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        let input = json!({"shell": "run", "command": command, "timeout_ms": ms});
        self.act(session, input).await
    }

    async fn act(&self, session: SessionId, input: Value) -> Result<Ran, Unchecked> {
        let act = ActByHand {
            tool: "bash".to_owned(),
            input,
            look: false,
        };
        let (computers, owner) = (&self.evals.0.computers, self.trial.owner);
        let acting = computers.act_by_hand(owner, session, act);
        let done = timeout(COMPUTER_TIMEOUT, acting).await;
        let done = done
            .map_err(|_late| too_slow())?
            .map_err(|error| refused(&error))?;
        if done.is_error && done.state.is_none() {
            // The computer failed, not the command: that has a folder at least.
            let why = done.text;
            return Err(Verdict::error(format!("the computer failed: {why}")).into());
        }
        let code = done
            .state
            .as_ref()
            .and_then(|state| state["exit_code"].as_i64());
        Ok(Ran {
            code,
            output: done.text,
        })
    }
}

fn too_slow() -> Unchecked {
    let seconds = COMPUTER_TIMEOUT.as_secs();
    Verdict::error(format!("the computer did not answer within {seconds} s")).into()
}

fn place(path: &str) -> Result<FilePath, Unchecked> {
    let parsed = path.parse::<FilePath>();
    parsed.map_err(|bad| Verdict::error(bad.to_string()).into())
}

/// Returns the command that starts the server of pages, apart from the shell, and waits until it answers.
fn serve_pages() -> String {
    format!(
        "setsid -f deskhand eval-pages --port {PAGES_PORT} --folder {PAGES} --submissions {SUBMISSIONS} \
         </dev/null >{FOLDER}/pages.log 2>&1\n\
         for attempt in {{1..200}}; do\n\
         if (exec 3<>/dev/tcp/127.0.0.1/{PAGES_PORT}) 2>/dev/null; then break; fi\n\
         sleep 0.05\n\
         done\n\
         (exec 3<>/dev/tcp/127.0.0.1/{PAGES_PORT}) 2>/dev/null || {{ cat {FOLDER}/pages.log; false; }}"
    )
}
