//! What agents ask people: every form and kind, who may answer, and what becomes of it.

use std::time::Duration;

use deskhand_core::event::{EventBody, Outcome};
use deskhand_testkit::{Client, Session, sandboxes::FakeCommand};
use deskhand_world::{Ending, World};
use serde_json::{Value, json};

/// Asks once and says what it was told.
fn asking(question: &str) -> String {
    format!(
        r#"
steps:
  - text: "I have to ask."
    calls:
      - ask_user: {question}
  - text: "Told: {{{{ result.1 }}}}"
"#
    )
}

/// Wants to remove something.
const RISKY: &str = r#"
steps:
  - text: "I tidy up."
    calls:
      - bash: {command: "rm -rf ~/rubbish && echo tidy || git push"}
  - text: "Result: {{ result.1 }}"
"#;

/// A world in which [`RISKY`] can be done.
async fn with_rubbish(scenarios: &[(&str, &str)]) -> World {
    let world = World::start(scenarios).await;
    let tidy = FakeCommand {
        output: "tidy\n".to_owned(),
        ..FakeCommand::default()
    };
    let sandboxes = world.sandboxes();
    sandboxes.on_command("rm -rf ~/rubbish && echo tidy || git push", tidy);
    world
}

async fn decision_of(session: &Session, after: u64) -> (Value, u64) {
    let raised = session.wait_for(after, |body| matches!(body, EventBody::Decision(_)));
    let seq = raised.await.seq;
    let open = session.client.get(&session.path("/decisions")).await.good();
    (open["decisions"][0].clone(), seq)
}

fn answer_path(session: &Session, decision: &Value) -> String {
    let id = decision["id"].as_str().unwrap();
    session.path(&format!("/decisions/{id}/answer"))
}

async fn last_words(session: &Session, after: u64) -> (String, u64) {
    let end = session.turn_end(after).await;
    assert!(matches!(end.body, EventBody::Complete(_)), "{end:?}");
    let messages = session.messages().await;
    let words = messages.last().unwrap()["content"].as_str().unwrap();
    (words.to_owned(), end.seq)
}

/// Starts a session with this scenario and sends it to work.
async fn at_work(world: &World, scenario: &str) -> Session {
    let model = format!("scripted/{scenario}");
    let session = world.client().new_session(&model).await;
    session.prompt("go").await;
    session
}

#[tokio::test]
async fn every_form_is_answered_in_its_own_way() {
    let colours = r#"choices: [{value: r, label: Red}, {value: g, label: Green}, blue]"#;
    let scenarios = [
        ("text", asking("{question: \"Which colour?\"}")),
        (
            "one",
            asking(&format!("{{question: Which?, form: choices, {colours}}}")),
        ),
        (
            "several",
            asking(&format!(
                "{{question: Which?, form: choices, several: true, {colours}}}"
            )),
        ),
        ("yes", asking("{question: Really?, form: yes_no}")),
        ("file", asking("{question: Which file?, form: file}")),
    ];
    let named: Vec<_> = scenarios
        .iter()
        .map(|(name, yaml)| (*name, yaml.as_str()))
        .collect();
    let world = World::start(&named).await;
    let client = world.client();
    let good = json!({"file": {"name": "list.csv", "base64": "YSxiCgD/"}});
    for (scenario, bad, answer, told) in [
        (
            "text",
            json!({"text": " "}),
            json!({"text": "blue"}),
            "blue",
        ),
        (
            "one",
            json!({"choices": ["r", "g"]}),
            json!({"choices": ["g"]}),
            "g",
        ),
        (
            "several",
            json!({"choices": ["green"]}),
            json!({"choices": ["blue", "r"]}),
            "r, blue",
        ),
        ("yes", json!({"choices": []}), json!({"yes": true}), "yes"),
        (
            "file",
            json!({"file": {"name": "a/b", "base64": ""}}),
            good,
            "/home/agent/answers/",
        ),
    ] {
        let session = at_work(&world, scenario).await;
        let (decision, seq) = decision_of(&session, 0).await;
        assert_eq!(decision["kind"], "question");
        assert_eq!(session.show().await["state"], "waiting");
        let path = answer_path(&session, &decision);
        let refused = client.post(&path, bad).await;
        let refused = (refused.status, refused.code());
        assert_eq!(refused, (422, "bad_answer".to_owned()), "{scenario}");
        for malformed in [
            json!({}),
            json!({"text": "a", "yes": true}),
            json!({"x": 1}),
        ] {
            let answer = client.post(&path, malformed.clone()).await;
            assert_eq!(answer.status, 400, "{scenario} {malformed}");
        }
        let answered = client.post(&path, answer).await.good();
        assert_eq!(answered["state"], "answered");
        assert_eq!(answered["answered_by_name"], "admin");
        let (words, _) = last_words(&session, seq).await;
        assert!(words.starts_with(&format!("Told: {told}")), "{words}");
        if scenario == "file" {
            let path = words.strip_prefix("Told: ").unwrap();
            let kept = world.sandboxes().file(session.id.parse().unwrap(), path);
            assert_eq!(kept.unwrap(), &b"a,b\n\0\xff"[..]);
        }
        session.terminate().await;
    }
}

