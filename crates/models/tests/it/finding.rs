//! Finding things in pictures by their colour.

use deskhand_core::model::{Image, ImageFormat, Item, ToolCall};
use insta::assert_snapshot;
use serde_json::json;

use crate::fixtures::{Folder, answered, picture, png, prompt, result, with_image};

const GREEN: [u8; 3] = [0x1f, 0x7a, 0x4d];

const CLICK: &str = r##"
steps:
  - calls: [{computer: {action: screenshot}}]
  - calls:
      - computer: {action: click, at: {find: "#1f7a4d"}}
      - computer: {action: drag, path: [{find: "#1F7A4D", dx: -2, dy: 5}, {x: 1, y: 2}]}
  - text: done
"##;

fn shown(image: Image) -> Vec<Item> {
    vec![
        prompt("go"),
        answered(),
        Item::Results(vec![with_image(image)]),
    ]
}

async fn points(image: Image) -> (serde_json::Value, serde_json::Value) {
    let answer = Folder::with(CLICK).answer(&shown(image)).await.unwrap();
    let [click, drag] = &*answer.calls else {
        panic!("{answer:?}");
    };
    (click.input["at"].clone(), drag.input["path"].clone())
}

#[tokio::test]
async fn a_point_is_the_middle_of_its_colour() {
    let image = picture(64, 48, &[(GREEN, [10, 20, 21, 11])]);
    let (click, drag) = points(image).await;
    assert_eq!(click, json!({"x": 20, "y": 25}));
    assert_eq!(drag, json!([{"x": 18, "y": 30}, {"x": 1, "y": 2}]));
}

#[tokio::test]
async fn pieces_of_one_colour_count_together() {
    let image = picture(64, 48, &[(GREEN, [0, 0, 1, 1]), (GREEN, [63, 47, 1, 1])]);
    assert_eq!(points(image).await.0, json!({"x": 31, "y": 23}));
}

#[tokio::test]
async fn every_kind_of_png_is_understood() {
    let rgba = png(
        2,
        1,
        png::ColorType::Rgba,
        &[255, 255, 255, 255, 0x1f, 0x7a, 0x4d, 255],
    );
    assert_eq!(points(rgba).await.0, json!({"x": 1, "y": 0}));
    let yaml = r##"
steps:
  - calls: [{computer: {action: screenshot}}]
  - {expect: {colour: "#808080", min_pixels: 2}, text: grey}
"##;
    let grey = png(3, 1, png::ColorType::Grayscale, &[0x80, 0, 0x80]);
    let answer = Folder::with(yaml).answer(&shown(grey)).await.unwrap();
    assert_eq!(answer.text, "grey");
}

#[tokio::test]
async fn a_colour_that_is_not_there_is_not_found() {
    let folder = Folder::with(CLICK);
    let nearly = picture(8, 8, &[([0x1f, 0x7a, 0x4e], [0, 0, 8, 8])]);
    assert_snapshot!(folder.rejection(&shown(nearly)).await, @"test.yaml did not go as written: step 2 of turn 1 expected the colour #1f7a4d in 1 or more pixels, and was shown a picture of 8×8 with it in 0");
    assert_snapshot!(folder.rejection(&[prompt("go"), answered(), Item::Results(vec![result("no picture")])]).await, @"test.yaml did not go as written: step 2 of turn 1 expected the colour #1f7a4d on the screen, and was shown no picture in this turn");
}

#[tokio::test]
async fn too_little_of_a_colour_does_not_count() {
    let yaml = r##"
steps:
  - calls: [{computer: {action: screenshot}}]
  - {expect: {EXPECT, min_pixels: 16}, text: seen}
"##;
    let colour = Folder::with(&yaml.replace("EXPECT", r##"colour: "#1f7a4d""##));
    let any = Folder::with(&yaml.replace("EXPECT", r##"any_colour: ["#000000", "#1f7a4d"]"##));
    let enough = shown(picture(8, 8, &[(GREEN, [0, 0, 4, 4])]));
    let too_little = shown(picture(8, 8, &[(GREEN, [0, 0, 5, 3])]));
    for folder in [&colour, &any] {
        assert_eq!(folder.answer(&enough).await.unwrap().text, "seen");
    }
    assert_snapshot!(colour.rejection(&too_little).await, @"test.yaml did not go as written: step 2 of turn 1 expected the colour #1f7a4d in 16 or more pixels, and was shown a picture of 8×8 with it in 15");
    assert_snapshot!(any.rejection(&too_little).await, @"test.yaml did not go as written: step 2 of turn 1 expected one of the colours #000000, #1f7a4d in 16 or more pixels, and was shown a picture of 8×8 with it in 15");
}

#[tokio::test]
async fn pictures_that_cannot_be_read_are_named() {
    let folder = Folder::with(CLICK);
    let bytes = bytes::Bytes::from_static(b"\x89PNG\r\n\x1a\nbroken");
    let broken = Image {
        bytes: bytes.clone(),
        format: ImageFormat::Png,
    };
    let jpeg = Image {
        bytes,
        format: ImageFormat::Jpeg,
    };
    let message = folder.rejection(&shown(broken)).await;
    assert!(
        message.contains("step 2 of turn 1 was shown a picture that cannot be read"),
        "{message}"
    );
    assert_snapshot!(folder.rejection(&shown(jpeg)).await, @"test.yaml did not go as written: step 2 of turn 1 was shown a JPEG, whose colours are not exact; a scenario needs PNG");
}

#[tokio::test]
async fn the_newest_picture_of_the_whole_screen_in_this_turn_is_searched() {
    let folder = Folder::with(CLICK);
    let zoom = Item::Answer {
        thinking: String::new(),
        text: String::new(),
        calls: vec![
            ToolCall {
                id: "a".to_owned(),
                tool: "computer".to_owned(),
                input: json!({"action": "screenshot"}),
                checks: Vec::new(),
                problem: None,
            },
            ToolCall {
                id: "b".to_owned(),
                tool: "computer".to_owned(),
                input: json!({"action": "zoom", "region": {"x0": 0, "y0": 0, "x1": 9, "y1": 9}}),
                checks: Vec::new(),
                problem: None,
            },
        ],
        original: None,
    };
    let mut whole = with_image(picture(8, 8, &[(GREEN, [6, 6, 1, 1])]));
    whole.call = "a".to_owned();
    let mut part = with_image(picture(8, 8, &[(GREEN, [0, 0, 1, 1])]));
    part.call = "b".to_owned();
    let mut items = vec![prompt("go"), zoom, Item::Results(vec![whole, part])];
    let answer = folder.answer(&items).await.unwrap();
    assert_eq!(answer.calls[0].input["at"], json!({"x": 6, "y": 6}));

    items.extend([
        prompt("again"),
        answered(),
        Item::Results(vec![result("blind")]),
    ]);
    let message = folder.rejection(&items).await;
    assert!(message.contains("no picture in this turn"), "{message}");
}
