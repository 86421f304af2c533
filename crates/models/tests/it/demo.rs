//! The built-in demo, shown what a session shows it.

use std::sync::Arc;

use deskhand_core::model::{CallResult, Chunk, Image, Item, Model, Models, ToolCall};
use deskhand_models::{ConfiguredModels, ModelSettings};
use futures::StreamExt;
use insta::assert_snapshot;

use crate::fixtures::{Patch, picture, prompt, request};

const START_PAGE: &[Patch] = &[([0xf7, 0xf4, 0xee], [0, 80, 400, 200])];
const FORM: &[Patch] = &[
    ([0xff, 0xfd, 0xf3], [600, 100, 300, 30]),
    ([0xf3, 0xff, 0xfd], [600, 200, 300, 30]),
    ([0xfd, 0xf3, 0xff], [600, 300, 300, 30]),
    ([0xf3, 0xf8, 0xff], [600, 400, 300, 60]),
    ([0x1f, 0x7a, 0x4d], [600, 500, 300, 40]),
];
const FILLED_IN: &[Patch] = &[
    ([0xbf, 0xb5, 0x9e], [600, 95, 300, 10]),
    ([0x1f, 0x7a, 0x4d], [600, 500, 300, 40]),
];
const THANKS: &[Patch] = &[([0xe3, 0xf6, 0xe8], [100, 100, 800, 60])];

fn screen(patches: &[Patch]) -> Image {
    picture(1024, 768, patches)
}

async fn ask(model: &Arc<dyn Model>, items: &[Item]) -> (String, Vec<ToolCall>) {
    let chunks: Vec<_> = model.stream(request(items)).collect().await;
    let (mut text, mut calls) = (String::new(), Vec::new());
    for chunk in chunks {
        match chunk.unwrap() {
            Chunk::Text(piece) => text += &piece,
            Chunk::Call(call) => calls.push(call),
            Chunk::ThinkingStart
            | Chunk::Thinking(_)
            | Chunk::TextStart
            | Chunk::Original(_)
            | Chunk::Usage(_)
            | Chunk::End(_) => {}
        }
    }
    (text, calls)
}

/// A computer with the shop on it, as far as the demo can see.
struct Desktop {
    n_orders: u32,
    /// How many more looks find the browser still starting.
    n_blank: u32,
    page: &'static [Patch],
}

impl Desktop {
    fn results(&mut self, calls: &[ToolCall]) -> Item {
        let last = calls.len() - 1;
        let results = calls.iter().enumerate().map(|(index, call)| {
            let text = self.act(call);
            let looks = call.tool == "computer" && index == last;
            CallResult {
                call: call.id.clone(),
                text,
                is_error: false,
                image: looks.then(|| self.look()),
                browser: None,
            }
        });
        Item::Results(results.collect())
    }

    fn act(&mut self, call: &ToolCall) -> String {
        let input = &call.input;
        let command = input["command"].as_str().unwrap_or_default();
        if command.contains("demo-shop") {
            return "The shop is open at http://localhost:8000".to_owned();
        }
        if command.contains("orders.jsonl") {
            return format!(
                r#"{{"number":{},"item":"Boston fern","quantity":3,"total":54,"name":"Ada Lovelace","email":"ada@example.com","note":"Grüße, 谢谢 🌿"}}"#,
                1000 + self.n_orders
            );
        }
        if input["keys"] == "Return" {
            self.page = FORM;
        }
        if input["keys"] == "Tab" {
            self.page = FILLED_IN;
        }
        if input["at"]["y"] == 519 {
            self.page = THANKS;
            self.n_orders += 1;
        }
        "Done.".to_owned()
    }

    fn look(&mut self) -> Image {
        if self.n_blank > 0 {
            self.n_blank -= 1;
            return screen(&[]);
        }
        screen(self.page)
    }
}

#[tokio::test(start_paused = true)]
async fn the_demo_orders_again_and_again_and_says_what_it_saw() {
    let model = ConfiguredModels::new(ModelSettings::default())
        .unwrap()
        .model("scripted/demo")
        .unwrap();
    let mut desktop = Desktop {
        n_orders: 0,
        n_blank: 3,
        page: START_PAGE,
    };
    let mut items = Vec::new();
    let mut answers = Vec::new();
    let mut n_steps = Vec::new();
    for _ in 0..2 {
        items.push(prompt("show me the demo"));
        for step in 1.. {
            let (text, calls) = ask(&model, &items).await;
            items.push(Item::Answer {
                thinking: String::new(),
                text: text.clone(),
                calls: calls.clone(),
                original: None,
            });
            if calls.is_empty() {
                answers.push(text);
                n_steps.push(step);
                break;
            }
            items.push(desktop.results(&calls));
        }
    }
    // The first time it looked three times more until the browser was there.
    assert_eq!(n_steps, [9, 6]);
    assert_snapshot!(answers[0], @"
    The order is placed: the shop confirmed it on its page, and its order book has it as **order 1001**.

    | What | As the shop wrote it down |
    |---|---|
    | Item | Boston fern |
    | Quantity | 3 |
    | Total | € 54 |
    | Name | Ada Lovelace |
    | Note | Grüße, 谢谢 🌿 |

    I filled in the form with mouse and keyboard, saw the confirmation on the screen, and read the line above with `tail` in the shell.
    ");
    assert!(answers[1].contains("**order 1002**"));
}
