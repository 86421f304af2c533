//! Pages that do not play by themselves: the model, its budget and its outcomes.

use deskhand_jamie::contract::StreamState;
use deskhand_testkit::sandboxes::FakePage;

use super::{StreamWorld, settings};

const STUBBORN: &str = "https://videos.example/stubborn";

/// Returns a scenario whose model answers at once.
fn answers(text: &str) -> String {
    format!("steps:\n  - text: '{text}'\n")
}

async fn failure_of(yaml: &str) -> String {
    let world = StreamWorld::with_model(yaml, |_| {}).await;
    world.pages.put(STUBBORN, FakePage::stubborn());
    world.failure(STUBBORN).await.0
}

#[tokio::test]
async fn a_model_starts_what_the_player_does_not() {
    let yaml = r##"
price: {input: 1, output: 1}
steps:
  - calls: [{browser: {action: click, x: 10, y: 10}}]
    usage: {input: 200000, output: 0}
  - text: '{"outcome": "playing", "detail": "it plays"}'
    usage: {input: 200000, output: 0}
"##;
    let world = StreamWorld::with_model(yaml, |_| {}).await;
    world.pages.put(STUBBORN, FakePage::stubborn());
    let id = world.ask(STUBBORN).await;
    let view = world.until_streaming(&id).await;
    assert!(view.agent_iterations >= 2, "{view:?}");
    assert!(view.agent_cost_usd > 0.3, "{view:?}");
    assert!(world.n_logged("agent.action") >= 1);
    assert!(world.n_logged("agent.iteration") >= 1);
}

#[tokio::test]
async fn a_page_with_nothing_to_play_is_shown_as_it_is() {
    let yaml = answers(r#"{"outcome": "nothing_to_play"}"#);
    let world = StreamWorld::with_model(&yaml, |_| {}).await;
    let id = world.ask("https://news.example/article").await;
    world.until_streaming(&id).await;
    world.stop(&id).await.good();
}

#[tokio::test]
async fn the_word_of_a_model_is_not_enough() {
    let claimed = answers(r#"{"outcome": "playing", "detail": "done"}"#);
    assert_eq!(failure_of(&claimed).await, "ERR_AGENT_STUCK");
    let free = answers("Done! The video is complete and playing.");
    assert_eq!(failure_of(&free).await, "ERR_AGENT_STUCK");
}

#[tokio::test]
async fn outcomes_become_codes() {
    for (outcome, code) in [
        ("captcha", "ERR_CAPTCHA"),
        ("unreachable", "ERR_URL_UNREACHABLE"),
        ("login_required", "ERR_URL_UNREACHABLE"),
        ("stuck", "ERR_AGENT_STUCK"),
    ] {
        let yaml = answers(&format!(r#"{{"outcome": "{outcome}", "detail": "why"}}"#));
        assert_eq!(failure_of(&yaml).await, code, "{outcome}");
    }
}

#[tokio::test]
async fn without_a_key_only_pages_that_need_a_model_fail() {
    let world = StreamWorld::with(settings(), &[]).await;
    world.pages.put(STUBBORN, FakePage::stubborn());
    assert_eq!(world.failure(STUBBORN).await.0, "ERR_NO_API_KEY");
    let mut other = settings();
    other.model = Some("anthropic/claude-sonnet-4-5".to_owned());
    let world = StreamWorld::with(other, &[]).await;
    let id = world.ask(super::VIDEO).await;
    world.until_streaming(&id).await;
    world.stop(&id).await.good();
    world.pages.put(STUBBORN, FakePage::stubborn());
    assert_eq!(world.failure(STUBBORN).await.0, "ERR_NO_API_KEY");
}

#[tokio::test]
async fn a_model_that_fails_is_reported_as_down() {
    let yaml = "steps:\n  - error: {kind: rejected}\n";
    assert_eq!(failure_of(yaml).await, "ERR_ANTHROPIC_DOWN");
}

#[tokio::test]
async fn a_stream_has_a_budget() {
    let yaml = r##"
price: {input: 1, output: 1}
steps:
  - calls: [{bash: {command: "true"}}]
    usage: {input: 1900000, output: 0}
  - calls: [{bash: {command: "true"}}]
    usage: {input: 1900000, output: 0}
  - text: '{"outcome": "playing"}'
"##;
    let world = StreamWorld::with_model(yaml, |_| {}).await;
    world.pages.put(STUBBORN, FakePage::stubborn());
    let id = world.ask(STUBBORN).await;
    let view = world.until_over(&id).await;
    assert_eq!(view.status, StreamState::Failed);
    assert_eq!(view.error_code.unwrap().name(), "ERR_BUDGET_EXCEEDED");
    assert!(view.agent_cost_usd < 4.0, "{view:?}");
    assert_eq!(world.n_logged("agent.budget_warning"), 1);
}

#[tokio::test]
async fn a_stream_has_a_number_of_steps() {
    let call = "  - calls: [{bash: {command: \"true\"}}]\n";
    let yaml = format!("steps:\n{}  - text: done\n", call.repeat(10));
    let world = StreamWorld::with_model(&yaml, |settings| settings.most_steps = 3).await;
    world.pages.put(STUBBORN, FakePage::stubborn());
    let id = world.ask(STUBBORN).await;
    let view = world.until_over(&id).await;
    assert_eq!(view.error_code.unwrap().name(), "ERR_MAX_ITERATIONS");
    assert_eq!(view.agent_iterations, 3);
}

#[tokio::test]
async fn a_model_that_asks_a_person_is_stuck() {
    let yaml = "steps:\n  - calls: [{ask_user: {question: \"Which one?\"}}]\n  - text: done\n";
    assert_eq!(failure_of(yaml).await, "ERR_AGENT_STUCK");
}
