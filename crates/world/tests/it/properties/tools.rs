use deskhand_core::event::EventBody;
use deskhand_testkit::Session;
use deskhand_world::{World, WorldOptions};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use super::for_all;

/// A model that plays what the case has written down for it.
const NOTHING: &str = "steps:\n  - text: Nothing.\n";

const FILES: [&str; 2] = ["a.txt", "b.txt"];

/// A tool and its input.
type ToolCall = (&'static str, Value);

fn call() -> impl Strategy<Value = ToolCall> {
    let path = proptest::sample::select(FILES.to_vec())
        .prop_map(|name| format!("/home/agent/{name}"))
        .boxed();
    // Few letters, so that what is looked for is found never, once or often.
    let (text, some) = ("[ab\n]{0,8}", "[ab]{1,3}");
    let create = (path.clone(), text)
        .prop_map(|(path, text)| json!({"command": "create", "path": path, "file_text": text}));
    let replace = (path.clone(), some, "[abc]{0,3}").prop_map(|(path, old, new)| {
        json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new})
    });
    let insert = (path.clone(), 0..5_u32, some).prop_map(|(path, line, text)| {
        json!({"command": "insert", "path": path, "insert_line": line, "insert_text": text})
    });
    let other = (path.clone(), prop_oneof![Just("view"), Just("undo_edit")])
        .prop_map(|(path, command)| json!({"command": command, "path": path}));
    let editor = prop_oneof![create, replace, insert, other].prop_map(|input| ("editor", input));
    let append = (path.clone(), some).prop_map(|(path, text)| format!("printf {text} >> {path}"));
    let show = path.prop_map(|path| format!("cat {path}"));
    let shell = prop_oneof![append, show, Just("echo out; false".to_owned())]
        .prop_map(|command| ("bash", json!({"shell": "run", "command": command})));
    // Some of them are outside the screen.
    let go = (0..1500_u16, 0..800_u16)
        .prop_map(|(x, y)| json!({"action": "move", "at": {"x": x, "y": y}}));
    let look = prop_oneof![Just("cursor_position"), Just("screenshot")]
        .prop_map(|action| json!({"action": action}));
    let computer = prop_oneof![go, look].prop_map(|input| ("computer", input));
    prop_oneof![4 => editor, 2 => shell, 2 => computer]
}

struct Stage {
    world: World,
}

async fn open(options: WorldOptions) -> Stage {
    let world = World::with(options.knowing(&[("plays", NOTHING)])).await;
    Stage { world }
}

/// **Feature: computer-use-backend, Property 7: Agent compatibility preservation**
///
/// An agent and a person who use any tools, one after the other, get the same results and leave the same files. With
/// real computers, `deskhand` also holds the results against those of the original demo.
#[test]
fn tools_do_the_same_for_the_agent_and_by_hand() {
    for_all(
        // After five failures in a row, the agent would ask a person.
        &vec(call(), 1..5),
        &open,
        &async |stage: &mut Stage, calls| {
            let client = stage.world.client();
            let agent = client.new_session("scripted/plays").await;
            let hand = client.new_session("scripted/plays").await;
            let by_agent = play(&stage.world, &agent, &calls).await;
            let mut by_hand = Vec::new();
            for (tool, input) in &calls {
                by_hand.push(act(&hand, tool, input).await);
            }
            assert_eq!(by_agent, by_hand);
            for name in FILES {
                let [of_agent, of_hand] = [&agent, &hand].map(|session| {
                    let path = format!("/home/agent/{name}");
                    let files = stage.world.sandboxes();
                    files.file(session.id.parse().unwrap(), &path)
                });
                assert_eq!(of_agent, of_hand, "{name}");
            }
            agent.terminate().await;
            hand.terminate().await;
        },
    );
}

/// Has the agent make these calls, one in each step. Returns the text of each result, and true if it is an error.
async fn play(world: &World, agent: &Session, calls: &[ToolCall]) -> Vec<(String, bool)> {
    let step = |(tool, input): &ToolCall| json!({"calls": [{*tool: input}]});
    let mut steps: Vec<_> = calls.iter().map(step).collect();
    steps.push(json!({"text": "That was all."}));
    // JSON is YAML.
    let scenario = json!({"chunk_delay_ms": 0, "steps": steps});
    world.set_scenario("plays", &scenario.to_string());
    agent.prompt("play").await;
    let end = agent.turn_end(0).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let events = agent.events(0).await;
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
