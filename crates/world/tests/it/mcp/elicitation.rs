//! Questions of agents that the client shows to its user.

use deskhand_testkit::Session;
use deskhand_world::World;
use serde_json::{Value, json};

use super::{
    client::{Mcp, call_stateless_with, messages, until, until_asked},
    endpoint, start, task, wait, world,
};

fn shows_forms() -> Value {
    json!({"elicitation": {}})
}

async fn asking(world: &World) -> (Mcp, String, Session) {
    let client = world.client();
    let mcp = Mcp::connect_with(&client, &endpoint(world), shows_forms()).await;
    let id = start(&mcp, "asks").await;
    let session = client.session(&id);
    (mcp, id, session)
}

fn status(id: &str) -> Value {
    json!({"name": "agent_status", "arguments": {"sessionId": id, "waitSeconds": 60}})
}

#[tokio::test]
async fn the_user_of_a_client_answers_a_form() {
    let world = world().await;
    let (mcp, id, _) = asking(&world).await;
    let mut response = mcp.send("tools/call", status(&id)).await;
    let asked = until_asked(&mut response).await;
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["message"], "Which colour?");
    let field = &asked["params"]["requestedSchema"]["properties"]["answer"];
    assert_eq!(field["oneOf"][1], json!({"const": "b", "title": "Blue"}));
    let answer = json!({"action": "accept", "content": {"answer": "b"}});
    mcp.answer(&asked["id"], answer).await;
    let done = messages(response).await.pop().unwrap();
    let done = &done["result"]["structuredContent"];
    assert_eq!(
        (&done["status"], &done["answer"]),
        (&json!("completed"), &json!("Told: b"))
    );
}

#[tokio::test]
async fn a_user_who_does_not_answer_leaves_the_question_open() {
    let world = world().await;
    let (mcp, id, _) = asking(&world).await;
    let mut response = mcp.send("tools/call", status(&id)).await;
    let asked = until_asked(&mut response).await;
    mcp.answer(&asked["id"], json!({"action": "decline"})).await;
    let left = messages(response).await.pop().unwrap();
    assert_eq!(
        left["result"]["structuredContent"]["status"], "waiting",
        "{left}"
    );
    let reply = json!({"sessionId": id, "replyText": "red"});
    assert_eq!(mcp.facts("agent_reply", reply).await["effect"], "answered");
    assert_eq!(wait(&mcp, &id).await["answer"], "Told: r");
}

#[tokio::test]
async fn a_form_is_withdrawn_when_somebody_else_answers() {
    let world = world().await;
    let (mcp, id, session) = asking(&world).await;
    let mut others = mcp.listen().await;
    let mut response = mcp.send("tools/call", status(&id)).await;
    let asked = until_asked(&mut response).await;
    let open = world
        .client()
        .get(&session.path("/decisions?state=open"))
        .await
        .good();
    let decision = open["decisions"][0]["id"].as_str().unwrap();
    let path = session.path(&format!("/decisions/{decision}/answer"));
    world
        .client()
        .post(&path, json!({"choices": ["r"]}))
        .await
        .good();
    let done = messages(response).await.pop().unwrap();
    let done = &done["result"]["structuredContent"];
    assert_eq!(done["answer"], "Told: r", "{done}");
    let withdrawn = until(&mut others, |message| {
        message["method"] == "notifications/cancelled"
    });
    assert_eq!(withdrawn.await["params"]["requestId"], asked["id"]);
}

#[tokio::test]
async fn without_sessions_the_question_is_a_result() {
    let world = world().await;
    let (client, url) = (world.client(), endpoint(&world));
    let call = async |params: Value| {
        call_stateless_with(&client, &url, params, shows_forms()).await["result"].clone()
    };
    let started = call(json!({"name": "agent_start", "arguments": task("asks")})).await;
    let id = started["structuredContent"]["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    let asked = call(status(&id)).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let (key, form) = asked["inputRequests"]
        .as_object()
        .unwrap()
        .iter()
        .next()
        .unwrap();
    assert_eq!(form["params"]["message"], "Which colour?", "{asked}");

    let with = |answer: Value| {
        let mut again = status(&id);
        again["inputResponses"] = json!({ key: answer });
        again
    };
    let declined = call(with(json!({"action": "decline"}))).await;
    assert_eq!(
        declined["structuredContent"]["status"], "waiting",
        "{declined}"
    );
    let wrong = call(with(json!({"action": "accept", "content": {"answer": 7}}))).await;
    assert_eq!(wrong["isError"], true, "{wrong}");
    let told = json!({"action": "accept", "content": {"answer": "b"}});
    let done = call(with(told)).await;
    assert_eq!(done["structuredContent"]["answer"], "Told: b", "{done}");
}
