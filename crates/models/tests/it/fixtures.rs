//! A folder of scenarios, conversations, and pictures made on the spot.

use std::sync::Arc;

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    model::{
        CallResult, Chunk, Image, ImageFormat, Item, ModelError, ModelRequest, Models,
        RequestOptions, ToolCall, UnknownModel,
    },
    tool::{ToolSpec, ToolSpecs},
};
use deskhand_models::{ConfiguredModels, ModelSettings};
use futures::StreamExt;

/// Scenario files for one test.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A folder with one scenario, `scripted/test`.
    pub(crate) fn with(yaml: &str) -> Self {
        Self::new().and("test.yaml", yaml)
    }

    pub(crate) fn and(self, file: &str, yaml: &str) -> Self {
        std::fs::write(self.folder.path().join(file), yaml).unwrap();
        self
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) fn models(&self) -> ConfiguredModels {
        let settings = ModelSettings {
            scenario_dir: Some(self.path().to_owned()),
            ..ModelSettings::default()
        };
        let tools = deskhand_agent::tools::all();
        let check = move |tool: &str, input: &_| tools.check(tool, input);
        let models = ConfiguredModels::new(settings).unwrap();
        models.checking_calls(Arc::new(check))
    }

    /// Why there is no such model, with the folder's random name made readable.
    pub(crate) fn refusal(&self, name: &str) -> String {
        let UnknownModel { reason, .. } = self.models().model(name).unwrap_err();
        reason.replace(&self.path().display().to_string(), "FOLDER")
    }

    /// What `scripted/test` streams in answer to these items.
    pub(crate) async fn stream(&self, items: &[Item]) -> Vec<Result<Chunk, ModelError>> {
        let model = self.models().model("scripted/test").unwrap();
        model.stream(request(items)).collect().await
    }

    /// The text, calls and end of the answer to these items.
    pub(crate) async fn answer(&self, items: &[Item]) -> Result<Answer, ModelError> {
        let mut answer = Answer::default();
        for chunk in self.stream(items).await {
            match chunk? {
                Chunk::Thinking(piece) => answer.thinking += &piece,
                Chunk::Text(piece) => answer.text += &piece,
                Chunk::Call(call) => answer.calls.push(call),
                Chunk::ThinkingStart
                | Chunk::TextStart
                | Chunk::Original(_)
                | Chunk::Usage(_)
                | Chunk::End(_) => {}
            }
        }
        Ok(answer)
    }

    /// What the rejection of the answer to these items says.
    pub(crate) async fn rejection(&self, items: &[Item]) -> String {
        match self.answer(items).await {
            Err(ModelError::Rejected(message)) => message,
            other => panic!("not a rejection: {other:?}"),
        }
    }
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub(crate) thinking: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<ToolCall>,
}

impl Answer {
    /// The answer as it comes back in the next request.
    pub(crate) fn item(&self) -> Item {
        Item::Answer {
            thinking: self.thinking.clone(),
            text: self.text.clone(),
            calls: self.calls.clone(),
            original: None,
        }
    }
}

/// The tools in the golden requests: those with native forms, and two functions. New tools change no golden request.
pub(crate) fn golden_tools(shown: ScreenSize) -> ToolSpecs {
    let golden = ["computer", "bash", "editor", "ask_user", "fill_secret"];
    let all = deskhand_agent::tools::all().specs(shown);
    let is_golden = |spec: &&ToolSpec| golden.contains(&&*spec.name);
    all.iter().filter(is_golden).cloned().collect()
}

pub(crate) fn request(items: &[Item]) -> ModelRequest {
    ModelRequest {
        system: String::new(),
        screen: ScreenSize::default(),
        shown: ScreenSize::default(),
        tools: deskhand_agent::tools::all().specs(ScreenSize::default()),
        items: items.to_vec(),
        page: None,
        options: RequestOptions::default(),
    }
}

pub(crate) fn prompt(text: &str) -> Item {
    Item::Prompt {
        text: text.to_owned(),
    }
}

/// An answer with one call, of no interest but that it was given.
pub(crate) fn answered() -> Item {
    Item::Answer {
        thinking: String::new(),
        text: String::new(),
        calls: vec![ToolCall {
            id: "turn1-step1-call1".to_owned(),
            tool: "bash".to_owned(),
            input: serde_json::json!({"shell": "run", "command": "true"}),
            checks: Vec::new(),
            problem: None,
        }],
        original: None,
    }
}

pub(crate) fn result(text: &str) -> CallResult {
    CallResult {
        call: "turn1-step1-call1".to_owned(),
        text: text.to_owned(),
        is_error: false,
        image: None,
        browser: None,
    }
}

pub(crate) fn with_image(image: Image) -> CallResult {
    CallResult {
        image: Some(image),
        ..result("Took a picture.")
    }
}

/// A rectangle of one colour: left, top, width, height.
pub(crate) type Patch = ([u8; 3], [u32; 4]);

/// A white picture with some rectangles on it.
pub(crate) fn picture(width: u32, height: u32, patches: &[Patch]) -> Image {
    let mut samples = vec![255; (width * height * 3) as usize];
    for (colour, [left, top, wide, high]) in patches {
        for y in *top..top + high {
            for x in *left..left + wide {
                let at = ((y * width + x) * 3) as usize;
                samples[at..at + 3].copy_from_slice(colour);
            }
        }
    }
    png(width, height, png::ColorType::Rgb, &samples)
}

pub(crate) fn png(width: u32, height: u32, colours: png::ColorType, samples: &[u8]) -> Image {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colours);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(samples).unwrap();
    writer.finish().unwrap();
    Image {
        bytes: Bytes::from(bytes),
        format: ImageFormat::Png,
    }
}
