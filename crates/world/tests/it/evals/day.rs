//! The owner's budget for a day, which all their sessions share.

use super::*;

/// Each trial costs 0.4 dollars.
const DEAR: &str = "
price: {input: 1}
steps:
  - usage: {input: 200000}
    calls: [{bash: {command: 'echo done > /home/agent/done.txt'}}]
  - {usage: {input: 200000}, text: It is done.}
";

#[tokio::test]
async fn a_run_waits_for_the_next_day_when_the_budget_of_the_day_is_used_up() {
    let options = WorldOptions::default().knowing(&[("dear", DEAR)]);
    let options = options.limited(|limits| limits.day.usd = Some(0.5));
    let world = EvalWorld::with(options).await;
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

    world.world.pass(Duration::from_hours(24)).await;
    let results = world.until_over(id).await;
    assert_eq!(states(&results), [TrialState::Passed; 2]);
    assert_eq!(results.eval.waits_for, None);
    // The attempt that the budget of the day ended counts, and there is no other.
    let sessions = world.client().get("/api/sessions").await.good();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 3);
    assert!((results.eval.cost_usd - 1.0).abs() < 1e-6, "{results:?}");
    assert!((world.cost_of_sessions().await - 1.0).abs() < 1e-6);
}
