//! Deleting runs, by hand and after their time.

use super::*;

const DAY: Duration = Duration::from_hours(24);

async fn done(world: &EvalWorld) -> (EvalId, SessionId) {
    let id = world.run(&suite(1, ""), &["worker"], json!({})).await;
    let results = world.until_over(id).await;
    (id, results.tasks[0].trials[0].session.unwrap())
}

#[tokio::test]
async fn a_deleted_run_is_gone_and_its_sessions_stay_unless_they_are_deleted_too() {
    let world = EvalWorld::start(&[("worker", WORKER)]).await;
    let client = world.client();
    let ((first, kept), (second, deleted)) = (done(&world).await, done(&world).await);
    let answer = client.delete(&format!("/api/evals/{first}")).await;
    assert_eq!(answer.status, 204);
    let path = format!("/api/evals/{second}?sessions=true");
    assert_eq!(client.delete(&path).await.status, 204);
    for id in [first, second] {
        let path = format!("/api/evals/{id}");
        assert_eq!(client.get(&path).await.code(), "no_eval");
        assert_eq!(client.delete(&path).await.code(), "no_eval");
    }
    assert_eq!(world.session_state(kept).await, "terminated");
    let gone = client.get(&format!("/api/sessions/{deleted}")).await;
    assert_eq!(gone.code(), "no_session");
    let listed = client.get("/api/evals").await.good();
    assert_eq!(listed["evals"], json!([]));
}

#[tokio::test]
async fn only_the_owner_deletes_a_run_and_only_after_its_end() {
    let world = EvalWorld::start(&[("slow", SLOW)]).await;
    let id = world.run(&suite(1, ""), &["slow"], json!({})).await;
    let path = format!("/api/evals/{id}");
    let running = world.client().delete(&path).await;
    assert_eq!((running.status, &*running.code()), (409, "eval_running"));
    let bob = world.client().new_user("bob").await;
    assert_eq!(bob.delete(&path).await.code(), "no_eval");
    let results = world.until_over(id).await;
    assert_eq!(results.eval.n_failed, 1);
}

#[tokio::test]
async fn a_trial_does_not_lead_to_a_session_that_was_deleted() {
    let world = EvalWorld::start(&[("worker", WORKER)]).await;
    let (id, session) = done(&world).await;
    let path = format!("/api/sessions/{session}?forever=true");
    assert_eq!(world.client().delete(&path).await.status, 204);
    let results = world.show(id).await;
    assert_eq!(results.tasks[0].trials[0].session, None);
    assert_eq!(results.eval.n_passed, 1);
}

#[tokio::test]
async fn runs_are_deleted_some_days_after_their_end_as_sessions_are() {
    let mut options = WorldOptions::default().knowing(&[("worker", WORKER)]);
    options.settings.keep_ended = Some(7 * DAY);
    let world = EvalWorld::with(options).await;
    let (id, _) = done(&world).await;
    world.world.pass(6 * DAY).await;
    assert_eq!(world.show(id).await.eval.n_passed, 1);
    world.world.pass(2 * DAY).await;
    let shown = world.client().get(&format!("/api/evals/{id}")).await;
    assert_eq!(shown.code(), "no_eval");
}
