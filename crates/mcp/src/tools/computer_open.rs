//! Gives a client a computer of its own, without an agent.

use async_trait::async_trait;
use deskhand_app::{ActByHand, CreateSession};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Answer, BY_HAND, Effect, Tool,
    agent_start::{self, StartedComputer},
};
use crate::{call::Call, refusal::CallError};

pub(super) struct ComputerOpen;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ComputerOpenInput {
    /// A page to open in the browser: an http or https address.
    #[serde(default)]
    start_url: Option<String>,
    /// The kind of computer: `desktop`, or `browser` for one without a screen, which is lighter but cannot be taken over
    /// by a person, and has no computer_* tools. Without it, a desktop.
    #[serde(default)]
    computer: StartedComputer,
    /// A name for the session, for people who look at it.
    #[serde(default)]
    title: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ComputerOpened {
    /// Names the computer in all other tools.
    session_id: String,
    /// The page on which a person can watch the computer and take over.
    watch_url: String,
    /// The page that was opened, or the reason why it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
}

#[async_trait]
impl Tool for ComputerOpen {
    const NAME: &'static str = "computer_open";
    const TITLE: &'static str = "Get a computer";
    const DESCRIPTION: &'static str = "Get a computer of your own, isolated and without an agent: a desktop with a \
        browser, a shell and files. The sessionId that it returns is for the tools computer_*, browser_*, shell_* and \
        file_*. Call agent_end when it is no longer needed.";
    const GROUPS: &'static [&'static str] = &BY_HAND;
    const EFFECT: Effect = Effect::Acts;
    type Input = ComputerOpenInput;
    type Output = ComputerOpened;

    async fn run(
        &self,
        input: ComputerOpenInput,
        call: &Call<'_>,
    ) -> Result<Answer<ComputerOpened>, CallError> {
        let start = input.start_url.as_deref().map(agent_start::check_url);
        let start = start.transpose()?;
        let wanted = CreateSession {
            title: input.title,
            computer: input.computer.into(),
            metadata: agent_start::made_by(call, start.as_ref()),
            ..CreateSession::default()
        };
        let session = call.app.sessions().create(call.user(), wanted).await?;
        let page = match start {
            Some(url) => {
                let open = ActByHand {
                    tool: "browser".to_owned(),
                    input: json!({ "action": "navigate", "url": url.as_str() }),
                    look: false,
                };
                let computers = call.app.computers();
                let opening = computers.act_by_hand(call.user(), session.id, open);
                // The client learns of the session in any case, so that it can end it.
                let opened = call.until_done(opening).await;
                Some(opened.map_or_else(
                    |refused| CallError::from(refused).to_string(),
                    |done| done.text,
                ))
            }
            None => None,
        };
        Ok(Answer::new(ComputerOpened {
            session_id: session.id.to_string(),
            watch_url: format!("{}/sessions/{}", call.public_url, session.id),
            page,
        }))
    }
}
