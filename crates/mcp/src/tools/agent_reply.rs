//! Talks to an agent: answers its question, or sends it a message.

use async_trait::async_trait;
use deskhand_app::{GivenReply, SendPrompt};
use deskhand_core::{
    decision::{AnswerScope, Choice, DecisionKind, Form, Reply},
    message::Delivery,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AGENT, Answer, Effect, Tool};
use crate::{
    call::{Call, session_id},
    refusal::CallError,
    status::{self, AgentState},
};

pub(super) struct AgentReply;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AgentReplyInput {
    /// The id that `agent_start` returned.
    session_id: String,
    /// The answer to the agent's question, or a message. For a question with choices: one of them; for yes or no: yes, no,
    /// or `no, ` and words for the agent.
    reply_text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replied {
    session_id: String,
    effect: ReplyEffect,
}

/// The effect of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReplyEffect {
    /// It answered the question that the agent was waiting for.
    Answered,
    /// It waits until the agent is done with its current work.
    Queued,
    /// The agent continues with it.
    Continued,
}

#[async_trait]
impl Tool for AgentReply {
    const NAME: &'static str = "agent_reply";
    const TITLE: &'static str = "Reply to an agent";
    const DESCRIPTION: &'static str = "Send a text to an agent. If it waits for an answer, this is the answer. If it has \
        completed its task, it continues with this. If it is working, it takes this up afterwards.";
    const GROUPS: &'static [&'static str] = &[AGENT];
    const EFFECT: Effect = Effect::Acts;
    type Input = AgentReplyInput;
    type Output = Replied;

    async fn run(
        &self,
        input: AgentReplyInput,
        call: &Call<'_>,
    ) -> Result<Answer<Replied>, CallError> {
        let id = session_id(&input.session_id)?;
        let replied = |effect| {
            Ok(Answer::new(Replied {
                session_id: id.to_string(),
                effect,
            }))
        };
        if let Some(asked) = status::open_question(call, id).await? {
            let mut reply = read(&asked.ask.form, &input.reply_text)?;
            // Only what the agent wants to do is refused with a reason. To its questions, this is another answer.
            if reply.reason().is_some() && asked.ask.kind == DecisionKind::Question {
                reply = Reply::Text(input.reply_text);
            }
            let reply = GivenReply::Plain(reply);
            let decisions = call.app.decisions();
            decisions.answer(call.user(), id, asked.id, reply).await?;
            return replied(ReplyEffect::Answered);
        }
        let is_running = status::look(call, id).await?.status == AgentState::Running;
        let prompt = SendPrompt {
            content: input.reply_text,
            delivery: Delivery::Queue,
            model: None,
            effort: None,
            attachments: Vec::new(),
            start_url: None,
        };
        call.app.queue().send(call.user(), id, prompt).await?;
        replied(if is_running {
            ReplyEffect::Queued
        } else {
            ReplyEffect::Continued
        })
    }
}

/// Reads a text as an answer of this form.
fn read(form: &Form, text: &str) -> Result<Reply, CallError> {
    if text.contains('\0') {
        return Err(CallError::malformed(
            "replyText cannot contain the character U+0000",
        ));
    }
    match form {
        Form::Text => Ok(Reply::Text(text.to_owned())),
        Form::YesNo => match text.trim().to_ascii_lowercase().as_str() {
            "yes" | "y" | "true" => Ok(Reply::Yes(true)),
            "no" | "n" | "false" => Ok(Reply::Yes(false)),
            "session" | "yes, session" => Ok(Reply::YesFor(AnswerScope::Session)),
            "always" | "yes, always" => Ok(Reply::YesFor(AnswerScope::Always)),
            lower if lower.starts_with("no, ") => {
                let reason = text.trim().get(4..).unwrap_or_default();
                Ok(Reply::NoBecause(reason.to_owned()))
            }
            _ => Err(CallError::malformed(
                "this question needs the answer yes or no",
            )),
        },
        Form::Choices { choices, several } => {
            let texts: Vec<_> = match find(choices, text) {
                // A label may contain a comma.
                Some(_) => vec![text],
                None if *several => text.split(',').collect(),
                None => vec![text],
            };
            // The app refuses what is not offered, and lists what is.
            let chosen = texts.into_iter().map(|text| {
                find(choices, text)
                    .map_or_else(|| text.trim().to_owned(), |choice| choice.value.clone())
            });
            Ok(Reply::Choices(chosen.collect()))
        }
        Form::File => Err(CallError::malformed(
            "the agent asks for a file, which a text cannot be: answer on the session's page",
        )),
    }
}

/// Returns the choice with this value or label.
fn find<'a>(choices: &'a [Choice], text: &str) -> Option<&'a Choice> {
    let text = text.trim();
    let by_value = choices.iter().find(|choice| choice.value == text);
    by_value.or_else(|| {
        choices
            .iter()
            .find(|choice| choice.label.eq_ignore_ascii_case(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_answers_every_form_but_a_file() {
        let choice = |value: &str, label: &str| Choice {
            value: value.to_owned(),
            label: label.to_owned(),
        };
        let choices = |several| Form::Choices {
            choices: vec![choice("r", "Red"), choice("b", "Blue, dark")],
            several,
        };
        let chosen = |values: &[&str]| {
            Reply::Choices(values.iter().map(|value| (*value).to_owned()).collect())
        };
        assert_eq!(read(&Form::Text, "7").unwrap(), Reply::Text("7".to_owned()));
        assert_eq!(read(&Form::YesNo, " Yes ").unwrap(), Reply::Yes(true));
        let reason = read(&Form::YesNo, "No, ask Ada first").unwrap();
        assert_eq!(reason, Reply::NoBecause("ask Ada first".to_owned()));
        let session = Reply::YesFor(AnswerScope::Session);
        assert_eq!(read(&Form::YesNo, "yes, session").unwrap(), session);
        assert_eq!(read(&choices(false), "red").unwrap(), chosen(&["r"]));
        assert_eq!(read(&choices(false), "blue, dark").unwrap(), chosen(&["b"]));
        assert_eq!(read(&choices(true), "b, r").unwrap(), chosen(&["b", "r"]));
        assert_eq!(read(&choices(false), "green").unwrap(), chosen(&["green"]));
        assert!(read(&Form::YesNo, "maybe").is_err());
        assert!(read(&Form::File, "here").is_err());
    }
}
