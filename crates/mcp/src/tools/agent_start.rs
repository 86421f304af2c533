//! Starts an agent.

use async_trait::async_trait;
use deskhand_app::{CreateSession, RefusalKind, SendPrompt};
use deskhand_core::{
    browser::{BadWebUrl, WebUrl},
    budget::ChangeBudget,
    computer::ComputerKind,
    message::Delivery,
};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::{AGENT, Answer, Effect, Tool};
use crate::{call::Call, clip::clip, refusal::CallError, status::AgentState};

pub(super) struct AgentStart;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AgentStartInput {
    /// The page to begin with: an http or https address.
    start_url: String,
    /// The task in plain words: what to do, what to avoid, and what to report.
    instructions: String,
    /// The model that works on it, as `vendor/name`. Without it the server chooses.
    #[serde(default)]
    model: Option<String>,
    /// The kind of its computer: `desktop`, or `browser` for one without a screen, which is lighter but cannot be taken
    /// over by a person. Without it, a desktop.
    #[serde(default)]
    computer: StartedComputer,
    /// A name for the session, for people who look at it.
    #[serde(default)]
    title: Option<String>,
    /// The most that its models may cost, in US dollars. The agent asks before it spends more.
    #[serde(default)]
    max_cost_usd: Option<f64>,
}

/// The kind of a computer.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum StartedComputer {
    #[default]
    Desktop,
    Browser,
}

impl From<StartedComputer> for ComputerKind {
    fn from(started: StartedComputer) -> Self {
        match started {
            StartedComputer::Desktop => Self::Desktop,
            StartedComputer::Browser => Self::Browser,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentStarted {
    /// Names the session in all other tools.
    session_id: String,
    status: AgentState,
    /// The page on which a person can watch the agent and take over.
    watch_url: String,
}

#[async_trait]
impl Tool for AgentStart {
    const NAME: &'static str = "agent_start";
    const TITLE: &'static str = "Start an agent";
    const DESCRIPTION: &'static str = "Start an agent with a computer of its own: it opens a page in a browser, follows \
        your instructions and reports. Returns a sessionId at once; the work goes on in the background. Then call \
        agent_status with waitSeconds until it is completed.";
    const GROUPS: &'static [&'static str] = &[AGENT];
    const EFFECT: Effect = Effect::Acts;
    type Input = AgentStartInput;
    type Output = AgentStarted;

    async fn run(
        &self,
        input: AgentStartInput,
        call: &Call<'_>,
    ) -> Result<Answer<AgentStarted>, CallError> {
        let start = check_url(&input.start_url)?;
        if input.instructions.trim().is_empty() {
            let message = "the instructions are empty; say what the agent should do";
            return Err(CallError::malformed(message));
        }
        let wanted = CreateSession {
            title: input.title,
            model: input.model,
            computer: input.computer.into(),
            metadata: made_by(call, Some(&start)),
            budget: ChangeBudget {
                usd: input.max_cost_usd,
                tokens: None,
            },
            ..CreateSession::default()
        };
        let sessions = call.app.sessions();
        let session = sessions.create(call.user(), wanted).await?;
        let prompt = SendPrompt {
            content: input.instructions.trim().to_owned(),
            delivery: Delivery::Queue,
            model: None,
            effort: None,
            attachments: Vec::new(),
            start_url: Some(start),
        };
        if let Err(refused) = call.app.queue().send(call.user(), session.id, prompt).await {
            // Nobody knows of the session, so nobody would end it.
            sessions.delete(call.viewer(), session.id).await?;
            return Err(refused.into());
        }
        Ok(Answer::new(AgentStarted {
            session_id: session.id.to_string(),
            status: AgentState::Running,
            watch_url: format!("{}/sessions/{}", call.public_url, session.id),
        }))
    }
}

/// Returns the metadata of a session that a client makes.
pub(super) fn made_by(call: &Call<'_>, start: Option<&WebUrl>) -> Option<JsonObject> {
    let client = call.context.client_info();
    let client = client.map(|client| clip(&client.name, 100));
    let made_by = json!({ "mcp": { "client": client, "startUrl": start.map(WebUrl::as_str) } });
    made_by.as_object().cloned()
}

/// Checks the address of a page that a browser is to open.
pub(super) fn check_url(text: &str) -> Result<WebUrl, CallError> {
    let bad = |problem: &str| {
        let message = format!("startUrl {:?} {problem}", clip(text, 100));
        CallError::new("bad_url", RefusalKind::Invalid, message)
    };
    let url = Url::parse(text.trim()).map_err(|error| {
        bad(&format!(
            "is not an address ({error}); give one like https://example.com/"
        ))
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad(
            "is neither http nor https; give one like https://example.com/",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let problem = "has a name or password in it, which would be logged; store it as a secret";
        return Err(bad(problem));
    }
    let url = url.as_str().parse();
    url.map_err(|error: BadWebUrl| bad(&format!("is refused: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_on_the_web_are_opened() {
        for good in [
            "https://example.com",
            "http://localhost:8080/a?b#c",
            " https://a.example/ ",
        ] {
            assert!(check_url(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "example.com",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,hi",
            "chrome://settings",
            "https://",
            "https://user:secret@example.com/",
            &format!("https://example.com/{}", "a".repeat(10_000)),
        ] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }
}
