//! `update_plan`: keeps a short plan that people see above the conversation.

use async_trait::async_trait;
use deskhand_core::{
    event::{EventBody, PlanChanged, PlanStep, StepState},
    policy::{CallSubject, Proposal, Risk},
    tool::ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    BadCall, Invocation, Tool, ToolContext, ToolFailure, ToolOutput, object_schema, read_as,
    words::counted,
};

const NAME: &str = "update_plan";
const MOST_STEPS: usize = 20;
/// The maximum number of characters of a step.
const LONGEST_STEP: usize = 200;

#[derive(Debug)]
pub(super) struct UpdatePlanTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdatePlan {
    steps: Vec<PlanStep>,
}

impl Tool for UpdatePlanTool {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        let step = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "maxLength": LONGEST_STEP},
                "state": {"type": "string", "enum": ["pending", "doing", "done"]},
            },
            "required": ["text", "state"],
            "additionalProperties": false,
        });
        ToolSpec {
            name: NAME.to_owned(),
            description: "Keeps a short plan that people see above the conversation. Use it for work of several steps: \
                          once at the beginning, and whenever a step is begun or done. Give all steps each time, in \
                          order, at most one of them doing."
                .to_owned(),
            parameters: object_schema(
                &["steps"],
                &json!({"steps": {"type": "array", "items": step, "maxItems": MOST_STEPS}}),
            ),
            native: None,
        }
    }

    fn read(&self, input: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        let plan: UpdatePlan = read_as(NAME, input)?;
        plan.check().map_err(|problem| BadCall::Input {
            tool: NAME.to_owned(),
            problem,
        })?;
        Ok(Box::new(plan))
    }
}

impl UpdatePlan {
    fn check(&self) -> Result<(), String> {
        if self.steps.len() > MOST_STEPS {
            return Err(format!("a plan has at most {MOST_STEPS} steps"));
        }
        let is_good = |step: &PlanStep| {
            let length = step.text.trim().chars().count();
            (1..=LONGEST_STEP).contains(&length)
        };
        if !self.steps.iter().all(is_good) {
            return Err(format!("a step has 1 to {LONGEST_STEP} characters"));
        }
        if self.n_in(StepState::Doing) > 1 {
            return Err("at most one step can be in the state doing".to_owned());
        }
        Ok(())
    }

    fn n_in(&self, state: StepState) -> usize {
        self.steps.iter().filter(|step| step.state == state).count()
    }
}

#[async_trait]
impl Invocation for UpdatePlan {
    fn describe(&self) -> String {
        let n_done = self.n_in(StepState::Done);
        let all = counted(self.steps.len(), "step");
        format!("Updated the plan: {n_done} of {all} done")
    }

    fn proposal(&self) -> Proposal {
        Proposal {
            tool: NAME.to_owned(),
            subject: CallSubject::text(NAME),
            risk: Risk::Exempt,
            wish: "The agent wants to update its plan".to_owned(),
        }
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn run(
        self: Box<Self>,
        context: &mut dyn ToolContext,
    ) -> Result<ToolOutput, ToolFailure> {
        let turn = context.turn().ok_or("only the agent has a plan")?;
        let steps = self.steps;
        let changed = EventBody::Plan(PlanChanged { turn, steps });
        context.append(vec![changed]).await?;
        Ok(ToolOutput::text("People see the plan."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(steps: &Value) -> Result<Box<dyn Invocation>, BadCall> {
        UpdatePlanTool.read(&json!({ "steps": steps }))
    }

    #[test]
    fn a_plan_reads_as_how_far_it_is() {
        let step = |state: &str| json!({"text": "Look", "state": state});
        let plan = read(&json!([step("done"), step("doing"), step("pending")])).unwrap();
        assert_eq!(plan.describe(), "Updated the plan: 1 of 3 steps done");
        let empty = read(&json!([])).unwrap();
        assert_eq!(empty.describe(), "Updated the plan: 0 of 0 steps done");
    }

    #[test]
    fn plans_that_people_could_not_read_are_refused() {
        let step = |text: &str, state: &str| json!({"text": text, "state": state});
        let long = "x".repeat(LONGEST_STEP + 1);
        for (steps, problem) in [
            (json!([step(" ", "done")]), "a step has 1 to 200 characters"),
            (
                json!([step(&long, "done")]),
                "a step has 1 to 200 characters",
            ),
            (json!(vec![step("a", "done"); 21]), "at most 20 steps"),
            (
                json!([step("a", "doing"), step("b", "doing")]),
                "at most one step can be in the state doing",
            ),
            (json!([step("a", "skipped")]), "unknown variant `skipped`"),
        ] {
            let refused = read(&steps).unwrap_err().to_string();
            assert!(refused.contains(problem), "{refused}");
        }
    }
}
