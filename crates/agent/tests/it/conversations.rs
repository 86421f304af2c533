//! What the model is shown is what was said and done, however it got into the log.

use std::sync::Arc;

use deskhand_core::{
    event::Outcome,
    id::TurnId,
    model::{CallResult, Chunk, End, Image, ImageFormat, Item, ModelError, ToolCall},
    sandbox::ComputerError,
};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    fakes::{Beat, FakeModel, FakeSandbox, Reaction},
    stage::{Stage, complete, ending, failure, prompt, says},
};

/// A turn for the model to play.
#[derive(Debug, Clone)]
struct Played {
    prompt: String,
    steps: Vec<Step>,
    /// The words at the end, or none when the model fails instead.
    answer: Option<String>,
}

/// An answer with calls.
#[derive(Debug, Clone)]
struct Step {
    thinking: String,
    texts: Vec<String>,
    calls: Vec<Doing>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Doing {
    Click,
    Look,
    Shell,
    Fails,
}

fn words() -> impl Strategy<Value = String> {
    "[a-zü谢]{1,6}( [a-z\n]{1,6}){0,3}"
}

fn played() -> impl Strategy<Value = Played> {
    let doing = prop_oneof![
        Just(Doing::Click),
        Just(Doing::Look),
        Just(Doing::Shell),
        Just(Doing::Fails)
    ];
    let step = (
        prop_oneof![Just(String::new()), words()],
        prop::collection::vec(words(), 0..3),
        prop::collection::vec(doing, 1..5),
    )
        .prop_map(|(thinking, texts, calls)| Step {
            thinking,
            texts,
            calls,
        });
    (
        words(),
        prop::collection::vec(step, 0..4),
        prop::option::of(words()),
    )
        .prop_map(|(prompt, steps, answer)| Played {
            prompt,
            steps,
            answer,
        })
        .prop_filter("a model that repeats itself is told so", |turn| {
            let is_same = |steps: &[Step]| steps.windows(2).all(|two| two[0].calls == two[1].calls);
            !turn.steps.windows(3).any(is_same)
        })
}

fn call(doing: Doing, index: usize) -> ToolCall {
    let (tool, input) = match doing {
        Doing::Click => ("computer", json!({"action": "click"})),
        Doing::Look => ("computer", json!({"action": "screenshot"})),
        Doing::Shell => ("bash", json!({"shell": "run", "command": "ls"})),
        Doing::Fails => ("editor", json!({"command": "view", "path": "/missing"})),
    };
    ToolCall {
        // The same names in every answer: only the order tells them apart.
        id: format!("call{index}"),
        tool: tool.to_owned(),
        input,
        checks: Vec::new(),
        problem: None,
    }
}

/// The beats of an answer, each text in several pieces.
fn beats(thinking: &str, texts: &[String], calls: &[ToolCall]) -> Vec<Beat> {
    let mut chunks = Vec::new();
    if !thinking.is_empty() {
        chunks.push(Chunk::ThinkingStart);
        chunks.extend(thinking.chars().map(|c| Chunk::Thinking(c.to_string())));
    }
    for text in texts {
        chunks.push(Chunk::TextStart);
        chunks.extend(text.split_inclusive(' ').map(|s| Chunk::Text(s.to_owned())));
    }
    chunks.extend(calls.iter().cloned().map(Chunk::Call));
    chunks.push(Chunk::End(End::Done));
    chunks.into_iter().map(Beat::Say).collect()
}

/// What should come of a step, told without the log. `n_requests` counts what the computer was
/// asked, since that is what its pictures show.
fn expected(step: &Step, n_requests: &mut usize) -> [Item; 2] {
    let calls: Vec<ToolCall> = (0..)
        .zip(&step.calls)
        .map(|(index, doing)| call(*doing, index))
        .collect();
    let last_action = step
        .calls
        .iter()
        .rposition(|doing| matches!(doing, Doing::Click | Doing::Look));
    let results = step.calls.iter().enumerate().map(|(index, doing)| {
        let (text, is_error, pictured) = match doing {
            Doing::Click => ("Clicked at (0, 0).", false, last_action == Some(index)),
            Doing::Look => ("Took a screenshot.", false, true),
            Doing::Shell => ("output", false, false),
            Doing::Fails => ("no such file", true, false),
        };
        *n_requests += 1;
        CallResult {
            call: format!("call{index}"),
            text: text.to_owned(),
            is_error,
            image: pictured.then(|| Image {
                bytes: format!("picture {n_requests}").into(),
                format: ImageFormat::Png,
            }),
            browser: None,
        }
    });
    let results = Item::Results(results.collect());
    let answer = Item::Answer {
        thinking: step.thinking.clone(),
        text: step.texts.join("\n\n"),
        calls,
        original: None,
    };
    [answer, results]
}

/// Plays the turns through the agent, as the app would run them one after the other, and gives
/// what the model is shown in one more turn.
async fn shown_after(turns: &[Played]) -> Vec<Item> {
    let reactions = turns.iter().flat_map(|turn| &turn.steps).flat_map(|step| {
        step.calls.iter().map(|doing| match doing {
            Doing::Fails => Reaction::Answer(Err(ComputerError::Failed("no such file".to_owned()))),
            Doing::Click | Doing::Look | Doing::Shell => Reaction::Do,
        })
    });
    let computer = FakeSandbox::new(reactions.collect());
    let mut stage = Stage::with_computers(Vec::new(), vec![computer]);
    stage.limits.kept_images = usize::MAX;
    stage.history.clear();
    for turn in turns {
        let mut answers: Vec<Vec<Beat>> = Vec::new();
        for step in &turn.steps {
            let calls: Vec<_> = (0..)
                .zip(&step.calls)
                .map(|(index, doing)| call(*doing, index))
                .collect();
            answers.push(beats(&step.thinking, &step.texts, &calls));
        }
        answers.push(match &turn.answer {
            Some(answer) => beats("", std::slice::from_ref(answer), &[]),
            None => vec![Beat::Fail(ModelError::Rejected("no".to_owned()))],
        });
        stage.model = FakeModel::new(answers);
        stage.log = Arc::default();
        stage.history.push(prompt(&turn.prompt));
        let id = TurnId::new();
        let report = stage.turn(id).run().await;
        assert_eq!(ending(&report).starts_with("done"), turn.answer.is_some());
        stage.history.extend(stage.log.bodies());
        stage.history.push(match &turn.answer {
            Some(_) => complete(id, Outcome::Done),
            None => failure(Some(id), "no"),
        });
    }
    stage.history.push(prompt("and now"));
    stage.model = FakeModel::new(vec![says("Well.")]);
    stage.run().await;
    stage.shown()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_log_of_a_conversation_gives_back_the_conversation(turns in prop::collection::vec(played(), 0..4)) {
        let mut items = Vec::new();
        let mut said: Vec<String> = Vec::new();
        let mut n_requests = 0;
        for turn in &turns {
            said.push(turn.prompt.clone());
            for step in &turn.steps {
                if !said.is_empty() {
                    items.push(Item::Prompt { text: std::mem::take(&mut said).join("\n\n") });
                }
                items.extend(expected(step, &mut n_requests));
            }
            if let Some(answer) = &turn.answer {
                if !said.is_empty() {
                    items.push(Item::Prompt { text: std::mem::take(&mut said).join("\n\n") });
                }
                items.push(Item::Answer { thinking: String::new(), text: answer.clone(), calls: Vec::new(), original: None });
            } else {
                said.push("[The previous turn ended early: no]".to_owned());
            }
        }
        said.push("and now".to_owned());
        items.push(Item::Prompt { text: said.join("\n\n") });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        prop_assert_eq!(runtime.block_on(shown_after(&turns)), items);
    }
}
