//! The owner's budget for a day, which all their sessions share.

use deskhand_api::budgets::UsageView;
use deskhand_core::clock::{Clock, SystemClock};

use super::*;

/// Each trial costs 0.4 dollars.
const DEAR: &str = "
price: {input: 1}
steps:
  - usage: {input: 200000}
    calls: [{bash: {command: 'echo done > /home/agent/done.txt'}}]
  - {usage: {input: 200000}, text: It is done.}
";

/// The time for which no midnight may come.
const APART: Duration = Duration::from_hours(1);

impl EvalWorld {
    /// Lets the next day begin if it is near. Returns the time to the midnight after that.
    async fn leave_midnight(&self) -> Duration {
        let usage: UsageView = self.client().get("/api/me/usage").await.view();
        let left = usage.next_day_at.duration_since(SystemClock.now());
        let left = Duration::try_from(left).unwrap_or_default();
        if left > APART {
            return left;
        }
        self.world.pass(left + Duration::from_mins(1)).await;
        Duration::from_hours(24) - Duration::from_mins(1)
    }
}

#[tokio::test]
async fn a_run_waits_for_the_next_day_when_the_budget_of_the_day_is_used_up() {
    let options = WorldOptions::default().knowing(&[("dear", DEAR)]);
    let options = options.limited(|limits| limits.day.usd = Some(0.5));
    let world = EvalWorld::with(options).await;
    let to_midnight = world.leave_midnight().await;
    let id = world
        .run(&suite(2, ""), &["dear"], json!({"parallel": 1}))
        .await;
    let held = world
        .until(id, |results| results.eval.waits_for.is_some())
        .await;
    let reason = held.eval.waits_for.unwrap();
    assert!(reason.starts_with("your budget for today"), "{reason}");
    world.world.pass(Duration::from_mins(10)).await;
    let held = world.show(id).await;
    assert_eq!(states(&held), [TrialState::Passed, TrialState::Waiting]);
    let reason = held.eval.waits_for.unwrap();
    assert!(reason.contains("goes on at midnight"), "{reason}");

    world.world.pass(to_midnight - APART / 2).await;
    // In steps that are shorter than the limit of a trial.
    while states(&world.show(id).await)[1] == TrialState::Waiting {
        world.world.pass(Duration::from_mins(5)).await;
    }
    let results = world.until_over(id).await;
    assert_eq!(states(&results), [TrialState::Passed; 2], "{results:?}");
    assert_eq!(results.eval.waits_for, None);
    // The attempt that the budget of the day ended counts, and there is no other.
    let sessions = world.client().get("/api/sessions").await.good();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 3);
    assert!((results.eval.cost_usd - 1.0).abs() < 1e-6, "{results:?}");
    assert!((world.cost_of_sessions().await - 1.0).abs() < 1e-6);
}