#[tokio::test]
async fn a_question_takes_another_answer_than_those_that_it_offers() {
    let one = asking("{question: Which?, form: choices, choices: [red, green]}");
    let yes = asking("{question: Really?, form: yes_no}");
    let world = World::start(&[("one", &one), ("yes", &yes)]).await;
    for scenario in ["one", "yes"] {
        let session = at_work(&world, scenario).await;
        let (decision, seq) = decision_of(&session, 0).await;
        let path = answer_path(&session, &decision);
        let empty = world.client().post(&path, json!({"text": " "})).await;
        assert_eq!((empty.status, &*empty.code()), (422, "bad_answer"));
        let answer = json!({"text": "only the blue one"});
        let answered = world.client().post(&path, answer.clone()).await.good();
        assert_eq!(answered["answer"], answer);
        let (words, _) = last_words(&session, seq).await;
        assert!(words.ends_with("but wrote: only the blue one"), "{words}");
    }
}

#[tokio::test]
async fn rules_come_before_the_mode_and_new_sessions_begin_with_the_users_own() {
    let world = with_rubbish(&[("risky", RISKY)]).await;
    let client = world.client();
    let refuse = json!({"mode": "never", "rules": [
        {"tool": "bash", "pattern": "rm *", "then": "refuse"},
    ]});
    let body = json!({"approvals": refuse});
    client.patch("/api/settings", body).await.good();
    assert_eq!(
        client.get("/api/settings").await.good()["approvals"],
        refuse
    );
    let session = at_work(&world, "risky").await;
    let (words, end) = last_words(&session, 0).await;
    assert!(words.contains("the approval policy"), "{words}");

    let never = json!({"approvals": {"mode": "never"}});
    let changed = client.patch(&session.path(""), never).await.good();
    assert_eq!(changed["approvals"], json!({"mode": "never", "rules": []}));
    session.prompt("again").await;
    let (words, end) = last_words(&session, end).await;
    assert_eq!(words, "Result: tidy", "nobody was asked");

    let always = json!({"approvals": {"mode": "always", "rules": [
        {"tool": "bash", "pattern": "rm*", "then": "allow"},
        {"tool": "bash", "pattern": "echo *", "then": "allow"},
    ]}});
    client.patch(&session.path(""), always).await.good();
    session.prompt("once more").await;
    let (decision, _) = decision_of(&session, end).await;
    assert_eq!(
        decision["kind"], "approval",
        "one rule must allow all of it"
    );

    for bad in [
        json!({"approvals": {"mode": "sometimes"}}),
        json!({"approvals": {"rules": [{"tool": "bash", "pattern": "", "then": "ask"}]}}),
        json!({"approvals": {"rules": [{"tool": "bash"}]}}),
        json!({}),
    ] {
        assert_eq!(
            client.patch(&session.path(""), bad.clone()).await.status,
            400
        );
        assert_eq!(client.patch("/api/settings", bad).await.status, 400);
    }
}

#[tokio::test]
async fn safety_checks_and_budgets_are_asked_about_before_the_call() {
    let step = |check: &str| {
        format!(
            "steps:\n  - calls: [{{bash: {{command: echo done}}}}]\n    {check}: Look first.\n  - text: \"Result: {{{{ result.1 }}}}\"\n"
        )
    };
    let (safety, budget) = (step("safety_check"), step("budget"));
    let world = World::start(&[("safety", &safety), ("budget", &budget)]).await;
    let client = world.client();
    for (scenario, kind) in [("safety", "safety_check"), ("budget", "budget")] {
        for yes in [true, false] {
            let session = at_work(&world, scenario).await;
            let (decision, seq) = decision_of(&session, 0).await;
            assert_eq!(
                (&decision["kind"], &decision["prompt"]),
                (&json!(kind), &json!("Look first."))
            );
            let path = answer_path(&session, &decision);
            client.post(&path, json!({"yes": yes})).await.good();
            let end = session.turn_end(seq).await;
            match (end.body, yes, kind) {
                (EventBody::Complete(complete), false, "budget") => {
                    assert_eq!(complete.outcome, Outcome::Enough);
                }
                (EventBody::Complete(_), ..) => {
                    let (words, _) = last_words(&session, seq).await;
                    let expected = if yes {
                        "Result: done"
                    } else {
                        "Result: Not executed"
                    };
                    assert!(words.starts_with(expected), "{words}");
                }
                (other, ..) => panic!("{other:?}"),
            }
            session.terminate().await;
        }
    }
}

