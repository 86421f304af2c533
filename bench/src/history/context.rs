//! Measures building the conversation for a model, after many and after few steps.

use std::{collections::HashMap, hint::black_box, time::Instant};

use bytes::Bytes;
use deskhand_agent::{Originals, ShownFiles, Sight, conversation};
use deskhand_core::{
    action::ScreenSize,
    blob::{BlobFormat, BlobName},
    event::{Cost, EventBody, MessageSaid, Screenshot, ToolResult, ToolUse},
    id::{MessageId, TurnId},
    message::{Delivery, Role},
    model::{Image, ImageFormat, Usage},
};
use serde_json::json;

use super::{LONG, SHORT};
use crate::table::median;

const SCREEN: ScreenSize = ScreenSize {
    width: 1024,
    height: 768,
};
const N_SAMPLES: usize = 500;

/// Returns the ratio of the durations after many and after few steps, and the former in microseconds.
pub(crate) fn measure() -> (f64, f64) {
    let (few, many) = (log(SHORT), log(LONG));
    // The samples alternate, so that both see the same machine.
    let samples = (0..N_SAMPLES).map(|_| (build(&few), build(&many)));
    let (few, many): (Vec<_>, Vec<_>) = samples.unzip();
    let many = median(many);
    (many / median(few), many)
}

fn build((log, images): &(Vec<EventBody>, HashMap<BlobName, Image>)) -> f64 {
    let originals = Originals::new();
    let sight = Sight {
        n_old: 0,
        images,
        shown: SCREEN,
        fitted: &|size| size,
        place: &|at| at,
        files: &ShownFiles::new(),
        most_words_bytes: 64_000,
    };
    let began = Instant::now();
    black_box(conversation(black_box(log), sight, &originals));
    began.elapsed().as_secs_f64() * 1e6
}

/// Returns the events of `n_steps` steps, and their pictures.
fn log(n_steps: usize) -> (Vec<EventBody>, HashMap<BlobName, Image>) {
    let turn = TurnId::new();
    let mut log = vec![EventBody::Message(MessageSaid {
        id: MessageId::new(),
        role: Role::User,
        content: "Go.".to_owned(),
        author: None,
        author_name: None,
        delivery: Delivery::default(),
        model: None,
        turn: None,
        attachments: Vec::new(),
        start_url: None,
        effort: None,
    })];
    let mut images = HashMap::new();
    for step in 0..n_steps {
        let call = format!("toolu_{step}");
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&step.to_be_bytes());
        let blob = BlobName::of(digest, BlobFormat::Png);
        let image = Image {
            bytes: Bytes::from(vec![0; 50_000]),
            format: ImageFormat::Png,
        };
        images.insert(blob.clone(), image);
        log.extend([
            EventBody::ToolUse(ToolUse {
                turn: Some(turn),
                call: call.clone(),
                tool: "computer".to_owned(),
                input: json!({"action": "click", "at": {"x": step, "y": 300}}),
                by: None,
                description: None,
                checks: Vec::new(),
            }),
            EventBody::Cost(Cost {
                turn,
                step: u32::try_from(step + 1).unwrap(),
                usd: 0.01,
                model: "scripted/demo".to_owned(),
                usage: Usage::default(),
                unpriced: false,
                unfinished: false,
                aside: false,
                broken_off: false,
                summary: false,
            }),
            EventBody::ToolResult(ToolResult {
                turn: Some(turn),
                call: call.clone(),
                text: "Clicked.".to_owned(),
                is_error: false,
                duration_ms: 80,
                partial: false,
                parts: Vec::new(),
                state: None,
                not_done: None,
            }),
            EventBody::Screenshot(Screenshot {
                turn: Some(turn),
                call: Some(call),
                blob,
                width: SCREEN.width,
                height: SCREEN.height,
            }),
        ]);
    }
    (log, images)
}
