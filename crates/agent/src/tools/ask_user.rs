//! `ask_user`: asks a person and waits for the answer.

use async_trait::async_trait;
use deskhand_core::{
    decision::Reply,
    policy::{CallSubject, Proposal, Risk},
    question::{FormName, Question},
    tool::{ASK_USER, ResultPart, ToolSpec},
};
use serde_json::{Value, json};

use super::{
    BadCall, Invocation, Tool, ToolContext, ToolFailure, ToolOutput, object_schema, read_as,
    words::quote,
};

const NAME: &str = ASK_USER;
const NO_ANSWER: &str = "Nobody answered in time, and there is no default.";
const OWN_WORDS: &str = "The person gave none of the answers that you offered, but wrote:";
const DEFAULT_NOTE: &str = "\n[Nobody answered in time; this is the default.]";

#[derive(Debug)]
pub(super) struct AskUserTool;

impl Tool for AskUserTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Asks a person and waits for the answer. Use it when only a person can know or decide, not \
                          for what you can find out yourself."
                .to_owned(),
            parameters: object_schema(
                &["question"],
                &json!({
                    "question": {"type": "string"},
                    "form": {"type": "string", "enum": ["text", "choices", "yes_no", "file"], "description": "The \
                                                                                                              form \
                                                                                                              of \
                                                                                                              the \
                                                                                                              answer; \
                                                                                                              text \
                                                                                                              when \
                                                                                                              absent."},
                    "choices": {"type": "array", "items": {"type": "string"}, "description": "For the form choices."},
                    "several": {"type": "boolean", "description": "Whether more than one may be chosen."},
                    "default": {"description": "The answer when nobody gives one in time. Needs expires_in_s."},
                    "expires_in_s": {"type": "integer", "minimum": 1, "description": "How long to wait; for ever when absent."},
                }),
            ),
            native: None,
        }
    }

    fn read(&self, input: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        let question: Question = read_as(NAME, input)?;
        question.check().map_err(|problem| BadCall::Input {
            tool: NAME.to_owned(),
            problem,
        })?;
        Ok(Box::new(question))
    }
}

#[async_trait]
impl Invocation for Question {
    fn describe(&self) -> String {
        format!("Asked {}", quote(&self.question))
    }

    fn proposal(&self) -> Proposal {
        Proposal {
            tool: NAME.to_owned(),
            subject: CallSubject::text(&self.question),
            risk: Risk::Exempt,
            wish: "The agent wants to ask".to_owned(),
        }
    }

    /// Returns true: after a restart the tool waits for the question that was raised before, and does not ask again.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn by_hand(&self) -> Result<(), &'static str> {
        Err("only the agent asks questions; send it a message instead")
    }

    async fn run(
        self: Box<Self>,
        context: &mut dyn ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let ask = Self::ask(&self, context.now()).map_err(ToolFailure)?;
        let settled = context.ask(ask).await?;
        let mut output = match (settled.reply, settled.file) {
            (None, _) => return Err(NO_ANSWER.into()),
            (Some(_), Some(file)) => {
                // Each question has its own folder, so that no answer overwrites another.
                let id = settled.decision.0.simple().to_string();
                let folder = format!("answers/{}", &id[id.len() - 6..]);
                // The model gets an answer even if the file could not be stored.
                let path = context.put_file(folder, &file).await;
                path.map_or_else(ToolOutput::from, ToolOutput::text)
            }
            (Some(Reply::Text(text)), None) if self.form != FormName::Text => {
                ToolOutput::text(format!("{OWN_WORDS} {text}"))
            }
            (Some(reply), None) => ToolOutput::text(in_words(&reply)),
        };
        if !settled.is_answered {
            output.parts.push(ResultPart::from(DEFAULT_NOTE));
        }
        Ok(output)
    }
}

fn in_words(reply: &Reply) -> String {
    match reply {
        Reply::Text(text) => text.clone(),
        Reply::Choices(values) => values.join(", "),
        Reply::Yes(true) | Reply::YesFor(_) => "yes".to_owned(),
        Reply::Yes(false) => "no".to_owned(),
        Reply::NoBecause(reason) => format!("no: {reason}"),
        Reply::File(head) => head.name.clone(),
    }
}
