//! Tools of MCP servers in a turn: approved, called, reported and cut short.

use deskhand_agent::tools::{self, ServerTools, remote_offers};
use deskhand_core::{
    decision::Reply,
    policy::{Mode, Policy},
    tool_server::{RemoteAnswer, RemoteTool, ToolServerError},
};
use serde_json::json;

use crate::stage::{Stage, calls, ending, says};

/// A turn that calls a tool of the server `git`.
fn calling(answers: Vec<Result<RemoteAnswer, ToolServerError>>, mode: Mode) -> Stage {
    let call = ("git__log", json!({"n": 1}));
    let mut stage = Stage::new(vec![calls(vec![call]), says("Well.")]);
    let tool = RemoteTool {
        name: "log".to_owned(),
        description: String::new(),
        schema: json!({"type": "object"}),
    };
    let server = ServerTools {
        server: "git".to_owned(),
        tools: vec![tool],
    };
    stage.tools = tools::all().with_remote(remote_offers(&[server]));
    *stage.remote.answers.lock().unwrap() = answers.into();
    *stage.people.policy.lock().unwrap() = Policy {
        mode,
        rules: Vec::new(),
    };
    stage
}

fn answer(text: &str) -> RemoteAnswer {
    RemoteAnswer {
        text: text.to_owned(),
        ..RemoteAnswer::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_made_once_a_person_agrees() {
    let stage = calling(vec![Ok(answer("one commit"))], Mode::Risky);
    *stage.people.replies.lock().unwrap() = vec![Reply::Yes(true)].into();
    assert_eq!(ending(&stage.run().await), "done: Well. (steps: 2)");
    let calls = stage.remote.calls.lock().unwrap().clone();
    assert_eq!(calls, [r#"git log {"n":1}"#]);
    let asked = stage.people.asked.lock().unwrap();
    assert_eq!(
        asked[0].1.prompt,
        "The agent wants to use log of the MCP server git."
    );
    assert!(stage.story().contains("one commit"), "{}", stage.story());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_person_refuses_is_not_made() {
    let stage = calling(vec![Ok(answer("one commit"))], Mode::Risky);
    *stage.people.replies.lock().unwrap() = vec![Reply::Yes(false)].into();
    assert_eq!(ending(&stage.run().await), "done: Well. (steps: 2)");
    assert!(stage.remote.calls.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_is_a_failed_call() {
    let away = ToolServerError::Unreachable("\u{1b}gone".to_owned());
    let stage = calling(vec![Err(away)], Mode::Never);
    assert_eq!(ending(&stage.run().await), "done: Well. (steps: 2)");
    let told = "The MCP server git did not do it: it cannot be reached: ";
    assert!(stage.story().contains(told), "{}", stage.story());
    assert!(!stage.story().contains("\\u{1b}"), "{}", stage.story());
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_a_call_ends_the_turn_within_a_second() {
    let stage = calling(Vec::new(), Mode::Never);
    let (report, ()) = tokio::join!(stage.run(), async {
        stage.log.until("tool_result").await;
        stage.stop.cancel();
    });
    assert_eq!(ending(&report), "stopped (steps: 1)");
    // The server's report was shown while it worked.
    assert!(stage.story().contains("half"), "{}", stage.story());
    assert!(
        stage.story().contains("not known whether it was done"),
        "{}",
        stage.story()
    );
}