#[tokio::test]
async fn the_first_answer_wins_and_later_ones_are_told_who_and_when() {
    let question = asking("{question: Who is first?}");
    let world = World::start(&[("race", &question)]).await;
    let client = world.client();
    let bob = client.new_user("bob").await;
    let session = client.new_session("scripted/race").await;
    let right = json!({"right": "suggest"});
    client.put(&session.path("/people/bob"), right).await.good();
    let mut after = 0;
    for round in 0..8 {
        session.prompt("go").await;
        let (decision, seq) = decision_of(&session, after).await;
        let path = answer_path(&session, &decision);
        let give = |who: &Client, name: &str| {
            let (who, path, text) = (who.clone(), path.clone(), name.to_owned());
            async move { who.post(&path, json!({"text": text})).await }
        };
        // Who is asked for first changes, so that both have their chances.
        let (admins, bobs) = if round % 2 == 0 {
            tokio::join!(give(&client, "admin"), give(&bob, "bob"))
        } else {
            let (bobs, admins) = tokio::join!(give(&bob, "bob"), give(&client, "admin"));
            (admins, bobs)
        };
        let (winner, late) = match (admins.status, bobs.status) {
            (200, 409) => ("admin", bobs),
            (409, 200) => ("bob", admins),
            other => panic!("{other:?}"),
        };
        assert_eq!(late.code(), "settled");
        let told = late.json()["error"].clone();
        let message = told["message"].as_str().unwrap();
        let when = told["details"]["settled_at"].as_str().unwrap();
        assert_eq!(message, format!("{winner} answered this at {when}"));
        assert_eq!(told["details"]["answered_by_name"], winner);
        let (words, end) = last_words(&session, seq).await;
        assert_eq!(words, format!("Told: {winner}"));
        after = end;
    }
}

#[tokio::test]
async fn who_may_answer_depends_on_what_is_asked() {
    let question = asking("{question: \"?\"}");
    let world = with_rubbish(&[("asks", &question), ("risky", RISKY)]).await;
    let client = world.client();
    let bob = client.new_user("bob").await;
    let eve = client.new_user("eve").await;
    let inbox = async |who: &Client| {
        let page = who.get("/api/decisions").await.good();
        page["decisions"].as_array().unwrap().len()
    };
    for (scenario, answer, needed) in [
        ("asks", json!({"text": "x"}), "suggest"),
        ("risky", json!({"yes": true}), "drive"),
    ] {
        let session = at_work(&world, scenario).await;
        let (decision, _) = decision_of(&session, 0).await;
        let path = answer_path(&session, &decision);
        assert_eq!(inbox(&client).await, 1);
        let stranger = eve.post(&path, answer.clone()).await;
        assert_eq!((stranger.status, &*stranger.code()), (404, "no_session"));
        assert_eq!(eve.get(&session.path("/decisions")).await.status, 404);
        for right in ["view", "suggest", "drive"] {
            let body = json!({"right": right});
            client.put(&session.path("/people/bob"), body).await.good();
            assert_eq!(bob.get(&session.path("/decisions")).await.status, 200);
            if right == needed {
                break;
            }
            assert_eq!(inbox(&bob).await, 0, "{scenario} {right}");
            let refused = bob.post(&path, answer.clone()).await;
            assert_eq!((refused.status, &*refused.code()), (403, "not_allowed"));
        }
        assert_eq!(inbox(&bob).await, 1);
        assert_eq!(inbox(&eve).await, 0);
        let nothing = path.replace(decision["id"].as_str().unwrap(), &session.id);
        let unknown = bob.post(&nothing, answer.clone()).await;
        assert_eq!((unknown.status, &*unknown.code()), (404, "no_decision"));
        bob.post(&path, answer).await.good();
        assert_eq!(inbox(&client).await, 0);
        let answered = client.get("/api/decisions?state=answered").await.good();
        assert_eq!(answered["decisions"][0]["answered_by_name"], "bob");
        session.terminate().await;
    }
}

