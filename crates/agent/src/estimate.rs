//! Estimates the tokens of a model call from its request.
//!
//! Only the vendor knows for sure. This rule of thumb errs on the high side, since tokens in a vendor's cache cost
//! less.

use deskhand_core::{
    model::{CallResult, Item, ModelRequest, Usage},
    tool::ToolSpec,
};

/// The approximate number of bytes of text per token.
const BYTES_PER_TOKEN: u64 = 4;
/// The approximate number of pixels per token.
const PIXELS_PER_TOKEN: u64 = 750;
/// The tokens of a short answer.
const ANSWER: u64 = 500;

/// Estimates the tokens of this request and its answer.
pub(crate) fn estimate(request: &ModelRequest) -> Usage {
    let mut size = Size::default();
    size.text(&request.system);
    for tool in request.tools.iter() {
        size.tool(tool);
    }
    for item in &request.items {
        size.item(item);
    }
    let picture =
        u64::from(request.shown.width) * u64::from(request.shown.height) / PIXELS_PER_TOKEN;
    Usage {
        input: size.n_bytes / BYTES_PER_TOKEN + size.n_pictures * picture + size.n_tokens,
        output: ANSWER,
        ..Usage::default()
    }
}

/// Estimates the tokens of a text.
pub(crate) fn text_tokens(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX) / BYTES_PER_TOKEN
}

#[derive(Debug, Default)]
struct Size {
    n_bytes: u64,
    n_pictures: u64,
    /// The tokens of attached files.
    n_tokens: u64,
}

impl Size {
    fn text(&mut self, text: &str) {
        self.n_bytes += u64::try_from(text.len()).unwrap_or(u64::MAX);
    }

    fn tool(&mut self, tool: &ToolSpec) {
        self.text(&tool.name);
        self.text(&tool.description);
        self.text(&tool.parameters.to_string());
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Prompt { text }
            | Item::Steering { text }
            | Item::Note { text }
            | Item::CutOff { text } => {
                self.text(text);
            }
            Item::Files(files) => {
                self.n_tokens += files.iter().map(|file| file.n_tokens).sum::<u64>();
            }
            Item::HandedBack { text, image } => {
                self.text(text);
                self.n_pictures += u64::from(image.is_some());
            }
            Item::Answer {
                thinking,
                text,
                calls,
                ..
            } => {
                self.text(thinking);
                self.text(text);
                for call in calls {
                    self.text(&call.input.to_string());
                }
            }
            Item::Results(results) => results.iter().for_each(|result| self.result(result)),
        }
    }

    fn result(&mut self, result: &CallResult) {
        self.text(&result.text);
        self.n_pictures += u64::from(result.image.is_some());
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use deskhand_core::{
        action::ScreenSize,
        model::{Image, ImageFormat, ShownFile},
    };

    use super::*;

    #[test]
    fn text_and_pictures_count() {
        let screen = ScreenSize {
            width: 750,
            height: 100,
        };
        let prompt = Item::Prompt {
            text: "do it now".to_owned(),
        };
        let shown = Item::Results(vec![CallResult {
            call: "a".to_owned(),
            text: "done".repeat(10),
            is_error: false,
            image: Some(Image {
                bytes: Bytes::from_static(b"many bytes that are not text"),
                format: ImageFormat::Png,
            }),
            browser: None,
        }]);
        let request = |items| ModelRequest {
            system: "You have a computer.".to_owned(),
            screen,
            shown: screen,
            tools: [].into(),
            items,
            page: None,
            options: deskhand_core::model::RequestOptions::default(),
        };
        let small = estimate(&request(vec![prompt.clone()]));
        assert_eq!((small.input, small.output), (7, ANSWER));
        let large = estimate(&request(vec![prompt.clone(), shown]));
        assert_eq!(large.input, 17 + 100);
        let file = ShownFile {
            name: "a.pdf".to_owned(),
            media_type: "application/pdf",
            bytes: Bytes::from_static(b"%PDF-"),
            n_tokens: 3_000,
        };
        let with_file = estimate(&request(vec![prompt, Item::Files(vec![file])]));
        assert_eq!(with_file.input, small.input + 3_000);
        let tool = ToolSpec {
            name: "pan".to_owned(),
            description: "Turns the head. ".repeat(10),
            parameters: serde_json::json!({"type": "object"}),
            native: None,
        };
        let with_tool = ModelRequest {
            tools: [tool].into(),
            ..request(vec![Item::Prompt {
                text: "do it now".to_owned(),
            }])
        };
        // The system text and the prompt have 29 bytes, the tool 180.
        assert_eq!(estimate(&with_tool).input, (29 + 180) / 4);
    }
}
