//! The agent's questions while a task runs, and the answers typed at the terminal.

use std::{
    io::{self, BufRead, IsTerminal},
    path::Path,
};

use deskhand_api::decisions::AnswerBody;
use deskhand_core::{
    decision::{AnswerScope, Ask, Form},
    event::{Event, EventBody},
    id::{DecisionId, SessionId},
};
use tokio::sync::mpsc;

use super::show::Show;
use crate::{
    client::{CallError, Client},
    decisions::{asked, file, value},
};

/// Follows the questions, and reads answers if a person can type them.
#[derive(Debug)]
pub(super) struct Questions<'a> {
    client: &'a Client,
    session: SessionId,
    open: Option<(DecisionId, Ask)>,
    /// The lines typed. `None` until the first question.
    lines: Option<mpsc::Receiver<String>>,
    has_person: bool,
}

impl<'a> Questions<'a> {
    pub(super) fn new(client: &'a Client, session: SessionId, is_json: bool) -> Self {
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        Self {
            client,
            session,
            open: None,
            lines: None,
            has_person: is_terminal && !is_json,
        }
    }

    /// Shows the question of an event, or shows the spinner again once the question is settled.
    pub(super) fn event(&mut self, event: &Event, show: &Show) {
        if let EventBody::Decision(raised) = &event.body {
            let ask = &raised.ask;
            for line in asked(&ask.prompt, &ask.form, ask.subject.as_ref()) {
                show.ask(&line);
            }
            if self.has_person {
                self.lines.get_or_insert_with(read_lines);
                show.pause();
                show.ask("Your answer:");
            } else {
                let how = how_to_answer(raised.decision, &ask.form);
                show.ask(&format!("Answer it with `{how}`, or on the page."));
            }
            self.open = Some((raised.decision, ask.clone()));
        }
        if let EventBody::Answer(settled) = &event.body
            && self
                .open
                .take_if(|(id, _)| *id == settled.decision)
                .is_some()
        {
            show.go_on();
        }
    }

    /// Returns the next line typed. Waits forever if the terminal is not read or has been closed.
    pub(super) async fn next_line(&mut self) -> String {
        if let Some(lines) = &mut self.lines
            && let Some(line) = lines.recv().await
        {
            return line;
        }
        std::future::pending().await
    }

    /// Sends a line as the answer to the open question.
    pub(super) async fn answer(&mut self, line: &str, show: &Show) -> Result<(), CallError> {
        let Some((id, ask)) = &self.open else {
            return Ok(());
        };
        let answer = match read(&ask.form, line) {
            Ok(answer) => answer,
            Err(problem) => {
                show.ask(&problem);
                return Ok(());
            }
        };
        match self.client.answer(self.session, *id, &answer).await {
            Ok(()) => Ok(()),
            // The user can try again. If another user was quicker, an event says so.
            Err(CallError::Refused { message, .. }) => {
                show.ask(&message);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Parses a line as an answer. The error is shown to the user.
fn read(form: &Form, line: &str) -> Result<AnswerBody, String> {
    let line = line.trim();
    match form {
        Form::Text => Ok(AnswerBody::text(line)),
        Form::YesNo => match &*line.to_lowercase() {
            "y" | "yes" => Ok(AnswerBody::yes(true)),
            "n" | "no" => Ok(AnswerBody::yes(false)),
            "session" => Ok(AnswerBody::yes_for(AnswerScope::Session)),
            "always" => Ok(AnswerBody::yes_for(AnswerScope::Always)),
            _ => match reason(line) {
                Some(reason) => Ok(AnswerBody::no_because(reason)),
                None => Err("Type yes or no.".to_owned()),
            },
        },
        Form::Choices {
            choices,
            several: false,
        } => Ok(AnswerBody::choices(vec![value(choices, line)])),
        Form::Choices { choices, .. } => {
            let values = line.split(',').map(|text| value(choices, text));
            Ok(AnswerBody::choices(values.collect()))
        }
        Form::File => file(Path::new(line)).map_err(|error| format!("{error:#}")),
    }
}

/// Returns the words after a no: `no, use the other branch`.
fn reason(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("no")
        .or_else(|| line.strip_prefix("No"))?;
    let words = rest.trim_start_matches([',', ':', ' ']);
    (words.len() < rest.len() && !words.is_empty()).then_some(words)
}

fn how_to_answer(id: DecisionId, form: &Form) -> String {
    let answer = match form {
        Form::Text => "TEXT",
        Form::Choices { .. } => "CHOICE",
        Form::YesNo => "--yes",
        Form::File => "--file FILE",
    };
    format!("deskhand answer {id} {answer}")
}

/// Reads lines from the terminal on a thread of its own, because reading blocks.
fn read_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use deskhand_core::decision::Choice;

    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_typed_becomes_an_answer() {
        let choice = |value: &str, label: &str| Choice {
            value: value.to_owned(),
            label: label.to_owned(),
        };
        let choices = |several| Form::Choices {
            choices: vec![choice("r", "Red"), choice("g", "Green"), choice("2", "Two")],
            several,
        };
        for (form, line, expected) in [
            (Form::Text, " hello ", json!({"text": "hello"})),
            (Form::YesNo, "Y", json!({"yes": true})),
            (Form::YesNo, "no", json!({"yes": false})),
            (choices(false), "green", json!({"choices": ["g"]})),
            (choices(false), "1", json!({"choices": ["r"]})),
            // A choice that is called like a number comes first.
            (choices(false), "2", json!({"choices": ["2"]})),
            (choices(true), "red, 2", json!({"choices": ["r", "2"]})),
            (choices(false), "blue", json!({"choices": ["blue"]})),
        ] {
            let sent = read(&form, line).map(|answer| json!(answer));
            assert_eq!(sent, Ok(expected), "{line}");
        }
        assert!(read(&Form::YesNo, "maybe").is_err());
        assert!(read(&Form::File, "/nowhere/at/all").is_err());
    }
}
