//! Checks of models by administrators.

use deskhand_world::World;
use serde_json::json;

const CLICKS: &str = r#"
steps:
  - calls: [{computer: {action: click, at: {x: 800, y: 300}}}]
  - text: done
"#;

const TALKS: &str = "steps: [{text: I see a disc.}]";

#[tokio::test]
async fn an_administrator_checks_a_model() {
    let world = World::start(&[("clicks", CLICKS), ("talks", TALKS)]).await;
    let admin = world.client();
    let path = "/api/models/check";
    let body = json!({"model": "scripted/clicks", "estimate": true});
    let estimate = admin.post(path, body).await.good();
    assert_eq!(
        estimate,
        json!({"model": "scripted/clicks", "estimate_usd": null, "report": null})
    );

    let check = |name: &str| admin.post(path, json!({"model": name}));
    let good = check("scripted/clicks").await.good();
    let verdicts: Vec<&str> = good["report"]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["verdict"].as_str().unwrap())
        .collect();
    let passed = "passed";
    assert_eq!(
        verdicts,
        [passed, passed, passed, passed, passed, "skipped", passed]
    );
    assert_eq!(good["report"]["n_calls"], 2);

    let bad = check("scripted/talks").await.good();
    let tools = &bad["report"]["findings"][2];
    assert_eq!(
        (&tools["point"], &tools["verdict"]),
        (&json!("tools"), &json!("failed"))
    );
    assert!(tools["remedy"].is_string(), "{bad:#}");

    let unknown = check("acme/large").await;
    assert_eq!((unknown.status, &*unknown.code()), (400, "unknown_model"));
    let bob = admin.new_user("bob").await;
    let refused = bob.post(path, json!({})).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (403, "not_administrator")
    );
}
