//! Playing the part of vendors: how they look at the screen, and what goes wrong with them.

use deskhand_core::{
    action::{Point, ScreenSize},
    model::{Chunk, End, Item, Model, ModelError, Models, Pictures},
};
use futures::StreamExt;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    fixtures::{Folder, answered, picture, prompt, request, result, with_image},
    wire::Wire,
};

const GREEN: [u8; 3] = [0x1f, 0x7a, 0x4d];
const LARGE: ScreenSize = ScreenSize {
    width: 2560,
    height: 1600,
};

/// What each answer of one model to the same items ends with, and the words before it.
async fn tries(yaml: &str, items: &[Item], n_tries: usize) -> String {
    let folder = Folder::with(yaml);
    let model = folder.models().model("scripted/test").unwrap();
    let mut told = Vec::new();
    for _ in 0..n_tries {
        told.push(heard(&*model, items).await);
    }
    told.join("\n")
}

async fn heard(model: &dyn Model, items: &[Item]) -> String {
    let chunks: Vec<_> = model.stream(request(items)).collect().await;
    let parts = chunks.into_iter().filter_map(|chunk| match chunk {
        Ok(Chunk::ThinkingStart | Chunk::TextStart | Chunk::Original(_)) => None,
        Ok(Chunk::Thinking(piece)) => Some(format!("({piece})")),
        Ok(Chunk::Text(piece)) => Some(piece),
        Ok(Chunk::Call(call)) => Some(format!("[{}]", call.id)),
        Ok(Chunk::Usage(usage)) => Some(format!("{} tokens", usage.tokens())),
        Ok(Chunk::End(End::Done)) => Some("DONE".to_owned()),
        Ok(Chunk::End(End::Unfinished)) => Some("UNFINISHED".to_owned()),
        Ok(Chunk::End(End::Aside)) => Some("ASIDE".to_owned()),
        Err(error) => Some(format!("{error:?}")),
    });
    parts.collect::<Vec<_>>().join("|")
}

fn cut_off(text: &str) -> Item {
    let text = text.to_owned();
    Item::CutOff { text }
}

/// The inputs of the calls of the step that a large screen with a green spot is shown to.
async fn inputs(plays: &str, calls: &str) -> Vec<(Value, Option<String>)> {
    let folder = Folder::with(&format!(
        "plays: {plays}\nsteps:\n  - calls: [{{computer: {{action: screenshot}}}}]\n  - calls: {calls}\n  - text: done"
    ));
    let model = folder.models().model("scripted/test").unwrap();
    let shown = model.shown(LARGE);
    let image = picture(
        shown.width.into(),
        shown.height.into(),
        &[(GREEN, [100, 300, 11, 11])],
    );
    let items = [
        prompt("go"),
        answered(),
        Item::Results(vec![with_image(image)]),
    ];
    let mut request = request(&items);
    (request.screen, request.shown) = (LARGE, shown);
    let chunks = model.stream(request).collect::<Vec<_>>().await;
    let calls = chunks.into_iter().filter_map(|chunk| match chunk.unwrap() {
        Chunk::Call(call) => Some((call.input, call.problem)),
        Chunk::ThinkingStart
        | Chunk::Thinking(_)
        | Chunk::TextStart
        | Chunk::Text(_)
        | Chunk::Original(_)
        | Chunk::Usage(_)
        | Chunk::End(_) => None,
    });
    calls.collect()
}

#[tokio::test]
async fn a_played_model_looks_at_screens_as_the_vendors_own_does() {
    let token = [("AWS_BEARER_TOKEN_BEDROCK", "t"), ("AWS_REGION", "eu")];
    let wire = Wire::with([], &token).await;
    let at = Point { x: 1900, y: 333 };
    for name in [
        "anthropic/claude-opus-5-5",
        "anthropic/claude-sonnet-4-5",
        "bedrock/anthropic.claude-opus-5-5",
        "openai/gpt-6.1-sol",
        "openai/computer-use-preview",
        "gemini/gemini-3.5-flash",
        "openrouter/qwen/qwen3-vl",
    ] {
        let folder = Folder::with(&format!("plays: {name}\nsteps: [{{text: hi}}]"));
        let played = folder.models().model("scripted/test").unwrap();
        let own = wire.models().model(name).unwrap();
        let seen = |model: &dyn Model| {
            (
                model.shown(LARGE),
                model.place(at, LARGE),
                model.pictures(),
                model.price(),
            )
        };
        assert_eq!(seen(&*played), seen(&*own), "{name}");
    }
}

