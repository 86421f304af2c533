//! Settings of models.

use std::path::{Path, PathBuf};

use deskhand_core::model::Effort;
use deskhand_models::{
    AccountSettings, BedrockSettings, BrowserTool, Coordinates, ModelSettings, VertexSettings,
};

use super::{prices, reader::Reader};

const BROWSER_TOOLS: [(&str, BrowserTool); 2] = [
    ("vendor", BrowserTool::Vendor),
    ("computer", BrowserTool::ComputerFunction),
];

const EFFORTS: [(&str, Option<Effort>); 4] = [
    ("", None),
    ("low", Some(Effort::Low)),
    ("medium", Some(Effort::Medium)),
    ("high", Some(Effort::High)),
];

/// The vendors that speak chat completions.
const COMPATIBLE: [&str; 4] = ["openrouter", "ollama", "vllm", "litellm"];
const MOST_CONTEXT_TOKENS: u64 = 100_000_000;

const COORDINATES: [(&str, Coordinates); 3] = [
    ("by_name", Coordinates::ByName),
    ("pixels", Coordinates::Pixels),
    ("thousandths", Coordinates::Thousandths),
];

/// Reads the effort that models put into thinking.
pub(super) fn effort(reader: &mut Reader<'_>) -> Option<Effort> {
    reader.one_of("models.effort", &EFFORTS)
}

/// Reads the settings of models. The environment variables of vendors' own programs fill in what is not set.
pub(super) fn models(reader: &mut Reader<'_>, data_dir: &Path) -> ModelSettings {
    let mut account = |vendor: &str, has_choice: bool| AccountSettings {
        key: reader.secret(&format!("models.{vendor}.api_key")),
        base_url: reader.url(&format!("models.{vendor}.base_url")),
        browser_tool: if has_choice {
            reader.one_of(&format!("models.{vendor}.browser_tool"), &BROWSER_TOOLS)
        } else {
            BrowserTool::default()
        },
        coordinates: if COMPATIBLE.contains(&vendor) {
            reader.one_of(&format!("models.{vendor}.coordinates"), &COORDINATES)
        } else {
            Coordinates::default()
        },
        context_tokens: COMPATIBLE
            .contains(&vendor)
            .then(|| {
                reader.integer(
                    &format!("models.{vendor}.context_tokens"),
                    0..=MOST_CONTEXT_TOKENS,
                )
            })
            .filter(|tokens| *tokens > 0),
    };
    let settings = ModelSettings {
        anthropic: account("anthropic", false),
        openai: account("openai", true),
        gemini: account("gemini", false),
        compatible: COMPATIBLE
            .map(|vendor| (vendor.to_owned(), account(vendor, true)))
            .into(),
        scenario_dir: Some(reader.path("models.scenarios_dir", &data_dir.join("scenarios"))),
        default_model: reader.text_or_nothing("models.default"),
        bedrock: BedrockSettings {
            region: reader.text_or_nothing("models.bedrock.region"),
            base_url: reader.url("models.bedrock.base_url"),
            ..BedrockSettings::default()
        },
        vertex: VertexSettings {
            project: reader.text_or_nothing("models.vertex.project"),
            region: reader.text_or_nothing("models.vertex.region"),
            service_account: reader
                .text_or_nothing("models.vertex.service_account")
                .map(PathBuf::from),
            base_url: reader.url("models.vertex.base_url"),
            ..VertexSettings::default()
        },
        prices: prices::prices(reader),
    };
    let environment = reader.environment();
    settings.or_from_environment(|name| environment.get(name).map(str::to_owned))
}
