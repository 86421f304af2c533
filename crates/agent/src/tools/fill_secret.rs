//! `fill_secret`: types a stored secret into a web page. Neither the model nor the log ever contains its value.

use async_trait::async_trait;
use deskhand_core::{
    policy::{CallSubject, Proposal, Risk},
    tool::ToolSpec,
    vault::FillSecret,
};
use serde_json::{Value, json};

use super::{
    BadCall, Invocation, Tool, ToolContext, ToolFailure, ToolOutput, object_schema, read_as,
};

const NAME: &str = "fill_secret";

#[derive(Debug)]
pub(super) struct FillSecretTool;

impl Tool for FillSecretTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Types a secret that a person has stored, such as a password, into the field of the browser \
                          that has the focus. You never see it. Click the field first."
                .to_owned(),
            parameters: object_schema(
                &["name"],
                &json!({"name": {"type": "string", "description": "What the secret is called."}}),
            ),
            native: None,
        }
    }

    fn read(&self, input: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        Ok(Box::new(read_as::<FillSecret>(NAME, input)?))
    }
}

#[async_trait]
impl Invocation for FillSecret {
    fn describe(&self) -> String {
        format!("Filled in the secret {}", self.name)
    }

    async fn prepare(&mut self, context: &mut dyn ToolContext) -> Result<(), ToolFailure> {
        self.place = Some(context.find_secret_field(self.name.clone()).await?);
        Ok(())
    }

    fn proposal(&self) -> Proposal {
        let name = &self.name;
        let place = match &self.place {
            Some(place) => format!("a page of {}, titled “{}”", place.origin, place.title),
            None => "the page in front".to_owned(),
        };
        Proposal {
            tool: NAME.to_owned(),
            subject: CallSubject::text(name.to_string()),
            risk: Risk::Risky(None),
            wish: format!("The agent wants to type the secret {name} into {place}"),
        }
    }

    fn uses_owners_secret(&self) -> bool {
        true
    }

    fn is_for_screen(&self) -> bool {
        true
    }

    fn by_hand(&self) -> Result<(), &'static str> {
        Err("only the agent fills in secrets; type yours into the screen instead")
    }

    async fn run(
        self: Box<Self>,
        context: &mut dyn ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let name = self.name.clone();
        context.fill_secret(*self).await?;
        Ok(ToolOutput::text(format!(
            "Typed the secret {name} into the field. Pictures show the field black."
        )))
    }
}
