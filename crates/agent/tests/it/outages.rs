//! Vendors that cannot be reached, are overloaded, or break off in the middle of an answer.

use std::time::Duration;

use deskhand_core::model::{Chunk, End, Item, ModelError, Usage};
use insta::assert_snapshot;

use crate::{
    fakes::{Beat, FakeModel},
    stage::{Stage, calls, click, ending, ends, fails, says},
};

fn away() -> Vec<Beat> {
    fails(ModelError::unavailable("it is overloaded"))
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_is_away_is_asked_again_and_the_turn_goes_on() {
    let stage = Stage::new(vec![away(), away(), says("Here I am.")]);
    let report = stage.run().await;
    assert_snapshot!(ending(&report), @"done: Here I am. (steps: 1)");
    assert_snapshot!(stage.story(), @r#"
    retry 1 "it is overloaded"
    -
    retry 2 "it is overloaded"
    -
    text 0 "Here I am."
    whole 1
    "#);
    // Half a second to one, then one to two.
    let (least, most) = (Duration::from_millis(1_500), Duration::from_secs(3));
    assert!((least..=most).contains(&report.duration), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn a_vendor_says_when_it_wants_to_be_asked_again() {
    let busy = fails(ModelError::Unavailable {
        message: "too many requests".to_owned(),
        retry_after: Some(Duration::from_secs(17)),
    });
    let stage = Stage::new(vec![busy, says("Now.")]);
    assert_eq!(stage.run().await.duration, Duration::from_secs(17));
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_not_the_turns_time_and_can_be_stopped() {
    let mut stage = Stage::new(vec![away()]);
    stage.limits.max_duration = Duration::from_secs(60);
    let (report, ()) = tokio::join!(stage.run(), async {
        tokio::time::sleep(Duration::from_secs(600)).await;
        stage.stop.cancel();
    });
    assert_snapshot!(ending(&report), @"stopped (steps: 1)");
    assert_eq!(report.duration, Duration::from_secs(600));
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_an_answer_broke_off_is_not_said_again() {
    let mut broken = vec![Beat::Say(Chunk::Thinking("Hm.".to_owned()))];
    broken.extend(says("I click on the"));
    broken.pop();
    broken.extend(calls(vec![click(1, 2)]));
    broken.pop();
    let stage = Stage::new(vec![broken, says(" green one, and that is all.")]);
    assert_snapshot!(ending(&stage.run().await), @"done: I click on the green one, and that is all. (steps: 1)");
    // Nothing of it was carried out.
    assert_snapshot!(stage.story(), @r#"
    thinking 0 "Hm."
    -
    text 1 "I click on the"
    -
    retry 1 "its answer ended early"
    -
    text 2 " green one, and that is all."
    whole 1
    "#);
    let cut_off = Item::CutOff {
        text: "I click on the".to_owned(),
    };
    assert_eq!(stage.shown().last(), Some(&cut_off));
}

#[tokio::test(start_paused = true)]
async fn after_three_tries_another_model_is_asked_if_there_is_one() {
    let mut stage = Stage::new(vec![away()]);
    stage.fallback = Some(FakeModel::new(vec![says("I help out.")]));
    assert_snapshot!(ending(&stage.run().await), @"done: I help out. (steps: 1)");
    assert_snapshot!(stage.story(), @r#"
    retry 1 "it is overloaded"
    -
    retry 2 "it is overloaded"
    -
    retry 3 "it is overloaded" with fake/other
    -
    text 0 "I help out."
    whole 1
    "#);
}

#[tokio::test(start_paused = true)]
async fn another_model_takes_over_from_one_that_refuses_and_does_not_see_what_it_said() {
    let mut broken = says("First I break into");
    *broken.last_mut().unwrap() = Beat::Fail(ModelError::Refused("no".to_owned()));
    let mut stage = Stage::new(vec![broken.clone()]);
    stage.fallback = Some(FakeModel::new(vec![says("Here it is.")]));
    assert_snapshot!(ending(&stage.run().await), @"done: Here it is. (steps: 1)");
    assert_snapshot!(stage.story(), @r#"
    text 0 "First I break into"
    -
    retry 1 "no" with fake/other
    -
    text 1 "Here it is."
    whole 1
    "#);
    let other = stage.fallback.as_ref().unwrap();
    let shown = format!("{:?}", other.requests.lock().unwrap()[0].items);
    assert!(!shown.contains("break into"), "{shown}");

    // The other one refuses too.
    stage = Stage::new(vec![broken.clone()]);
    stage.fallback = Some(FakeModel::new(vec![broken]));
    assert_snapshot!(ending(&stage.run().await), @"model_refused: no. Say it in another way, or choose another model. (steps: 1)");
}

#[tokio::test(start_paused = true)]
async fn a_model_whose_answer_became_too_long_goes_on() {
    let long = ends(says("One, two,"), End::Unfinished);
    let stage = Stage::new(vec![long, says(" three.")]);
    assert_snapshot!(ending(&stage.run().await), @"done: One, two, three. (steps: 2)");
    let note = "[Your answer was cut off because it became too long. Go on from there.]";
    let note = Item::Steering {
        text: note.to_owned(),
    };
    assert_eq!(stage.shown().last(), Some(&note));
}

/// An answer that says something, takes so many tokens and breaks off like this.
fn breaks_off(tokens: u64, end: Beat) -> Vec<Beat> {
    let usage = |input| {
        Beat::Say(Chunk::Usage(Usage {
            input,
            ..Usage::default()
        }))
    };
    let words = Beat::Say(Chunk::Text("I".to_owned()));
    vec![usage(1), words, usage(tokens), end]
}

#[tokio::test(start_paused = true)]
async fn what_an_answer_took_that_broke_off_is_counted() {
    let away = Beat::Fail(ModelError::unavailable("it is overloaded"));
    let stage = Stage::new(vec![breaks_off(900, away), says(" am here.")]);
    assert_snapshot!(ending(&stage.run().await), @"done: I am here. (steps: 1)");
    assert_snapshot!(stage.story(), @r#"
    text 0 "I"
    broken off 1 900 tokens
    -
    retry 1 "it is overloaded"
    -
    text 1 " am here."
    whole 1
    "#);
    let cut_off = Item::CutOff {
        text: "I".to_owned(),
    };
    assert_eq!(stage.shown().last(), Some(&cut_off));

    let refusal = Beat::Fail(ModelError::Refused("no".to_owned()));
    let stage = Stage::new(vec![breaks_off(900, refusal)]);
    assert!(ending(&stage.run().await).starts_with("model_refused: "));
    assert_snapshot!(stage.story(), @r#"
    text 0 "I"
    broken off 1 900 tokens
    "#);

    let stage = Stage::new(vec![breaks_off(900, Beat::Hang)]);
    tokio::join!(stage.run(), async {
        stage.log.until("text").await;
        stage.stop.cancel();
    });
    assert_snapshot!(stage.story(), @r#"
    text 0 "I"
    -
    broken off 1 900 tokens
    "#);
}
