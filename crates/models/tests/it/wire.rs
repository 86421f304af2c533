//! Models that are reached at a server of the test, whichever vendor's they are.

use std::collections::BTreeMap;

use deskhand_core::{
    action::ScreenSize,
    browser::ShownPage,
    model::{
        CallResult, Chunk, Item, ModelError, ModelRequest, Models, Original, RequestOptions,
        ToolCall,
    },
    tool::ToolSpec,
};
use deskhand_models::{BrowserTool, ConfiguredModels, ModelSettings};
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

/// A page whose picture is half as large.
pub(crate) const PAGE: ShownPage = ShownPage {
    viewport: ScreenSize {
        width: 2000,
        height: 1000,
    },
    shown: ScreenSize {
        width: 1000,
        height: 500,
    },
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

    /// With the function `computer` in place of the vendors' own browser tools.
    pub(crate) async fn with_computer_function(replies: impl IntoIterator<Item = Reply>) -> Self {
        let server = Server::start(replies).await;
        let mut settings = settings(&server.address, &[]);
        settings.openai.browser_tool = BrowserTool::ComputerFunction;
        for account in settings.compatible.values_mut() {
            account.browser_tool = BrowserTool::ComputerFunction;
        }
        let models = ConfiguredModels::new(settings).unwrap();
        Self { server, models }
    }

    pub(crate) fn at(server: Server, more: &[(&str, &str)]) -> Self {
        let models = ConfiguredModels::new(settings(&server.address, more)).unwrap();
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
        self.stream(screen, RequestOptions::default(), model, items)
            .await
    }

    /// The same with these options.
    pub(crate) async fn ask_with(
        &self,
        options: RequestOptions,
        model: &str,
        items: &[Item],
    ) -> Vec<Result<Chunk, ModelError>> {
        self.stream(SCREEN, options, model, items).await
    }

    async fn stream(
        &self,
        screen: ScreenSize,
        options: RequestOptions,
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
            page: None,
            options,
        };
        model.stream(request).collect().await
    }

    /// What was heard of a whole answer, in a session that offers the browser and not the screen.
    pub(crate) async fn heard_in_browser(&self, model: &str, items: &[Item]) -> Heard {
        let model = self.models.model(model).unwrap();
        let shown = model.shown(SCREEN);
        let all = deskhand_agent::tools::all().with_browser_scripts(false);
        let all = all.specs(shown);
        let is_kept = |spec: &&ToolSpec| matches!(&*spec.name, "bash" | "browser");
        let request = ModelRequest {
            system: "You have a browser.".to_owned(),
            screen: SCREEN,
            shown,
            page: Some(PAGE),
            tools: all.iter().filter(is_kept).cloned().map(terse).collect(),
            items: items.to_vec(),
            options: RequestOptions::default(),
        };
        Heard::of(model.stream(request).collect().await)
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

/// The settings of a server at `here`, with more environment variables.
fn settings(here: &str, more: &[(&str, &str)]) -> ModelSettings {
    let variables = BTreeMap::from([
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("ANTHROPIC_BASE_URL", here.to_owned()),
        ("OPENAI_API_KEY", KEY.to_owned()),
        ("OPENAI_BASE_URL", format!("{here}/v1")),
        ("GEMINI_API_KEY", KEY.to_owned()),
        ("GEMINI_BASE_URL", here.to_owned()),
        ("OLLAMA_BASE_URL", format!("{here}/v1")),
        ("OPENROUTER_API_KEY", KEY.to_owned()),
        ("OPENROUTER_BASE_URL", format!("{here}/api/v1")),
    ]);
    ModelSettings::default().or_from_environment(|name| {
        let more = more.iter().find(|(known, _)| *known == name);
        let more = more.map(|(_, value)| value.replace("HERE", here));
        more.or_else(|| variables.get(name).cloned())
    })
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

/// The offer of the browser without the properties of its input, so that new ones change no golden request.
fn terse(mut spec: ToolSpec) -> ToolSpec {
    if let Some(properties) = spec.parameters["properties"].as_object_mut() {
        properties.retain(|name, _| name == "action" || name == "command");
    }
    spec
}
