//! What every vendor is sent, in every version of its computer, after the same conversation.

use bytes::Bytes;
use deskhand_core::model::{CallResult, Image, ImageFormat, Item, ShownFile, ToolCall};
use deskhand_testkit::Asked;
use insta::{assert_snapshot, with_settings};
use serde_json::json;

use crate::{
    server::{Reply, shown},
    wire::Wire,
};

const TOOLSET: &str = include_str!("streams/anthropic_toolset.sse");
const DATED: &str = include_str!("streams/anthropic_dated.sse");
const OPENAI: &str = include_str!("streams/openai.sse");
const PREVIEW: &str = include_str!("streams/openai_preview.sse");
const GEMINI: &str = include_str!("streams/gemini.sse");
const FIRST_GEMINI: &str = include_str!("streams/gemini_first.sse");
const CHAT: &str = include_str!("streams/chat.sse");

const HALTED: &str = "Not executed: an earlier computer action in this turn failed.";

fn picture() -> Option<Image> {
    Some(Image {
        bytes: Bytes::from_static(b"png"),
        format: ImageFormat::Png,
    })
}

/// The first action works, the next does not, and those after it are not tried.
fn failing(index: usize, call: &ToolCall) -> CallResult {
    let is_computer = call.tool == "computer";
    CallResult {
        call: call.id.clone(),
        text: match index {
            _ if !is_computer => "a.txt".to_owned(),
            0 => "Done.".to_owned(),
            1 => "There is nothing there.".to_owned(),
            _ => HALTED.to_owned(),
        },
        is_error: is_computer && index > 0,
        image: picture().filter(|_| is_computer && index == 1),
        browser: None,
    }
}

fn working(_index: usize, call: &ToolCall) -> CallResult {
    CallResult {
        call: call.id.clone(),
        text: String::new(),
        is_error: false,
        image: picture().filter(|_| call.tool == "computer"),
        browser: None,
    }
}

/// The last request of a conversation in which everything happens that can happen.
async fn last_request(model: &str, answer: &str, more: &[(&str, &str)]) -> Asked {
    let wire = Wire::with([Reply::stream(answer)], more).await;
    let elsewhere = ToolCall {
        id: "elsewhere".to_owned(),
        tool: "bash".to_owned(),
        input: json!({"shell": "run", "command": "pwd"}),
        checks: Vec::new(),
        problem: None,
    };
    let mut items = vec![
        Item::Prompt {
            text: "Order a fern.".to_owned(),
        },
        Item::Answer {
            thinking: "Hm.".to_owned(),
            text: "I look around.".to_owned(),
            calls: vec![elsewhere],
            original: None,
        },
        Item::Results(vec![CallResult {
            call: "elsewhere".to_owned(),
            text: "/home".to_owned(),
            is_error: false,
            image: None,
            browser: None,
        }]),
    ];
    let heard = wire.heard(model, &items).await;
    assert_eq!(heard.text, "I fill it in.");
    assert!(heard.thinking.starts_with("The form is open."));
    items.extend([heard.item(), heard.results(working)]);
    items.push(Item::Steering {
        text: "A big one.".to_owned(),
    });
    items.extend([heard.item(), heard.results(failing)]);
    items.push(Item::HandedBack {
        text: "Ada had the computer.".to_owned(),
        image: picture(),
    });
    items.push(Item::CutOff {
        text: "So I".to_owned(),
    });
    wire.heard(model, &items).await;
    wire.asked().pop().unwrap()
}

/// The request after a message with a picture and a PDF.
async fn request_with_files(model: &str, answer: &str) -> Asked {
    let wire = Wire::with([Reply::stream(answer)], &[]).await;
    let file = |name: &str, media_type| ShownFile {
        name: name.to_owned(),
        media_type,
        bytes: Bytes::from_static(b"bytes"),
        n_tokens: 1,
    };
    let items = [
        Item::Prompt {
            text: "What is this?".to_owned(),
        },
        Item::Files(vec![
            file("plant.webp", "image/webp"),
            file("report.pdf", "application/pdf"),
        ]),
        Item::Note {
            text: "[Today is Monday.]".to_owned(),
        },
    ];
    wire.heard(model, &items).await;
    wire.asked().pop().unwrap()
}

macro_rules! golden_files {
    ($($name:ident: $model:literal, $answer:ident, $messages:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let asked = request_with_files($model, $answer).await;
            let messages = serde_json::to_string_pretty(&asked.body[$messages]).unwrap();
            with_settings!({omit_expression => true, description => $model}, {
                assert_snapshot!(messages);
            });
        }
    )*};
}

golden_files! {
    files_for_anthropic: "anthropic/claude-opus-5", TOOLSET, "messages";
    files_for_openai: "openai/gpt-6-sol", OPENAI, "input";
    files_for_gemini: "gemini/gemini-3.6-flash", GEMINI, "contents";
    files_for_chat: "openrouter/qwen/qwen3-vl", CHAT, "messages";
}

macro_rules! golden {
    ($($name:ident: $model:literal, $answer:ident $(, $more:expr)?;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let more: &[(&str, &str)] = &[$($more)?][..];
            let asked = last_request($model, $answer, more).await;
            with_settings!({omit_expression => true, description => $model}, {
                assert_snapshot!(shown(&asked));
            });
        }
    )*};
}

golden! {
    toolset_with_bound_thinking: "anthropic/claude-opus-5-5", TOOLSET;
    toolset: "anthropic/claude-opus-5", TOOLSET;
    computer_20251124: "anthropic/claude-opus-4-5", DATED;
    computer_20250124: "anthropic/claude-sonnet-4-5", DATED;
    computer_20250124_with_the_old_editor: "anthropic/claude-3-7-sonnet-20250219", DATED;
    computer_20241022: "anthropic/claude-3-5-sonnet-20241022", DATED;
    computer_as_a_function: "anthropic/claude-2", DATED;
    openai: "openai/gpt-6-sol", OPENAI;
    openai_preview: "openai/computer-use-preview", PREVIEW;
    gemini: "gemini/gemini-3.6-flash", GEMINI;
    gemini_with_the_first_actions: "gemini/gemini-2.5-computer-use-preview-10-2025", FIRST_GEMINI;
    chat_without_a_key: "ollama/qwen3-vl", CHAT;
    chat_with_a_key: "openrouter/qwen/qwen3-vl", CHAT;
}