#[test]
fn roles_differ_and_a_price_of_ones_own_goes_first() {
    let model = |header: &str| {
        let folder = Folder::with(&format!("{header}\nsteps: [{{text: hi}}]"));
        folder.models().model("scripted/test").unwrap()
    };
    let at = Point { x: 1280, y: 800 };
    let gemini = model("plays: gemini/gemini-3.5-flash");
    assert_eq!(gemini.place(at, LARGE), Point { x: 500, y: 500 });
    assert_eq!(gemini.price().unwrap().output, 9.0);
    let opus = model("plays: anthropic/claude-opus-5-5\nprice: {input: 1}");
    assert_eq!(opus.pictures(), Pictures::All);
    assert_eq!(opus.price().unwrap().output, 1.0);
    let nobody = model("chunk_delay_ms: 0");
    assert_eq!(nobody.place(at, LARGE), at);
    assert_eq!(nobody.shown(LARGE), LARGE);
}

#[tokio::test]
async fn places_are_said_as_the_played_model_says_them() {
    let calls = r##"[{computer: {action: click, at: {find: "#1f7a4d"}}}, {computer: {action: click, at: {x: 500, y: 999}}}]"##;
    // Its pictures have 1440×900 pixels, and it counts to a thousand.
    let gemini = inputs("gemini/gemini-3.5-flash", calls).await;
    let places: Vec<_> = gemini.iter().map(|(input, _)| &input["at"]).collect();
    assert_eq!(
        places,
        [&json!({"x": 188, "y": 543}), &json!({"x": 1281, "y": 1599})]
    );
    // The same pictures, and it counts in their pixels.
    let chat = inputs("ollama/qwen3", calls).await;
    assert_eq!(chat[0].0["at"], json!({"x": 187, "y": 543}));
    assert_eq!(chat[1].0["at"], json!({"x": 500, "y": 999}));
    let told = chat[1].1.as_deref();
    assert_eq!(told, Some("(500, 999) is outside the 1440×900 picture"));
}

