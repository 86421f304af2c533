//! What is streamed, in which pieces and when.

use deskhand_core::model::{Chunk, Item, ModelError};
use insta::assert_snapshot;
use proptest::prelude::*;

use crate::fixtures::{Folder, answered, prompt, result};

const TWO_STEPS: &str = r#"
steps:
  - thinking: Let me see what the shell says.
    text: I look.
    calls:
      - bash: {command: "echo '{{ prompt }}'", timeout_ms: 500}
      - bash: {shell: restart}
      - editor: {command: view, path: /tmp/a}
  - text: "It says: {{ last_result }} ({{ result.1 }})"
"#;

fn shape(chunks: &[Result<Chunk, ModelError>]) -> String {
    let lines = chunks.iter().map(|chunk| match chunk {
        Ok(Chunk::Call(call)) => format!("call {} {} {}", call.id, call.tool, call.input),
        Ok(chunk) => format!("{chunk:?}"),
        Err(error) => format!("{error:?}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_step_is_streamed_as_a_vendor_would() {
    let folder = Folder::with(TWO_STEPS);
    assert_snapshot!(shape(&folder.stream(&[prompt("hi")]).await), @r#"
    ThinkingStart
    Thinking("Let me see ")
    Thinking("what the shell ")
    Thinking("says.")
    TextStart
    Text("I look.")
    call turn1-step1-call1 bash {"command":"echo 'hi'","shell":"run","timeout_ms":500}
    call turn1-step1-call2 bash {"shell":"restart"}
    call turn1-step1-call3 editor {"command":"view","path":"/tmp/a"}
    End(Done)
    "#);
}

#[tokio::test(start_paused = true)]
async fn the_step_follows_from_the_conversation_alone() {
    let folder = Folder::with(TWO_STEPS);
    let items = [
        prompt("hi"),
        answered(),
        Item::Results(vec![result("first"), result("second")]),
    ];
    for _ in 0..2 {
        let answer = folder.answer(&items).await.unwrap();
        assert_eq!(answer.text, "It says: second (first)");
        assert_eq!(answer.calls, []);
    }
}

#[tokio::test(start_paused = true)]
async fn each_prompt_has_its_turn_and_the_last_one_repeats() {
    let folder = Folder::with("turns: [{steps: [{text: one}]}, {steps: [{text: two}]}]");
    let mut items = Vec::new();
    let mut said = Vec::new();
    for _ in 0..3 {
        items.push(prompt("again"));
        let answer = folder.answer(&items).await.unwrap();
        items.push(answer.item());
        said.push(answer.text);
    }
    assert_eq!(said, ["one", "two", "two"]);
}

#[tokio::test(start_paused = true)]
async fn parts_of_what_was_shown_are_kept_for_later_steps() {
    let folder = Folder::with(
        r#"
steps:
  - calls: [{bash: {command: cat order}}]
  - capture:
      order: {after: '"order":', until: ","}
      rest: {after: '"note":'}
    calls: [{computer: {action: type, text: "{{ order }}"}}]
  - text: "Order {{ order }} has {{ rest }}"
"#,
    );
    let order = result(r#"{"order": 1001 ,"note":"Grüße"}"#);
    let mut items = vec![prompt("go"), answered(), Item::Results(vec![order])];
    let answer = folder.answer(&items).await.unwrap();
    assert_eq!(answer.calls[0].input["text"], "1001");
    items.extend([answer.item(), Item::Results(vec![result("Typed.")])]);
    let answer = folder.answer(&items).await.unwrap();
    assert_eq!(answer.text, "Order 1001 has \"Grüße\"}");
}

#[tokio::test(start_paused = true)]
async fn what_was_not_shown_ends_the_answer_with_what_was_expected() {
    let shown = |results| [prompt("go"), answered(), Item::Results(results)];
    let told = async |step: &str, results| {
        let yaml =
            format!("steps:\n  - calls: [{{bash: {{command: x}}}}]\n  - {step}\n    text: fine");
        Folder::with(&yaml).rejection(&shown(results)).await
    };
    let failed = deskhand_core::model::CallResult {
        is_error: true,
        ..result("no such window")
    };
    assert_snapshot!(told("expect: {no_errors: true}", vec![failed]).await, @r#"test.yaml did not go as written: step 2 of turn 1 expected no errors, and was shown "no such window""#);
    assert_snapshot!(told("expect: {text_contains: [o, open]}", vec![result("closed")]).await, @r#"test.yaml did not go as written: step 2 of turn 1 expected a result that contains "open", and was shown "closed""#);
    assert_snapshot!(told("expect: {text_contains: open}", vec![]).await, @r#"test.yaml did not go as written: step 2 of turn 1 expected a result that contains "open", and was shown no text"#);
    assert_snapshot!(told("expect: {picture: true}", vec![result("ok")]).await, @"test.yaml did not go as written: step 2 of turn 1 expected a picture, and was shown none");
    assert_snapshot!(told("expect: {colour: '#112233'}", vec![result("ok")]).await, @"test.yaml did not go as written: step 2 of turn 1 expected the colour #112233 on the screen, and was shown no picture in this turn");
    assert_snapshot!(told("capture: {order: {after: 'no ', until: '.'}}", vec![result("no 7")]).await, @r#"test.yaml did not go as written: step 2 of turn 1 captures "order" and expected "." in the results, and was shown "no 7""#);
    assert_snapshot!(told("thinking: '{{ result.2 }}'", vec![result("ok")]).await, @"test.yaml did not go as written: step 2 of turn 1 has no value for {{ result.2 }}, and was shown 1 results");
}

#[tokio::test(start_paused = true)]
async fn an_error_comes_after_what_was_said() {
    let folder = Folder::with(
        "steps: [{text: I try., error: {kind: unavailable, message: the model is overloaded}}]",
    );
    assert_snapshot!(shape(&folder.stream(&[prompt("go")]).await), @r#"
    TextStart
    Text("I try.")
    Unavailable { message: "the model is overloaded", retry_after: None }
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_past_the_last_step_is_refused() {
    let folder = Folder::with("steps: [{text: done}]");
    let items = [prompt("go"), answered(), Item::Results(vec![result("")])];
    assert_snapshot!(folder.rejection(&items).await, @"test.yaml did not go as written: step 2 of turn 1 does not exist: the turn is over after step 1");
}

#[tokio::test(start_paused = true)]
async fn delays_are_kept() {
    let timed = async |yaml: &str| {
        let folder = Folder::with(yaml);
        let start = tokio::time::Instant::now();
        folder.answer(&[prompt("go")]).await.unwrap();
        start.elapsed().as_millis()
    };
    let text = "one two three four five six seven";
    assert_eq!(timed(&format!("steps: [{{text: {text}}}]")).await, 45);
    assert_eq!(
        timed(&format!("chunk_delay_ms: 100\nsteps: [{{text: {text}}}]")).await,
        300
    );
    assert_eq!(
        timed(&format!(
            "chunk_delay_ms: 100\nsteps: [{{text: {text}, chunk_delay_ms: 0, delay_ms: 2000}}]"
        ))
        .await,
        2000
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_pieces_of_a_text_are_the_text(text in "(\\PC|[ \n\t]|谢|🌿){1,200}") {
        prop_assume!(!text.trim().is_empty() && !text.contains("{{"));
        let yaml = serde_json::json!({"steps": [{"thinking": text, "text": text, "chunk_delay_ms": 0}]});
        let folder = Folder::with(&yaml.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let chunks = runtime.block_on(folder.stream(&[prompt("go")]));
        let mut whole = (String::new(), String::new());
        for chunk in chunks {
            match chunk.unwrap() {
                Chunk::Thinking(piece) => whole.0 += &piece,
                Chunk::Text(piece) => {
                    prop_assert!(piece.chars().count() <= 32);
                    whole.1 += &piece;
                }
                Chunk::ThinkingStart
                | Chunk::TextStart
                | Chunk::Call(_)
                | Chunk::Original(_)
                | Chunk::Usage(_)
                | Chunk::End(_) => {}
            }
        }
        prop_assert_eq!((&*whole.0, &*whole.1), (&*text, &*text));
    }
}

#[tokio::test(start_paused = true)]
async fn steering_moves_no_step_and_can_be_repeated() {
    let folder = Folder::with(
        r#"
steps:
  - calls: [{bash: {command: "true"}}]
  - text: "Asked {{ prompt }}, told {{ steering }}."
"#,
    );
    let steering = |text: &str| Item::Steering {
        text: text.to_owned(),
    };
    let mut items = vec![prompt("go")];
    let first = folder.answer(&items).await.unwrap();
    items.extend([
        first.item(),
        Item::Results(vec![result("")]),
        steering("left"),
    ]);
    let last = folder.answer(&items).await.unwrap();
    assert_eq!(last.text, "Asked go, told left.");
    items.extend([last.item(), steering("right")]);
    let again = folder.answer(&items).await.unwrap();
    assert_eq!(again.text, "Asked go, told right.");
}
