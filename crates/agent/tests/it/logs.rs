//! Logs that broke off, or hold more than the conversation, and what the model is shown of them.

use deskhand_core::{
    blob::BlobFormat,
    event::{
        EventBody, Failure, MessageSaid, Outcome, Said, Screenshot, Status, ToolResult, ToolUse,
    },
    id::{MessageId, TurnId, UserId},
    message::{Delivery, Role},
    model::Item,
    session::{Phase, SandboxState},
};
use serde_json::json;

use crate::{
    fakes::name_of,
    stage::{Stage, complete, failure, prompt, says},
};

/// What the model is shown when the log is this, followed by a prompt.
async fn shown(history: Vec<EventBody>) -> Vec<Item> {
    let mut stage = Stage::new(vec![says("Well.")]);
    stage.history = history;
    stage.history.push(prompt("next"));
    stage.run().await;
    stage.shown()
}

fn used(turn: TurnId, call: &str) -> EventBody {
    EventBody::ToolUse(ToolUse {
        turn: Some(turn),
        call: call.to_owned(),
        tool: "bash".to_owned(),
        input: json!({"shell": "run", "command": "ls"}),
        description: None,
        by: None,
        checks: Vec::new(),
    })
}

fn came(turn: TurnId, call: &str, text: &str) -> EventBody {
    EventBody::ToolResult(result(Some(turn), call, text))
}

fn result(turn: Option<TurnId>, call: &str, text: &str) -> ToolResult {
    ToolResult {
        turn,
        call: call.to_owned(),
        text: text.to_owned(),
        is_error: false,
        duration_ms: 1,
        partial: false,
        parts: Vec::new(),
        state: None,
        not_done: None,
    }
}

fn prompted(text: &str) -> Item {
    Item::Prompt {
        text: text.to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_result_is_told_to_be_of_unknown_fate() {
    let turn = TurnId::new();
    let items = shown(vec![
        prompt("go"),
        used(turn, "a"),
        used(turn, "b"),
        came(turn, "a", "done"),
        failure(Some(turn), "The server was stopped."),
    ])
    .await;
    let [
        first,
        Item::Answer { calls, .. },
        Item::Results(results),
        last,
    ] = &*items
    else {
        panic!("{items:?}");
    };
    assert_eq!((first, calls.len()), (&prompted("go"), 2));
    assert_eq!((&*results[0].text, results[0].is_error), ("done", false));
    assert_eq!(
        (&*results[1].text, results[1].is_error),
        ("Interrupted: it is not known whether it was done.", true)
    );
    let note = "[The previous turn ended early: The server was stopped.]\n\nnext";
    assert_eq!(last, &prompted(note));
}

#[tokio::test(start_paused = true)]
async fn a_log_that_breaks_off_without_an_end_is_understood() {
    let turn = TurnId::new();
    let begins = EventBody::Status(Status {
        state: Phase::Running,
        sandbox: SandboxState::Lost,
        reason: None,
        turn: Some(TurnId::new()),
        prompt: None,
    });
    let items = shown(vec![prompt("go"), used(turn, "a"), begins]).await;
    assert_eq!(items.len(), 4);
    assert_eq!(items[3], prompted("next"));
}

#[tokio::test(start_paused = true)]
async fn a_stopped_turn_leaves_a_note() {
    let turn = TurnId::new();
    let said = EventBody::Text(Said {
        turn,
        block: 0,
        text: "I was about to".to_owned(),
    });
    let items = shown(vec![prompt("go"), said, complete(turn, Outcome::Stopped)]).await;
    let note = "[The previous turn was stopped by a person.]\n\nnext";
    assert_eq!(items.len(), 3);
    assert_eq!(items[2], prompted(note));
}

#[tokio::test(start_paused = true)]
async fn thinking_alone_is_no_answer() {
    let turn = TurnId::new();
    let thought = EventBody::Thinking(Said {
        turn,
        block: 0,
        text: "Hm.".to_owned(),
    });
    let items = shown(vec![
        prompt("go"),
        thought,
        complete(turn, Outcome::Stopped),
    ])
    .await;
    let note = "go\n\n[The previous turn was stopped by a person.]\n\nnext";
    assert_eq!(items, [prompted(note)]);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_part_of_the_conversation_is_left_out() {
    let turn = TurnId::new();
    let partial = EventBody::ToolResult(ToolResult {
        partial: true,
        ..result(Some(turn), "a", "do")
    });
    let used_by_hand = EventBody::ToolUse(ToolUse {
        turn: None,
        call: "a".to_owned(),
        tool: "bash".to_owned(),
        input: json!({"shell": "run", "command": "ls"}),
        description: None,
        by: Some(UserId::new()),
        checks: Vec::new(),
    });
    let answer = EventBody::Message(MessageSaid {
        id: MessageId::new(),
        role: Role::Assistant,
        content: "Done.".to_owned(),
        author: None,
        author_name: None,
        delivery: Delivery::default(),
        model: None,
        effort: None,
        turn: Some(turn),
        attachments: Vec::new(),
        start_url: None,
    });
    let status = EventBody::Status(Status {
        state: Phase::Running,
        sandbox: SandboxState::Ready,
        reason: None,
        turn: Some(turn),
        prompt: None,
    });
    let seen_by_hand = EventBody::Screenshot(Screenshot {
        turn: None,
        call: Some("a".to_owned()),
        blob: name_of(b"theirs", BlobFormat::Png),
        width: 1,
        height: 1,
    });
    let items = shown(vec![
        status.clone(),
        prompt("go"),
        used(turn, "a"),
        partial,
        status,
        came(turn, "a", "done"),
        answer,
        complete(turn, Outcome::Done),
        used_by_hand,
        EventBody::ToolResult(result(None, "a", "theirs")),
        seen_by_hand,
        failure(None, "The sandbox died."),
    ])
    .await;
    let [
        _,
        Item::Answer { text, calls, .. },
        Item::Results(results),
        last,
    ] = &*items
    else {
        panic!("{items:?}");
    };
    assert_eq!((text.as_str(), calls.len()), ("", 1));
    assert_eq!((results.len(), &*results[0].text), (1, "done"));
    assert_eq!(last, &prompted("next"));
}

#[tokio::test(start_paused = true)]
async fn a_picture_that_is_gone_is_no_reason_to_give_up() {
    let turn = TurnId::new();
    let picture = EventBody::Screenshot(Screenshot {
        turn: Some(turn),
        call: Some("a".to_owned()),
        blob: name_of(b"gone", BlobFormat::Png),
        width: 1024,
        height: 768,
    });
    let items = shown(vec![
        prompt("go"),
        used(turn, "a"),
        came(turn, "a", ""),
        picture,
    ])
    .await;
    let Item::Results(results) = &items[2] else {
        panic!("{items:?}");
    };
    assert_eq!(results[0].text, "[The picture is not shown any more.]");
}

#[tokio::test(start_paused = true)]
async fn what_a_model_refused_to_go_on_with_is_not_told_to_it() {
    let turn = TurnId::new();
    let said = |text: &str| {
        EventBody::Text(Said {
            turn,
            block: 0,
            text: text.to_owned(),
        })
    };
    let refusal = EventBody::Error(Failure {
        turn: Some(turn),
        code: "model_refused".to_owned(),
        message: "The model refused.".to_owned(),
    });
    let items = shown(vec![prompt("go"), said("First I"), refusal]).await;
    let note = "go\n\n[The previous turn ended early: The model refused.]\n\nnext";
    assert_eq!(items, [prompted(note)]);
}
