//! Runs that are refused, and runs of others.

use super::*;

#[tokio::test]
async fn runs_that_cannot_be_are_refused_with_the_reason() {
    let world = EvalWorld::start(&[("worker", WORKER)]).await;
    let client = world.client();
    let good = suite(2, "");
    let bad = good.replace("check:", "chekc:");
    let refused = [
        (json!({}), "no_suite"),
        (json!({"suite": good, "built_in": "desktop"}), "no_suite"),
        (json!({"built_in": "laptop"}), "no_suite"),
        (json!({"suite": bad}), "bad_suite"),
        (
            json!({"suite": good, "models": ["scripted/oracle"]}),
            "bad_suite",
        ),
        (
            json!({"suite": good, "models": ["scripted/nobody"]}),
            "unknown_model",
        ),
        (
            json!({"suite": good, "models": ["scripted/worker", "scripted/worker"]}),
            "bad_eval",
        ),
        (json!({"suite": good, "tasks": ["task-9"]}), "bad_eval"),
        (json!({"suite": good, "runs": 0}), "bad_eval"),
        (json!({"suite": good, "parallel": 99}), "bad_eval"),
        (json!({"suite": good, "budget_usd": 0}), "bad_budget"),
        // Less than one trial may cost.
        (json!({"suite": good, "budget_usd": 0.5}), "bad_budget"),
        (json!({"suite": good, "speed": 1}), "malformed"),
    ];
    for (body, code) in refused {
        let answer = client.post("/api/evals", body.clone()).await;
        assert_eq!((answer.status, &*answer.code()), (400, code), "{body}");
    }
    let answer = client.post("/api/evals", json!({"suite": bad})).await;
    let error = &answer.json()["error"];
    assert_eq!(error["details"]["line"], 4, "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("the suite has a mistake: line 4"),
        "{message}"
    );
}

#[tokio::test]
async fn runs_belong_to_the_user_who_started_them() {
    let world = EvalWorld::start(&[("worker", WORKER)]).await;
    let id = world.run(&suite(1, ""), &["worker"], json!({})).await;
    let bob = world.client().new_user("bob").await;
    let path = format!("/api/evals/{id}");
    let shown = bob.get(&path).await;
    assert_eq!((shown.status, &*shown.code()), (404, "no_eval"));
    let stopped = bob.post(&format!("{path}/stop"), json!({})).await;
    assert_eq!((stopped.status, &*stopped.code()), (404, "no_eval"));
    let listed = bob.get("/api/evals").await.good();
    assert_eq!(listed["evals"], json!([]));
    assert_eq!(world.until_over(id).await.eval.n_passed, 1);
}

#[tokio::test]
async fn a_user_has_a_few_open_runs_and_pages_of_old_ones() {
    let world = EvalWorld::start(&[("slow", SLOW)]).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(world.run(&suite(1, ""), &["slow"], json!({})).await);
    }
    let body = json!({"suite": suite(1, ""), "models": ["scripted/slow"]});
    let sixth = world.client().post("/api/evals", body).await;
    assert_eq!((sixth.status, &*sixth.code()), (429, "too_many_evals"));
    let page = world.client().get("/api/evals?limit=2").await.good();
    let shown: Vec<_> = page["evals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    assert_eq!(shown, [json!(ids[4]), json!(ids[3])]);
    let next = page["next"].as_str().unwrap();
    let page = world
        .client()
        .get(&format!("/api/evals?limit=9&before={next}"))
        .await
        .good();
    assert_eq!(page["evals"].as_array().unwrap().len(), 3);
    assert_eq!(page["next"], Value::Null);
}
