//! Models that are reached at a server of the test, whichever vendor's they are.

use std::collections::BTreeMap;

use deskhand_core::{
    action::ScreenSize,
    model::{CallResult, Chunk, Item, ModelError, ModelRequest, Models, Original, ToolCall},
};
use deskhand_models::{ConfiguredModels, ModelSettings};
use deskhand_testkit::Asked;
use futures::StreamExt;

use crate::{
    fixtures::golden_tools,
    server::{Reply, Server},
};

const SCREEN: ScreenSize = ScreenSize {
    width: 1280,
    height: 800,
};

/// A key that must not be in any message.
pub(crate) const KEY: &str = "sk-canary-4711";

/// The server, and the models there.
pub(crate) struct Wire {
    server: Server,
    models: ConfiguredModels,
}

impl Wire {
    pub(crate) async fn answering(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(replies, &[]).await
    }

    /// With more environment variables. `HERE` in them is the server's address.
    pub(crate) async fn with(
        replies: impl IntoIterator<Item = Reply>,
        more: &[(&str, &str)],
    ) -> Self {
        Self::at(Server::start(replies).await, more)
    }

    pub(crate) fn at(server: Server, more: &[(&str, &str)]) -> Self {
        let here = &server.address;
        let variables = BTreeMap::from([
            ("ANTHROPIC_API_KEY", KEY.to_owned()),
            ("ANTHROPIC_BASE_URL", here.clone()),
            ("OPENAI_API_KEY", KEY.to_owned()),
            ("OPENAI_BASE_URL", format!("{here}/v1")),
            ("GEMINI_API_KEY", KEY.to_owned()),
            ("GEMINI_BASE_URL", here.clone()),
            ("OLLAMA_BASE_URL", format!("{here}/v1")),
            ("OPENROUTER_API_KEY", KEY.to_owned()),
            ("OPENROUTER_BASE_URL", format!("{here}/api/v1")),
        ]);
        let settings = ModelSettings::default().or_from_environment(|name| {
            let more = more.iter().find(|(known, _)| *known == name);
            let more = more.map(|(_, value)| value.replace("HERE", here));
            more.or_else(|| variables.get(name).cloned())
        });
        let models = ConfiguredModels::new(settings).unwrap();
        Self { server, models }
    }

    /// What a model streams in answer to these items.
    pub(crate) async fn ask(&self, model: &str, items: &[Item]) -> Vec<Result<Chunk, ModelError>> {
        self.ask_on(SCREEN, model, items).await
    }

    /// The same of a screen of this size.
    pub(crate) async fn ask_on(
        &self,
        screen: ScreenSize,
        model: &str,
        items: &[Item],
    ) -> Vec<Result<Chunk, ModelError>> {
        let model = self.models.model(model).unwrap();
        let request = ModelRequest {
            system: "You have a computer.".to_owned(),
            screen,
            shown: model.shown(screen),
            tools: golden_tools(model.shown(screen)),
            items: items.to_vec(),
        };
        model.stream(request).collect().await
    }

    /// What was heard of a whole answer.
    pub(crate) async fn heard(&self, model: &str, items: &[Item]) -> Heard {
        Heard::of(self.ask(model, items).await)
    }

    /// The error in answer to these items.
    pub(crate) async fn error(&self, model: &str, items: &[Item]) -> ModelError {
        let answer = self.ask(model, items).await;
        answer.into_iter().find_map(Result::err).unwrap()
    }

    pub(crate) fn models(&self) -> &ConfiguredModels {
        &self.models
    }

    /// Where it is.
    pub(crate) fn address(&self) -> &str {
        &self.server.address
    }

    /// What was asked for there, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.server.asked()
    }
}

/// An answer as it comes back in the next request.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) calls: Vec<ToolCall>,
    original: Option<Original>,
}

impl Heard {
    fn of(chunks: Vec<Result<Chunk, ModelError>>) -> Self {
        let mut heard = Self::default();
        for chunk in chunks {
            match chunk.unwrap() {
                Chunk::Thinking(piece) => heard.thinking += &piece,
                Chunk::Text(piece) => heard.text += &piece,
                Chunk::Call(call) => heard.calls.push(call),
                Chunk::Original(original) => heard.original = Some(original),
                Chunk::ThinkingStart | Chunk::TextStart | Chunk::Usage(_) | Chunk::End(_) => {}
            }
        }
        heard
    }

    pub(crate) fn item(&self) -> Item {
        Item::Answer {
            thinking: self.thinking.clone(),
            text: self.text.clone(),
            calls: self.calls.clone(),
            original: self.original.clone(),
        }
    }

    /// What came of its calls.
    pub(crate) fn results(&self, result: impl Fn(usize, &ToolCall) -> CallResult) -> Item {
        let results = self.calls.iter().enumerate();
        Item::Results(results.map(|(index, call)| result(index, call)).collect())
    }
}
