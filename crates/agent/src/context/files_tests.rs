use std::collections::HashMap;

use bytes::Bytes;
use deskhand_core::{
    blob::BlobName,
    event::{Failure, MessageSaid, Retry, Said},
    id::{AttachmentId, MessageId, TurnId},
    message::{Delivery, Role},
    model::NotShown,
};

use super::*;

fn file(number: u8, media_type: &str, n_bytes: u64) -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: format!("{number}.file"),
        media_type: media_type.to_owned(),
        n_bytes,
        blob: BlobName::of_file([number; 32]),
    }
}

fn message(attachments: Vec<Attachment>) -> EventBody {
    EventBody::Message(MessageSaid {
        id: MessageId::new(),
        role: Role::User,
        content: "Look.".to_owned(),
        author: None,
        author_name: None,
        delivery: Delivery::default(),
        model: None,
        effort: None,
        turn: None,
        attachments,
        start_url: None,
    })
}

#[test]
fn the_oldest_files_go_many_at_a_time() {
    let shown = |n: u8| {
        let log: Vec<_> = (0..n)
            .map(|number| message(vec![file(number, "application/pdf", 3_000_000)]))
            .collect();
        let names = shown_attachments(&log);
        names
            .iter()
            .map(|file| file.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(4).len(), 4);
    assert_eq!(shown(5), ["3.file", "4.file"]);
    assert_eq!(shown(7), ["3.file", "4.file", "5.file", "6.file"]);
    assert_eq!(shown(8), ["6.file", "7.file"]);
}

#[test]
fn files_that_a_vendor_rejected_are_not_shown_again() {
    let turn = TurnId::new();
    let picture = |number| message(vec![file(number, "image/png", 10)]);
    let rejected = EventBody::Retry(Retry {
        turn,
        attempt: 1,
        message: "The model could not go on: bad file.".to_owned(),
        next_at: jiff::Timestamp::UNIX_EPOCH,
        model: None,
        without_files: true,
        refused: false,
    });
    let answer = EventBody::Text(Said {
        turn,
        block: 0,
        text: "I cannot see it.".to_owned(),
    });
    let failed = EventBody::Error(Failure {
        turn: Some(turn),
        code: "model_failed".to_owned(),
        message: String::new(),
    });
    let shown = |log: &[EventBody]| shown_attachments(log).len();
    let mut log = vec![picture(1), rejected];
    assert_eq!(shown(&log), 0);
    log.push(failed);
    assert_eq!(shown(&log), 1, "the file was not the reason");
    log[2] = answer;
    assert_eq!(shown(&log), 0);
    log.push(picture(2));
    assert_eq!(shown(&log), 1, "a newer file is shown");
}

#[test]
fn large_pictures_count_as_what_they_are_scaled_to_and_large_pdfs_not_at_all() {
    let log = [message(vec![
        file(1, "image/png", 30_000_000),
        file(2, "image/jpeg", 30_000_000),
        file(3, "application/pdf", LARGEST_SHOWN_PDF_BYTES + 1),
        file(4, "text/csv", 10),
    ])];
    let names: Vec<_> = shown_attachments(&log)
        .iter()
        .map(|file| &*file.name)
        .collect();
    assert_eq!(names, ["1.file", "2.file"]);
}

#[test]
fn the_note_tells_where_each_file_is_and_whether_it_is_shown() {
    let files = [
        file(1, "image/png", 12),
        file(2, "text/csv", 34),
        file(3, "application/pdf", 56),
        file(4, "application/pdf", LARGEST_SHOWN_PDF_BYTES + 1),
    ];
    let picture = ShownFile {
        name: "a.png".to_owned(),
        media_type: "image/png",
        bytes: Bytes::new(),
        n_tokens: 1,
    };
    let available: ShownFiles = HashMap::from([
        (files[0].blob.clone(), Ok(picture)),
        (files[2].blob.clone(), Err(NotShown::Kind)),
    ]);
    let placed = files.iter().map(|file| PlacedFile {
        attachment: file.id,
        path: (file.name != "2.file").then(|| format!("/home/agent/uploads/{}", file.name)),
        problem: (file.name == "2.file").then(|| "no space is left".to_owned()),
    });
    let placed: Vec<_> = placed.collect();
    insta::assert_snapshot!(note(&files, &placed, &available), @"
    [Files that came with the message, on the computer:
    - /home/agent/uploads/1.file (image/png, 12 bytes), shown to you too
    - 2.file could not be written there: no space is left; (text/csv, 34 bytes)
    - /home/agent/uploads/3.file (application/pdf, 56 bytes), not shown to you: you cannot be shown files of this kind
    - /home/agent/uploads/4.file (application/pdf, 10000001 bytes), not shown to you: it is too large to be shown to you]
    ");
    let names: Vec<_> = shown(&files, &available)
        .into_iter()
        .map(|file| file.name)
        .collect();
    assert_eq!(names, ["1.file"]);
}
