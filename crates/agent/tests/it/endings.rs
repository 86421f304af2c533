//! Turns that do not come to an answer say why.

use std::sync::Arc;

use deskhand_core::model::{Chunk, End, Item, ModelError};
use insta::assert_snapshot;

use crate::{
    fakes::{Beat, FakeBlobs, FakeLog, FakeSandbox},
    stage::{Stage, calls, click, ending, ends, fails, runs, says, screenshot},
};

#[tokio::test(start_paused = true)]
async fn the_answer_is_what_the_model_said_last() {
    let mut first = says("I look.");
    first.pop();
    first.extend(calls(vec![screenshot()]));
    let stage = Stage::new(vec![first, says("It is **green**.")]);
    assert_snapshot!(ending(&stage.run().await), @"done: It is **green**. (steps: 2)");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_is_quoted() {
    let told = async |error| ending(&Stage::new(vec![fails(error)]).run().await);
    assert_snapshot!(told(ModelError::Rejected("step 2 expected a picture".to_owned())).await, @"model_failed: The model could not go on: step 2 expected a picture. (steps: 1)");
    assert_snapshot!(told(ModelError::Refused("the model refused to go on".to_owned())).await, @"model_refused: the model refused to go on. Say it in another way, or choose another model. (steps: 1)");
    assert_snapshot!(told(ModelError::unavailable("it is overloaded.")).await, @"model_failed: The model is not available: it is overloaded. It was asked again for an hour. Send a new message to go on, or choose another model. (steps: 1)");
}

#[tokio::test(start_paused = true)]
async fn a_silent_model_is_asked_again_three_times() {
    let silent = || {
        vec![
            Beat::Say(Chunk::Thinking("Hm.".to_owned())),
            Beat::Say(Chunk::Text(" \n".to_owned())),
            Beat::Say(Chunk::End(End::Done)),
        ]
    };
    let stage = Stage::new(vec![silent()]);
    assert_snapshot!(ending(&stage.run().await), @"model_silent: The model neither acted nor answered, even when it was asked again. Send the message again, or choose another model. (steps: 4)");
    let nudged = |n_times| {
        let nudge =
            "\n\n[Your last answer was empty. Go on with the task, or say that you are done.]";
        prompted(&format!("do it{}", nudge.repeat(n_times)))
    };
    let asked = std::mem::take(&mut *stage.model.requests.lock().unwrap());
    let asked: Vec<Item> = asked
        .into_iter()
        .flat_map(|request| request.items)
        .collect();
    assert_eq!(asked, [nudged(0), nudged(1), nudged(2), nudged(3)]);

    let stage = Stage::new(vec![silent(), silent(), silent(), says("Sorry.")]);
    assert_snapshot!(ending(&stage.run().await), @"done: Sorry. (steps: 4)");

    // Silence after results is told where the conversation stands, and work starts the count anew.
    let work = || calls(vec![runs("ls")]);
    let stage = Stage::new(vec![
        silent(),
        work(),
        silent(),
        silent(),
        silent(),
        says("Done."),
    ]);
    assert_snapshot!(ending(&stage.run().await), @"done: Done. (steps: 6)");
    assert!(matches!(
        &*stage.shown(),
        [
            Item::Prompt { .. },
            Item::Answer { .. },
            Item::Results(_),
            Item::Steering { .. }
        ]
    ));
}

#[tokio::test(start_paused = true)]
async fn words_about_what_comes_next_are_as_good_as_silence() {
    let aside = || ends(says("Next I look."), End::Aside);
    let stage = Stage::new(vec![aside()]);
    assert!(ending(&stage.run().await).starts_with("model_silent: "));
    let stage = Stage::new(vec![aside(), calls(vec![runs("ls")]), says("Done.")]);
    assert_snapshot!(ending(&stage.run().await), @"done: Done. (steps: 3)");
    let said = Item::Answer {
        thinking: String::new(),
        text: "Next I look.".to_owned(),
        calls: Vec::new(),
        original: None,
    };
    let note = Item::Steering {
        text: "[You said what comes next and did nothing. Go on with the task, or say that you \
               are done.]"
            .to_owned(),
    };
    assert_eq!(stage.shown()[1..3], [said, note]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_which_nothing_is_whole_is_told_as_that_and_has_an_end() {
    let thought = || {
        let hm = Beat::Say(Chunk::Thinking("Hm.".to_owned()));
        ends(vec![hm, Beat::Hang], End::Unfinished)
    };
    let stage = Stage::new(vec![thought(), says("Done.")]);
    assert_snapshot!(ending(&stage.run().await), @"done: Done. (steps: 2)");
    let note = "[Your answer was cut off because it became too long, before any part of it was complete. Go on in smaller steps.]";
    assert_eq!(stage.shown(), [prompted(&format!("do it\n\n{note}"))]);
    let stage = Stage::new(vec![thought()]);
    assert!(ending(&stage.run().await).starts_with("model_silent: "));
}

fn prompted(text: &str) -> Item {
    Item::Prompt {
        text: text.to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_ends_the_turn_and_the_action_stays_done() {
    let told = async |trouble| {
        let mut stage = Stage::new(vec![calls(vec![click(1, 2), runs("ls")])]);
        stage.blobs = Arc::new(FakeBlobs {
            trouble: Some(trouble),
            ..FakeBlobs::default()
        });
        format!("{}\n{}", ending(&stage.run().await), stage.story())
    };
    assert_snapshot!(told(std::io::ErrorKind::StorageFull).await, @r#"
    storage_full: No space is left for pictures, so the turn was ended. Free some space on the disk of the data folder, then send a new message to go on. (steps: 1)
    use a computer {"action":"click","at":{"x":1,"y":2}}
    use b bash {"command":"ls","shell":"run"}
    whole 1
    -
    result a "Clicked at (1, 2).\n[The picture of it could not be stored.]"
    error b "Not executed: the turn ended before."
    "#);
    assert_snapshot!(told(std::io::ErrorKind::PermissionDenied).await, @r#"
    storage_failed: A picture could not be written to or read from the data folder, so the turn was ended. Check the data folder and the server's log, then send a new message to go on. (steps: 1)
    use a computer {"action":"click","at":{"x":1,"y":2}}
    use b bash {"command":"ls","shell":"run"}
    whole 1
    -
    result a "Clicked at (1, 2).\n[The picture of it could not be stored.]"
    error b "Not executed: the turn ended before."
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_takes_nothing_more_ends_the_turn_before_anything_is_done() {
    let computer = FakeSandbox::new(Vec::new());
    let mut answer = says("I click.");
    answer.pop();
    answer.extend(calls(vec![click(1, 2)]));
    let mut stage = Stage::with_computers(vec![answer], vec![computer.clone()]);
    stage.log = Arc::new(FakeLog {
        room: Some(1),
        ..FakeLog::default()
    });
    assert_snapshot!(ending(&stage.run().await), @"log lost: could not read or write the session's data (steps: 1)");
    assert_eq!(computer.requests.borrow().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_where_it_is() {
    let stage = Stage::new(vec![says("Hello.")]);
    stage.run().await;
    let requests = stage.model.requests.lock().unwrap();
    assert!(requests[0].system.contains("Friday, 3 July 2026"));
    assert!(requests[0].system.contains("1024×768"));
}
