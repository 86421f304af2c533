//! What people say to an agent that is at work.

use deskhand_core::{event::Outcome, id::TurnId, model::Item};

use crate::{
    fakes::FakeModel,
    stage::{Stage, calls, complete, ending, prompt, runs, says},
};

/// What kind each item is that the model was shown, with the words of people.
fn kinds(items: &[Item]) -> Vec<String> {
    items
        .iter()
        .map(|item| match item {
            Item::Prompt { text } => format!("prompt {text}"),
            Item::Steering { text } => format!("steering {text}"),
            Item::Files(files) => format!("{} files", files.len()),
            Item::Note { text } => format!("note {text}"),
            Item::HandedBack { text, .. } => format!("handed back {text}"),
            Item::Answer { .. } => "answer".to_owned(),
            Item::CutOff { text } => format!("cut off {text}"),
            Item::Results(_) => "results".to_owned(),
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn it_is_shown_at_the_next_step_behind_the_results() {
    let stage = Stage::new(vec![calls(vec![runs("ls")]), says("Left it is.")]);
    stage
        .log
        .steering
        .lock()
        .unwrap()
        .extend([Vec::new(), vec![prompt("go left"), prompt("quickly")]]);
    let report = stage.run().await;
    assert_eq!(ending(&report), "done: Left it is. (steps: 2)");
    assert_eq!(
        kinds(&stage.shown()),
        [
            "prompt do it",
            "answer",
            "results",
            "steering go left\n\nquickly"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn it_keeps_an_agent_at_work_that_was_about_to_end() {
    let stage = Stage::new(vec![says("Done."), says("Done again.")]);
    stage
        .log
        .steering
        .lock()
        .unwrap()
        .extend([Vec::new(), vec![prompt("one more thing")]]);
    let report = stage.run().await;
    assert_eq!(ending(&report), "done: Done again. (steps: 2)");
    assert_eq!(
        kinds(&stage.shown()),
        ["prompt do it", "answer", "steering one more thing"]
    );
}

#[tokio::test(start_paused = true)]
async fn the_next_turn_tells_it_from_a_prompt() {
    let mut stage = Stage::new(vec![calls(vec![runs("ls")]), says("Well.")]);
    stage
        .log
        .steering
        .lock()
        .unwrap()
        .extend([Vec::new(), vec![prompt("steered")]]);
    stage.run().await;
    let turn = TurnId::new();
    // In the log, what was said stands where the agent took it up.
    let mut bodies = stage.log.bodies();
    let at = bodies
        .iter()
        .rposition(|body| body.kind() == "tool_result")
        .unwrap();
    bodies.insert(at + 1, prompt("steered"));
    stage.history.extend(bodies);
    stage.history.push(complete(turn, Outcome::Interrupted));
    stage.history.push(prompt("next"));
    stage.model = FakeModel::new(vec![says("Yes.")]);
    stage.run().await;
    assert_eq!(
        kinds(&stage.shown()),
        [
            "prompt do it",
            "answer",
            "results",
            "steering steered",
            "answer",
            "prompt [The previous turn was interrupted by the next message.]\n\nnext"
        ]
    );
}
