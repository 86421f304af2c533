//! Files that come with messages: where the turn puts them, and what the model is shown of them.

use std::sync::Arc;

use deskhand_agent::{DeskError, PlaceError};
use deskhand_core::{
    attachment::Attachment,
    blob::Blobs,
    event::{EventBody, PlacedFile},
    id::AttachmentId,
    model::{Item, ModelError},
};

use crate::{
    fakes::Beat,
    stage::{Stage, ending, prompt, says},
};

async fn attachment(stage: &Stage, name: &str, media_type: &str) -> Attachment {
    let bytes = name.to_owned().into_bytes();
    Attachment {
        id: AttachmentId::new(),
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        n_bytes: bytes.len().try_into().unwrap(),
        blob: stage.blobs.put_file(bytes.into()).await.unwrap(),
    }
}

/// Gives the stage a prompt with a picture and a table.
async fn with_files(stage: &mut Stage) {
    let files = vec![
        attachment(stage, "a.png", "image/png").await,
        attachment(stage, "b.csv", "text/csv").await,
    ];
    let mut body = prompt("do it");
    if let EventBody::Message(said) = &mut body {
        said.attachments = files;
    }
    stage.history = vec![body];
}

fn placed(stage: &Stage) -> Vec<Vec<PlacedFile>> {
    let appended = stage.log.appended.borrow();
    let bodies = appended.iter().flatten();
    let placed = bodies.filter_map(|body| {
        if let EventBody::Placed(placed) = body {
            Some(placed.files.clone())
        } else {
            None
        }
    });
    placed.collect()
}

/// The items of a request, the files by their names.
fn items(stage: &Stage, request: usize) -> Vec<String> {
    let requests = stage.model.requests.lock().unwrap();
    let shown = requests[request].items.iter().map(|item| match item {
        Item::Files(files) => {
            let names: Vec<_> = files.iter().map(|file| &*file.name).collect();
            format!("files {}", names.join(", "))
        }
        Item::Prompt { text } => text.clone(),
        Item::Steering { .. }
        | Item::Note { .. }
        | Item::HandedBack { .. }
        | Item::Answer { .. }
        | Item::Results(_)
        | Item::CutOff { .. } => format!("{item:?}"),
    });
    shown.collect()
}

#[tokio::test]
async fn files_are_on_the_computer_before_the_model_reads_the_message() {
    let mut stage = Stage::new(vec![says("Done.")]);
    with_files(&mut stage).await;
    assert_eq!(ending(&stage.run().await), "done: Done. (steps: 1)");
    assert_eq!(placed(&stage)[0].len(), 2);
    insta::assert_snapshot!(items(&stage, 0).join("\n---\n"), @"
    do it

    [Files that came with the message, on the computer:
    - /home/agent/uploads/a.png (image/png, 5 bytes), shown to you too
    - /home/agent/uploads/b.csv (text/csv, 5 bytes)]
    ---
    files a.png
    ");
}

#[tokio::test]
async fn a_lost_computer_is_tried_again_and_a_full_disk_is_reported() {
    let mut stage = Stage::new(vec![says("Done.")]);
    with_files(&mut stage).await;
    let full = PlaceError::Problem("no space is left".to_owned());
    stage.desk.places.lock().unwrap().extend([
        Err(PlaceError::Lost),
        Ok("/home/agent/uploads/a.png".to_owned()),
        Err(full),
    ]);
    assert_eq!(ending(&stage.run().await), "done: Done. (steps: 1)");
    let files = &placed(&stage)[0];
    assert_eq!(files[0].path.as_deref(), Some("/home/agent/uploads/a.png"));
    assert_eq!(files[1].problem.as_deref(), Some("no space is left"));
}

#[tokio::test]
async fn a_turn_waits_with_files_while_a_person_has_control() {
    let mut stage = Stage::new(vec![says("Done.")]);
    with_files(&mut stage).await;
    let places = [Ok("/first".to_owned()), Err(PlaceError::Leased)];
    stage.desk.places.lock().unwrap().extend(places);
    assert_eq!(ending(&stage.run().await), "done: Done. (steps: 1)");
    let paths: Vec<_> = placed(&stage)[0]
        .iter()
        .map(|file| file.path.clone())
        .collect();
    let written = |name: &str| Some(format!("/home/agent/uploads/{name}"));
    assert_eq!(paths, [written("a.png"), written("b.csv")]);
}

#[tokio::test]
async fn without_a_computer_the_turn_fails() {
    let mut stage = Stage::new(vec![says("Done.")]);
    with_files(&mut stage).await;
    let none = PlaceError::NoComputer(DeskError {
        message: "There is none.".to_owned(),
    });
    stage.desk.places.lock().unwrap().push_back(Err(none));
    assert_eq!(
        ending(&stage.run().await),
        "sandbox_failed: There is none. (steps: 0)"
    );
}

#[tokio::test]
async fn a_request_that_is_rejected_is_made_again_without_files() {
    let rejected = ModelError::Rejected("The PDF is not valid.".to_owned());
    let mut stage = Stage::new(vec![vec![Beat::Fail(rejected)], says("Done.")]);
    with_files(&mut stage).await;
    assert_eq!(ending(&stage.run().await), "done: Done. (steps: 1)");
    assert_eq!((items(&stage, 0).len(), items(&stage, 1).len()), (2, 1));

    // The next turn does not show them again.
    let mut next = Stage::new(vec![says("Done again.")]);
    next.blobs = Arc::clone(&stage.blobs);
    next.history = stage.history.clone();
    let appended = stage.log.appended.borrow().clone();
    next.history.extend(appended.into_iter().flatten());
    next.history.push(prompt("go on"));
    assert_eq!(ending(&next.run().await), "done: Done again. (steps: 1)");
    let shown = items(&next, 0);
    assert!(
        !shown.iter().any(|item| item.starts_with("files")),
        "{shown:?}"
    );
}
