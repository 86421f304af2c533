mod model;

use deskhand_testkit::{Server, ServerOptions, Session};
use proptest::collection::vec;
use serde_json::{Value, json};

use self::model::{Expected, Model, tool};
use super::{for_all, knowing};
use crate::world::serve_with;

/// A model that plays what the case has written down for it.
const NOTHING: &str = "steps:\n  - text: Nothing.\n";

struct World {
    server: Server,
    /// Used by the agent.
    agent: Session,
    /// Used by hand.
    hand: Session,
    n_cases: u32,
}

async fn open(options: ServerOptions) -> World {
    let server = serve_with(knowing(options, &[("plays", NOTHING)]));
    let client = server.client();
    World {
        agent: client.new_session("scripted/plays").await,
        hand: client.new_session("scripted/plays").await,
        server,
        n_cases: 0,
    }
}

/// **Feature: computer-use-backend, Property 7: Agent compatibility preservation**
///
/// Any tools, used one after the other, do what those of the original demo do: the shell keeps its
/// state, an edit that is not clear changes nothing, the pointer is where it was moved. An agent
/// and a person who use them get the same results and leave the same files.
#[test]
fn tools_do_the_same_for_the_agent_by_hand_and_in_the_model() {
    for_all(
        &vec(tool(), 1..8),
        &open,
        &async |world: &mut World, tools| {
            world.n_cases += 1;
            let folder = format!("/home/agent/case-{}", world.n_cases);
            let fresh = format!("rm -rf {folder}; mkdir {folder}; cd {folder}; unset kept");
            for session in [&world.agent, &world.hand] {
                assert_eq!(session.shell(&fresh).await, "[no output]");
            }
            let calls: Vec<_> = tools.iter().map(|tool| tool.call(&folder)).collect();
            let by_agent = play(world, &calls).await;
            let mut by_hand = Vec::new();
            for (tool, input) in &calls {
                by_hand.push(act(&world.hand, tool, input).await);
            }
            assert_eq!(by_agent, by_hand);

            let mut model = Model::new();
            for (tool, (text, is_error)) in tools.iter().zip(&by_hand) {
                match model.apply(tool) {
                    Expected::Text(expected) => {
                        assert_eq!(
                            (text.trim_end(), *is_error),
                            (&*expected, false),
                            "{tool:?}"
                        );
                    }
                    Expected::Lines(lines) => {
                        let holds = lines.iter().all(|line| text.contains(line));
                        assert!(holds && !is_error, "{tool:?}: {text}");
                    }
                    Expected::Done => assert!(!is_error, "{tool:?}: {text}"),
                    Expected::Refusal => assert!(is_error, "{tool:?}: {text}"),
                }
            }
            for session in [&world.agent, &world.hand] {
                let home = world.server.home_of(session);
                let folder = home.join(format!("case-{}", world.n_cases));
                for (name, expected) in model.files() {
                    let found = std::fs::read_to_string(folder.join(name)).ok();
                    assert_eq!(found, expected, "{name}");
                }
            }
        },
    );
}

/// Has the agent make these calls, one in each step, and answers what came of each.
async fn play(world: &World, calls: &[(&'static str, Value)]) -> Vec<(String, bool)> {
    let step = |(tool, input): &(&str, Value)| json!({"calls": [{*tool: input}]});
    let mut steps: Vec<_> = calls.iter().map(step).collect();
    steps.push(json!({"text": "That was all."}));
    // JSON is YAML.
    let scenario = json!({"chunk_delay_ms": 0, "steps": steps}).to_string();
    let path = world.server.home().join("scenarios/plays.yaml");
    std::fs::write(path, scenario).unwrap();
    let newest = world.agent.show().await["last_seq"].as_u64().unwrap();
    world.agent.prompt("play").await;
    let end = world.agent.turn_end(newest).await;
    assert!(
        matches!(end.body, deskhand_core::event::EventBody::Complete(_)),
        "{end:?}"
    );
    let events = world.agent.events(newest).await;
    let results = events
        .iter()
        .filter(|event| event["type"] == "tool_result" && event["data"]["partial"] != true);
    results.map(|event| result(&event["data"])).collect()
}

/// Does one thing by hand. What makes no sense is refused before anything is done.
async fn act(session: &Session, tool: &str, input: &Value) -> (String, bool) {
    let body = json!({"tool": tool, "input": input});
    let answer = session.client.post(&session.path("/actions"), body).await;
    if answer.status == 400 {
        assert_eq!(answer.code(), "bad_action");
        let message = answer.json()["error"]["message"].take();
        return (message.as_str().unwrap().to_owned(), true);
    }
    result(&answer.good())
}

fn result(done: &Value) -> (String, bool) {
    let text = done["text"].as_str().unwrap().to_owned();
    (text, done["is_error"].as_bool().unwrap())
}
