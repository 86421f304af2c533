//! The calls of one answer: their order in the log, where they stop, and which of them look.

use deskhand_core::{
    event::EventBody,
    model::{Item, Pictures},
    sandbox::{Act, ComputerError, SessionReply, SessionRequest},
    shell::ShellEnding,
};
use insta::assert_snapshot;
use serde_json::json;

use crate::{
    fakes::{FakeSandbox, Reaction, printed},
    stage::{Stage, calls, click, ending, runs, says, screenshot, types, views},
};

#[tokio::test(start_paused = true)]
async fn uses_stand_together_before_their_results() {
    let stage = Stage::new(vec![
        calls(vec![click(1, 2), types("ü"), runs("ls"), views("/a")]),
        calls(vec![screenshot()]),
        says("Done."),
    ]);
    let report = stage.run().await;
    assert_snapshot!(ending(&report), @"done: Done. (steps: 3)");
    assert_snapshot!(stage.story(), @r#"
    use a computer {"action":"click","at":{"x":1,"y":2}}
    use b computer {"action":"type","text":"ü"}
    use c bash {"command":"ls","shell":"run"}
    use d editor {"command":"view","path":"/a"}
    whole 1
    -
    result a "Clicked at (1, 2)."
    -
    result b "Typed 1 character."
    screenshot b
    -
    result c "output"
    -
    result d "Edited."
    -
    use a computer {"action":"screenshot"}
    whole 2
    -
    result a "Took a screenshot."
    screenshot a
    -
    text 0 "Done."
    whole 3
    "#);
}

#[tokio::test(start_paused = true)]
async fn every_use_is_stored_with_a_sentence_for_people() {
    let answer = vec![
        click(1, 2),
        types("secret"),
        runs("ls"),
        ("telephone", json!({})),
    ];
    let stage = Stage::new(vec![calls(answer), says("Done.")]);
    stage.run().await;
    let mut told = Vec::new();
    for body in stage.log.bodies() {
        if let EventBody::ToolUse(tool_use) = body {
            told.push(tool_use.description.unwrap_or_default());
        }
    }
    assert_eq!(told, ["Clicked at (1, 2)", "Typed “secret”", "Ran ls", ""]);
}

/// Which requests of an answer waited for a settled screen, and which gave the model a picture.
async fn settled_and_pictured(answer: Vec<(&str, serde_json::Value)>) -> (Vec<bool>, Vec<bool>) {
    let computer = FakeSandbox::new(Vec::new());
    let stage = Stage::with_computers(vec![calls(answer), says("Done.")], vec![computer.clone()]);
    stage.run().await;
    let requests = computer.requests.borrow();
    let settled = requests
        .iter()
        .map(|request| matches!(request, SessionRequest::Act(Act { look: true, .. })));
    let [_, _, Item::Results(results)] = &*stage.shown() else {
        panic!("{:?}", stage.shown());
    };
    let pictured = results.iter().map(|result| result.image.is_some());
    (settled.collect(), pictured.collect())
}

#[tokio::test(start_paused = true)]
async fn the_model_sees_the_screen_after_the_last_action_and_where_it_asks_to() {
    let answer = vec![screenshot(), types("a"), types("b"), runs("ls")];
    assert_eq!(
        settled_and_pictured(answer).await.1,
        [true, false, true, false]
    );
}

#[tokio::test(start_paused = true)]
async fn of_several_calls_of_the_browser_the_last_has_a_picture() {
    let open = (
        "browser",
        json!({"action": "navigate", "url": "a.example", "look": true}),
    );
    let click = (
        "browser",
        json!({"action": "click", "x": 1, "y": 2, "look": true}),
    );
    let computer = FakeSandbox::new(Vec::new());
    let answer = calls(vec![open, click, runs("ls")]);
    let stage = Stage::with_computers(vec![answer, says("Done.")], vec![computer.clone()]);
    stage.run().await;
    let requests = computer.requests.borrow().clone();
    let looks = requests.iter().filter_map(|request| {
        let SessionRequest::Browse(browse) = request else {
            return None;
        };
        Some(browse.look.is_some())
    });
    assert_eq!(looks.collect::<Vec<_>>(), [false, true]);
    let [_, _, Item::Results(results)] = &*stage.shown() else {
        panic!("{:?}", stage.shown());
    };
    let pages = results.iter().map(|result| {
        let page = result.browser.as_ref().and_then(|state| state.page);
        (result.image.is_some(), page.is_some())
    });
    assert_eq!(
        pages.collect::<Vec<_>>(),
        [(false, false), (true, true), (false, false)]
    );
    // Points are told in no units: each model counts in its own.
    assert_eq!(results[1].text, "Clicked the point.");
}

#[tokio::test(start_paused = true)]
async fn what_may_move_the_focus_settles_before_the_next_action() {
    let chord = ("computer", json!({"action": "key", "keys": "ctrl+l"}));
    let answer = vec![click(1, 2), types("a"), chord, types("b"), runs("ls")];
    let (settled, pictured) = settled_and_pictured(answer).await;
    assert_eq!(settled, [true, false, true, true, false]);
    assert_eq!(pictured, [false, false, false, true, false]);
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_settles_before_the_mouse_is_used() {
    let answer = vec![types("a"), types("b"), runs("ls"), click(1, 2)];
    let (settled, pictured) = settled_and_pictured(answer).await;
    assert_eq!(settled, [false, true, false, true]);
    assert_eq!(pictured, [false, false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_action_keeps_only_other_actions_from_being_done() {
    let failure = ComputerError::Failed("there is no key \"hyper\"".to_owned());
    let computer = FakeSandbox::new(vec![Reaction::Do, Reaction::Answer(Err(failure))]);
    let answer = calls(vec![click(1, 2), types("a"), runs("ls"), screenshot()]);
    let stage = Stage::with_computers(vec![answer, says("Done.")], vec![computer.clone()]);
    stage.run().await;
    assert_snapshot!(stage.story(), @r#"
    use a computer {"action":"click","at":{"x":1,"y":2}}
    use b computer {"action":"type","text":"a"}
    use c bash {"command":"ls","shell":"run"}
    use d computer {"action":"screenshot"}
    whole 1
    -
    result a "Clicked at (1, 2)."
    -
    error b "there is no key \"hyper\""
    -
    result c "output"
    -
    error d "Not executed: an earlier computer action in this turn failed."
    -
    text 0 "Done."
    whole 2
    "#);
    assert_eq!(computer.requests.borrow().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn calls_that_make_no_sense_are_refused_when_it_is_their_turn() {
    for (call, told) in [
        (click(1024, 0), "(1024, 0) is outside the 1024×768 screen"),
        (
            ("telephone", json!({})),
            "there is no tool \"telephone\"; the tools are computer, ",
        ),
        (
            ("bash", json!({"shell": "run"})),
            "the bash tool does not take this input: missing field `command`",
        ),
        (
            ("computer", json!("click")),
            "the computer tool does not take this input",
        ),
    ] {
        let computer = FakeSandbox::new(Vec::new());
        let halts = call.0 == "computer";
        let answer = calls(vec![types("first"), call, types("third")]);
        let stage = Stage::with_computers(vec![answer, says("Done.")], vec![computer.clone()]);
        stage.run().await;
        let n_done = if halts { 1 } else { 2 };
        assert_eq!(computer.requests.borrow().len(), n_done, "{told}");
        let [_, _, Item::Results(results)] = &*stage.shown() else {
            panic!("{:?}", stage.shown());
        };
        assert!(!results[0].is_error);
        assert!(
            results[1].is_error && results[1].text.starts_with(told),
            "{results:?}"
        );
        let halted = "Not executed: an earlier computer action in this turn failed.";
        assert_eq!(results[2].text == halted, halts, "{results:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_exit_code_is_no_failure_and_a_time_out_is() {
    let told = |ending| Reaction::Answer(Ok(SessionReply::Shell(printed("half\n", ending))));
    let computer = FakeSandbox::new(vec![
        told(ShellEnding::Exited { code: 3 }),
        told(ShellEnding::TimedOut { after_ms: 1000 }),
    ]);
    let answer = calls(vec![runs("false"), runs("sleep 9"), runs("ls")]);
    let stage = Stage::with_computers(vec![answer, says("Done.")], vec![computer]);
    stage.run().await;
    assert_snapshot!(stage.story(), @r#"
    use a bash {"command":"false","shell":"run"}
    use b bash {"command":"sleep 9","shell":"run"}
    use c bash {"command":"ls","shell":"run"}
    whole 1
    -
    result a "half\n[exit code 3]"
    -
    error b "half\n[The command took longer than 1 s and was ended. The shell kept its state.]"
    -
    result c "output"
    -
    text 0 "Done."
    whole 2
    "#);
}

#[tokio::test(start_paused = true)]
async fn old_pictures_go_many_at_a_time() {
    let mut answers = vec![calls(vec![screenshot()]); 9];
    answers.push(says("Done."));
    let mut stage = Stage::new(answers);
    stage.limits.kept_images = 2;
    stage.limits.pruned_images = 3;
    stage.run().await;
    let requests = stage.model.requests.lock().unwrap();
    let n_shown: Vec<usize> = requests
        .iter()
        .map(|request| request.items.iter().map(n_pictures).sum())
        .collect();
    assert_eq!(n_shown, [0, 1, 2, 3, 4, 2, 3, 4, 2, 3]);
    // In between, nothing changes of what was there before.
    for (pair, n_shown) in requests.windows(2).zip(n_shown.windows(2)) {
        let goes_on = pair[1].items.starts_with(&pair[0].items);
        assert_eq!(goes_on, n_shown[0] < n_shown[1]);
        assert_eq!(pair[0].system, pair[1].system);
    }
}

#[tokio::test(start_paused = true)]
async fn where_a_vendor_wants_it_so_nothing_that_was_shown_is_taken_back() {
    let mut answers = vec![calls(vec![screenshot()]); 9];
    answers.push(says("Done."));
    let mut stage = Stage::new(answers);
    *stage.model.pictures.lock().unwrap() = Pictures::All;
    stage.limits.kept_images = 2;
    stage.limits.pruned_images = 3;
    stage.run().await;
    let requests = stage.model.requests.lock().unwrap();
    for pair in requests.windows(2) {
        assert!(pair[1].items.starts_with(&pair[0].items));
    }
    let last = requests.last().unwrap();
    assert_eq!(last.items.iter().map(n_pictures).sum::<usize>(), 9);
}

fn n_pictures(item: &Item) -> usize {
    match item {
        Item::Results(results) => results.iter().filter(|one| one.image.is_some()).count(),
        Item::Prompt { .. }
        | Item::Steering { .. }
        | Item::Files(_)
        | Item::Note { .. }
        | Item::HandedBack { .. }
        | Item::CutOff { .. }
        | Item::Answer { .. } => 0,
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_newest_pictures_are_shown() {
    let look = || calls(vec![screenshot()]);
    let mut stage = Stage::new(vec![look(), look(), look(), says("Done.")]);
    stage.limits.kept_images = 2;
    stage.limits.pruned_images = 1;
    stage.run().await;
    let results: Vec<(String, bool)> = stage
        .shown()
        .iter()
        .filter_map(|item| match item {
            Item::Results(results) => Some((results[0].text.clone(), results[0].image.is_some())),
            Item::Prompt { .. }
            | Item::Steering { .. }
            | Item::Files(_)
            | Item::Note { .. }
            | Item::HandedBack { .. }
            | Item::CutOff { .. }
            | Item::Answer { .. } => None,
        })
        .collect();
    let old = "Took a screenshot.\n[The picture is not shown any more.]".to_owned();
    let new = "Took a screenshot.".to_owned();
    assert_eq!(results, [(old, false), (new.clone(), true), (new, true)]);
}