#[tokio::test]
async fn every_action_with_a_place_is_moved_and_no_other() {
    let calls = r#"[{computer: {action: drag, path: [{x: 0, y: 0}, {x: 999, y: 500}]}},
        {computer: {action: scroll, at: {x: 250, y: 250}, dy: 3}}, {computer: {action: scroll, dy: 3}},
        {computer: {action: zoom, region: {x0: 0, y0: 0, x1: 500, y1: 1000}}},
        {computer: {action: move, at: {x: 1001, y: 3}}}, {computer: {action: type, text: "x: 5"}}, {bash: {command: "echo 5"}}]"#;
    let inputs = inputs("gemini/gemini-3.6-flash", calls).await;
    let told = inputs.iter().map(|(input, problem)| match problem {
        None => input.to_string(),
        Some(problem) => format!("{input} {problem}"),
    });
    assert_snapshot!(told.collect::<Vec<_>>().join("\n"), @r#"
    {"action":"drag","path":[{"x":1,"y":0},{"x":2558,"y":800}]}
    {"action":"scroll","at":{"x":641,"y":400},"dx":0,"dy":3}
    {"action":"scroll","dx":0,"dy":3}
    {"action":"zoom","region":{"x0":0,"x1":1280,"y0":0,"y1":1600}}
    {"action":"move","at":{"x":1001,"y":3}} (1001, 3) is outside the 1000×1000 picture
    {"action":"type","text":"x: 5"}
    {"command":"echo 5","shell":"run"}
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_vendor_is_overloaded_as_often_as_written_and_then_answers() {
    let yaml = "steps: [{thinking: Hm., text: Hi., error: [{kind: overloaded, times: 2, after_ms: 50}, {kind: rate_limited, times: 1}, {kind: server_error, message: down, times: 1}]}]";
    assert_snapshot!(tries(yaml, &[prompt("go")], 6).await, @r#"
    Unavailable { message: "it is overloaded", retry_after: Some(50ms) }
    Unavailable { message: "it is overloaded", retry_after: Some(50ms) }
    Unavailable { message: "it was called too often", retry_after: None }
    Unavailable { message: "down", retry_after: None }
    (Hm.)|Hi.|DONE
    (Hm.)|Hi.|DONE
    "#);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_broke_off_goes_on_where_it_was() {
    let yaml = "steps: [{thinking: Hm., text: One two three., calls: [{bash: {command: ls}}], error: {kind: unavailable, after_chars: 5, times: 2}}, {text: done}]";
    let folder = Folder::with(yaml);
    let model = folder.models().model("scripted/test").unwrap();
    let mut items = vec![prompt("go")];
    let mut told = vec![heard(&*model, &items).await];
    items.push(cut_off("One t"));
    told.push(heard(&*model, &items).await);
    items.push(cut_off("wo th"));
    told.push(heard(&*model, &items).await);
    assert_snapshot!(told.join("\n"), @r#"
    (Hm.)|One t|Unavailable { message: "its answer ended early", retry_after: None }
    (Hm.)|wo th|Unavailable { message: "its answer ended early", retry_after: None }
    (Hm.)|ree.|[turn1-step1-call1]|DONE
    "#);
    // What another model said is nothing to go on from.
    let other = [prompt("go"), cut_off("Uno")];
    assert_snapshot!(heard(&*model, &other).await, @"(Hm.)|One two three.|[turn1-step1-call1]|DONE");
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_empty_or_too_long_are_whole() {
    let yaml = "steps: [{thinking: Hm., text: Hi., usage: {output: 7}, error: [{kind: empty, times: 1}, {kind: cut_off, times: 1}]}]";
    assert_snapshot!(tries(yaml, &[prompt("go")], 3).await, @"
    7 tokens|DONE
    (Hm.)|7 tokens|UNFINISHED
    (Hm.)|Hi.|7 tokens|DONE
    ");
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_answer_is_followed_by_the_next_step() {
    let yaml = "steps: [{text: One, unfinished: true}, {calls: [{bash: {command: ls}}], unfinished: true}, {text: two.}]";
    let said = Item::Answer {
        thinking: String::new(),
        text: "One".to_owned(),
        calls: Vec::new(),
        original: None,
    };
    let told = |text: &str| Item::Steering {
        text: text.to_owned(),
    };
    let mut items = vec![prompt("go")];
    assert_snapshot!(tries(yaml, &items, 2).await, @"
    One|UNFINISHED
    One|UNFINISHED
    ");
    items.extend([said, told("Go on.")]);
    assert_snapshot!(tries(yaml, &items, 1).await, @"[turn1-step2-call1]|UNFINISHED");
    items.extend([answered(), Item::Results(vec![result("a")])]);
    assert_snapshot!(tries(yaml, &items, 1).await, @"two.|DONE");
}

#[tokio::test(start_paused = true)]
async fn what_ends_a_turn_is_told_again_and_again() {
    let refused = "steps: [{text: I would rather not., error: {kind: refused, after_chars: 7}}]";
    assert_snapshot!(tries(refused, &[prompt("go")], 2).await, @r#"
    I would|Refused("the model refused to go on")
    I would|Refused("the model refused to go on")
    "#);
    let rejected = "steps: [{error: {kind: rejected}}]";
    assert_snapshot!(tries(rejected, &[prompt("go")], 2).await, @r#"
    Rejected("it answered 400 Bad Request")
    Rejected("it answered 400 Bad Request")
    "#);
}

#[tokio::test(start_paused = true)]
async fn of_two_calls_one_may_want_a_yes() {
    let folder = Folder::with(
        "steps: [{safety_check: first, calls: [{bash: {command: a}}, {bash: {command: b}, safety_check: second}]}, {text: a}]",
    );
    let answer = folder.answer(&[prompt("go")]).await.unwrap();
    let checks = answer.calls.iter().map(|call| {
        let prompts = call.checks.iter().map(|check| check.prompt.as_str());
        prompts.collect::<Vec<_>>()
    });
    assert_eq!(checks.collect::<Vec<_>>(), [["first"], ["second"]]);
}

/// Each instance of a model begins anew, as a restart of the server makes it.
#[tokio::test(start_paused = true)]
async fn a_model_of_the_next_turn_knows_nothing_of_failures() {
    let folder = Folder::with("steps: [{text: Hi., error: {kind: overloaded, times: 1}}]");
    for _ in 0..2 {
        let told = folder.answer(&[prompt("go")]).await;
        assert!(
            matches!(told, Err(ModelError::Unavailable { .. })),
            "{told:?}"
        );
    }
}
