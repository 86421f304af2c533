//! Later turns of a session: its system text and its tools stay, and changes are told in the conversation.

use deskhand_agent::{PromptTemplate, SystemPrompt};
use deskhand_core::{
    event::{EventBody, Outcome},
    id::TurnId,
    model::Item,
};

use crate::stage::{Stage, complete, ending, prompt, says};

/// Adds everything that the turn logged, and its end, to the history.
fn remember(stage: &mut Stage, turn: TurnId) {
    let logged: Vec<EventBody> = stage.log.appended.borrow().concat();
    stage.history.extend(logged);
    stage.history.push(complete(turn, Outcome::Done));
    stage.log.appended.send_replace(Vec::new());
}

fn n_told(stage: &Stage) -> usize {
    let logged: Vec<EventBody> = stage.log.appended.borrow().concat();
    let is_told = |body: &&EventBody| matches!(body, EventBody::Told(_));
    logged.iter().filter(is_told).count()
}

#[tokio::test]
async fn changes_are_told_in_the_conversation_once_and_never_in_the_system_text() {
    let mut stage = Stage::new(vec![says("One."), says("Two."), says("Three.")]);
    let first = TurnId::new();
    stage.turn(first).run().await;
    remember(&mut stage, first);

    stage.prompt = SystemPrompt {
        template: PromptTemplate::parse("It is {{date}}. Pictures: {{screen}}.").unwrap(),
        instructions: "Speak Dutch.".to_owned(),
        ..SystemPrompt::default()
    };
    stage.history.push(prompt("and now?"));
    let second = TurnId::new();
    assert_eq!(
        ending(&stage.turn(second).run().await),
        "done: Two. (steps: 1)"
    );
    assert_eq!(n_told(&stage), 1);
    remember(&mut stage, second);

    stage.history.push(prompt("and then?"));
    stage.turn(TurnId::new()).run().await;
    assert_eq!(n_told(&stage), 0);

    let requests = stage.model.requests.lock().unwrap();
    for request in &requests[1..] {
        assert_eq!(request.system, requests[0].system);
        assert_eq!(request.tools, requests[0].tools);
    }
    // What was said before stays where it was.
    for (earlier, later) in requests.iter().zip(&requests[1..]) {
        assert_eq!(later.items[..earlier.items.len()], earlier.items[..]);
    }
    let [.., Item::Prompt { text: prompt }, Item::Note { text }] = &requests[1].items[..] else {
        panic!("{:?}", requests[1].items);
    };
    assert_eq!(prompt, "and now?");
    assert!(text.starts_with("[The text"), "{text}");
    assert!(text.ends_with("Speak Dutch."), "{text}");
}
