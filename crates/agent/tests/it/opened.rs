//! Pages that messages begin with: when the turn opens them, and what the model is told of them.

use std::sync::Arc;

use deskhand_core::{
    event::{EventBody, PageOpened},
    model::Item,
    sandbox::ComputerError,
};

use crate::{
    fakes::{FakeSandbox, Reaction},
    stage::{Stage, ending, prompt, says},
};

/// A turn whose prompt begins with a page, on a computer that reacts like this.
fn stage(reactions: Vec<Reaction>) -> Stage {
    let computers = vec![FakeSandbox::new(reactions)];
    let mut stage = Stage::with_computers(vec![says("Done.")], computers);
    let mut body = prompt("do it");
    if let EventBody::Message(said) = &mut body {
        said.start_url = Some("https://shop.example/".parse().unwrap());
    }
    stage.history = vec![body];
    stage
}

fn opened(stage: &Stage) -> Vec<PageOpened> {
    let bodies = stage.log.bodies().into_iter();
    let opened = bodies.filter_map(|body| {
        if let EventBody::Opened(opened) = body {
            Some(opened)
        } else {
            None
        }
    });
    opened.collect()
}

/// The texts that the model was shown first, and `(picture)` for a picture.
fn shown(stage: &Stage) -> Vec<String> {
    let items = stage.shown();
    let texts = items.iter().map(|item| match item {
        Item::Prompt { text } => text.clone(),
        Item::HandedBack { text, image } => {
            let picture = if image.is_some() { " (picture)" } else { "" };
            format!("{text}{picture}")
        }
        Item::Files(_)
        | Item::Steering { .. }
        | Item::Note { .. }
        | Item::Answer { .. }
        | Item::Results(_)
        | Item::CutOff { .. } => format!("{item:?}"),
    });
    texts.collect()
}

fn fails(error: ComputerError) -> Reaction {
    Reaction::Answer(Err(error))
}

#[tokio::test]
async fn the_model_sees_the_page_with_its_first_message() {
    let stage = stage(Vec::new());
    assert_eq!(ending(&stage.run().await), "done: Done. (steps: 1)");
    assert_eq!(opened(&stage).len(), 1);
    let shown = shown(&stage);
    assert_eq!(shown[0], "do it");
    assert!(
        shown[1].starts_with("[The browser has opened https://shop.example/ for you."),
        "{shown:?}"
    );
    assert!(shown[1].ends_with("(picture)"), "{shown:?}");
}

#[tokio::test]
async fn a_page_that_does_not_open_is_told_to_the_model() {
    let problem = "could not open the page: net::ERR_CERT_AUTHORITY_INVALID";
    let stage = stage(vec![fails(ComputerError::Failed(problem.to_owned()))]);
    assert_eq!(ending(&stage.run().await), "done: Done. (steps: 1)");
    let problems: Vec<_> = opened(&stage)
        .into_iter()
        .map(|page| page.problem)
        .collect();
    assert_eq!(problems, [Some(problem.to_owned())]);
    let shown = shown(&stage).join("\n");
    assert!(
        shown.contains("could not: could not open the page: net::ERR_CERT"),
        "{shown}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_is_opened_again_on_another_computer_and_after_a_take_over() {
    let mut stage = stage(vec![fails(ComputerError::Gone)]);
    let refuses = FakeSandbox::new(vec![fails(ComputerError::Refused { was_begun: false })]);
    stage.desk.computers.lock().unwrap().push_back(refuses);
    assert_eq!(ending(&stage.run().await), "done: Done. (steps: 1)");
    assert_eq!(opened(&stage)[0].problem, None);
    // A turn that resumes does not open it again.
    let done = stage.log.bodies();
    let computer = FakeSandbox::new(Vec::new());
    let before = stage.history.clone();
    stage = Stage::with_computers(vec![says("Done.")], vec![Arc::clone(&computer)]);
    let events = done
        .into_iter()
        .filter(|body| matches!(body, EventBody::Opened(_)));
    stage.history = before.into_iter().chain(events).collect();
    stage.run().await;
    assert_eq!(opened(&stage), []);
}
