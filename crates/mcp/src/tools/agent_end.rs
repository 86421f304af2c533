//! Ends an agent.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Effect, GROUPS, Tool};
use crate::{
    call::{Call, session_id},
    refusal::CallError,
    status::{self, StatusReport},
};

pub(super) struct AgentEnd;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AgentEndInput {
    /// The id that `agent_start` returned.
    session_id: String,
}

#[async_trait]
impl Tool for AgentEnd {
    const NAME: &'static str = "agent_end";
    const TITLE: &'static str = "End an agent";
    const DESCRIPTION: &'static str = "End an agent for good: its work stops, its computer and files are deleted. Its log \
        stays readable. Ending it twice is no error.";
    const GROUPS: &'static [&'static str] = &GROUPS;
    const EFFECT: Effect = Effect::Ends;
    type Input = AgentEndInput;
    type Output = StatusReport;

    async fn run(
        &self,
        input: AgentEndInput,
        call: &Call<'_>,
    ) -> Result<Answer<StatusReport>, CallError> {
        let id = session_id(&input.session_id)?;
        call.app.sessions().terminate(call.viewer(), id).await?;
        status::look(call, id).await.map(Answer::new)
    }
}
