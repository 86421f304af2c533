//! Pictures as models are sent them.

use std::sync::LazyLock;

use bytes::Bytes;
use deskhand_core::{
    action::{Point, ScreenSize},
    blob::BlobFormat,
    event::EventBody,
    model::{Image, Item, PictureForm, Pictures},
    sandbox::{Acted, Frame, SessionReply, SessionRequest},
};
use deskhand_pictures::{DecodedPicture, Picture};

use crate::{
    fakes::{FakeSandbox, Reaction},
    stage::{Stage, calls, click, says},
};

const N_STEPS: usize = 50;

/// A page of text, painted once.
static PAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let size = ScreenSize::default();
    let (width, height) = (usize::from(size.width), usize::from(size.height));
    let mut bgrx = vec![250; 4 * width * height];
    for (index, pixel) in bgrx.chunks_exact_mut(4).enumerate() {
        let (x, y) = (index % width, index / width);
        let letter = (x / 8 * 7 + y / 14 * 13) % 11;
        if letter < 7 && y % 14 > 2 && (x % 8 == letter % 5 || y % 14 == letter + 3) {
            pixel.fill(20);
        }
    }
    bgrx
});

/// The page, which looks a little different after every step.
fn page(step: usize) -> Frame {
    let size = ScreenSize::default();
    let mut bgrx = PAGE.clone();
    bgrx[4_000 * step..4_000 * (step + 1)].fill(120);
    let picture = Picture { size, bgrx };
    Frame {
        bytes: Bytes::from(picture.encode(BlobFormat::Png).unwrap()),
        format: BlobFormat::Png,
        size,
        pointer: Point { x: 0, y: 0 },
    }
}

fn computer() -> std::sync::Arc<FakeSandbox> {
    let n_acts = std::sync::atomic::AtomicUsize::default();
    FakeSandbox::reacting(move |request| {
        if !matches!(request, SessionRequest::Act(_)) {
            return Reaction::Do;
        }
        let step = n_acts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Reaction::Answer(Ok(SessionReply::Act(Acted {
            dragged_from: None,
            pointer: None,
            frame: Some(page(step)),
        })))
    })
}

/// Runs a turn of 50 clicks on a model that is sent every picture again.
async fn sent(form: PictureForm) -> (Stage, Vec<Vec<Image>>) {
    let mut answers: Vec<_> = (0..N_STEPS)
        .map(|step| calls(vec![click(i32::try_from(step).unwrap() * 20, 5)]))
        .collect();
    answers.push(says("Done."));
    let mut stage = Stage::with_computers(answers, vec![computer()]);
    stage.limits.max_steps = 100;
    *stage.model.form.lock().unwrap() = form;
    *stage.model.pictures.lock().unwrap() = Pictures::All;
    stage.run().await;
    let requests = stage.model.requests.lock().unwrap().clone();
    let images = requests.into_iter().map(|request| {
        let of_item = |item: Item| {
            let Item::Results(results) = item else {
                return Vec::new();
            };
            results.into_iter().filter_map(|one| one.image).collect()
        };
        request.items.into_iter().flat_map(of_item).collect()
    });
    let images = images.collect();
    (stage, images)
}

#[tokio::test]
async fn a_turn_of_50_steps_sends_a_quarter_of_the_bytes_and_the_same_picture_as_the_same_bytes() {
    let (_, stored) = sent(PictureForm::Stored).await;
    let (stage, compact) = sent(PictureForm::Compact { webp: false }).await;
    let n_bytes = |requests: &[Vec<Image>]| {
        let images = requests.iter().flatten();
        images.map(|image| image.bytes.len()).sum::<usize>()
    };
    assert_eq!(compact.last().unwrap().len(), N_STEPS);
    let (before, after) = (n_bytes(&stored), n_bytes(&compact));
    assert!(after * 4 <= before, "{before} became {after}");
    for (request, next) in compact.iter().zip(&compact[1..]) {
        assert_eq!(request[..], next[..request.len()]);
    }
    // People and the API get the pictures as they were.
    let blobs = stage.blobs.kept.lock().unwrap();
    let is_png =
        |bytes: &Bytes| DecodedPicture::decode(bytes).is_ok() && bytes.starts_with(b"\x89PNG");
    assert!(blobs.values().all(is_png));
    let is_shot = |body: &&EventBody| matches!(body, EventBody::Screenshot(_));
    assert_eq!(stage.log.bodies().iter().filter(is_shot).count(), N_STEPS);
}