#[tokio::test]
async fn what_nobody_answers_expires_with_its_default_or_without() {
    let with = asking("{question: \"?\", form: yes_no, default: true, expires_in_s: 60}");
    let without = asking("{question: \"?\", expires_in_s: 60}");
    let world = World::start(&[("with", &with), ("without", &without)]).await;
    for (scenario, expected) in [
        (
            "with",
            "Told: yes\n[Nobody answered in time; this is the default.]",
        ),
        (
            "without",
            "Told: Nobody answered in time, and there is no default.",
        ),
    ] {
        let session = at_work(&world, scenario).await;
        decision_of(&session, 0).await;
        world.pass(Duration::from_secs(50)).await;
        assert_eq!(session.show().await["state"], "waiting");
        world.pass(Duration::from_secs(10)).await;
        let (words, _) = last_words(&session, 0).await;
        assert_eq!(words, expected);
        let path = session.path("/decisions?state=all");
        let all = session.client.get(&path).await.good();
        let decision = all["decisions"][0].clone();
        assert_eq!(decision["state"], "expired");
        let answer = json!({"yes": true});
        let late = world
            .client()
            .post(&answer_path(&session, &decision), answer)
            .await;
        assert_eq!(late.status, 409);
        let message = late.json()["error"]["message"].clone();
        assert!(message.as_str().unwrap().starts_with("this expired at "));
    }
}

/// Releases the message that a stop held back, and returns the question of its turn.
async fn decision_after_release(session: &Session, after: u64) -> (Value, u64) {
    let queue = session.client.get(&session.path("/queue")).await.good();
    let id = queue["messages"][0]["id"].as_str().unwrap();
    let path = session.path(&format!("/queue/{id}"));
    let released = session.client.patch(&path, json!({"held": false})).await;
    released.good();
    decision_of(session, after).await
}

#[tokio::test]
async fn stopping_interrupting_and_ending_withdraw_what_was_asked() {
    let question = asking("{question: \"?\"}");
    let world = World::start(&[("asks", &question)]).await;
    let client = world.client();
    let session = at_work(&world, "asks").await;
    let (stopped, seq) = decision_of(&session, 0).await;
    // Messages wait meanwhile as they do while the agent works.
    session.send("later", "queue").await.good();
    assert_eq!(
        client.post(&session.path("/stop"), json!({})).await.status,
        202
    );
    let end = session.turn_end(seq).await;
    let EventBody::Complete(complete) = end.body else {
        panic!("{end:?}");
    };
    assert_eq!(complete.outcome, Outcome::Stopped);
    let path = answer_path(&session, &stopped);
    let late = client.post(&path, json!({"text": "x"})).await;
    assert_eq!((late.status, &*late.code()), (409, "settled"));
    assert_eq!(late.json()["error"]["details"]["state"], "withdrawn");

    let (_, seq) = decision_after_release(&session, end.seq).await;
    session.send("now", "interrupt").await.good();
    let end = session.turn_end(seq).await;
    let (_, _) = decision_of(&session, end.seq).await;
    session.terminate().await;
    let all = client
        .get(&session.path("/decisions?state=withdrawn"))
        .await;
    assert_eq!(all.good()["decisions"].as_array().unwrap().len(), 3);
    assert_eq!(
        client.get("/api/decisions").await.good()["decisions"],
        json!([])
    );
}

#[tokio::test]
async fn a_message_that_steers_is_shown_after_the_answer() {
    let steered = r#"
steps:
  - text: "I ask."
    calls:
      - ask_user: {question: "?"}
  - text: "Told {{ result.1 }} and {{ steering }}."
"#;
    let world = World::start(&[("steered", steered)]).await;
    let session = at_work(&world, "steered").await;
    let (decision, seq) = decision_of(&session, 0).await;
    session.send("hurry", "steer").await.good();
    let path = answer_path(&session, &decision);
    session
        .client
        .post(&path, json!({"text": "x"}))
        .await
        .good();
    let (words, _) = last_words(&session, seq).await;
    assert_eq!(words, "Told x and hurry.");
}

#[tokio::test]
async fn what_expires_while_no_server_runs_is_settled_at_the_next_start() {
    let question = asking("{question: \"?\", default: x, expires_in_s: 60}");
    let mut world = World::start(&[("asks", &question)]).await;
    let session = at_work(&world, "asks").await;
    decision_of(&session, 0).await;
    world.end(Ending::Crash).await;
    world.pass(Duration::from_secs(60)).await;
    world.open().await;
    let (words, _) = last_words(&session, 0).await;
    assert!(words.starts_with("Told: x\n[Nobody answered"), "{words}");
}
