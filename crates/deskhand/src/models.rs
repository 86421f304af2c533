//! `deskhand models` and `deskhand prompt`: the list of models, and the instructions that one gets.

use std::sync::Arc;

use anyhow::Context;
use deskhand_agent::{SystemPrompt, tools};
use deskhand_api::models::{LongPromptsView, ModelView, ModelsView, PriceSourceView};
use deskhand_core::{
    clock::{Clock, SystemClock},
    computer::{ComputerKind, DrivingTools},
    model::Models,
};
use deskhand_models::{BadModelSettings, ConfiguredModels};

use crate::{
    cli::{ModelsArgs, ModelsCommand, PromptArgs},
    config::{Config, Environment},
    find::running_server,
    models_check, output,
};

/// Runs `deskhand models` and its commands.
pub(crate) async fn models(
    args: &ModelsArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    match &args.command {
        Some(ModelsCommand::Check(args)) => models_check::check(args, config, environment).await,
        None => list(args, config, environment).await,
    }
}

/// Lists the models.
async fn list(args: &ModelsArgs, config: &Config, environment: &Environment) -> anyhow::Result<()> {
    let client = running_server(&args.server, config, environment).await?;
    let listed = client.models().await?;
    if args.json {
        output::answer(&serde_json::to_string_pretty(&listed)?)?;
        return Ok(());
    }
    for line in table(&listed) {
        output::answer(&line)?;
    }
    Ok(())
}

/// Sets up the models of the configuration. They check scenarios against the tools when they read them.
pub(crate) fn configured(config: &Config) -> Result<ConfiguredModels, BadModelSettings> {
    let tools = tools::all();
    let models = ConfiguredModels::new(config.models.clone())?;
    Ok(models.checking_calls(Arc::new(move |tool, input| tools.check(tool, input))))
}

/// Runs `deskhand prompt`.
pub(crate) fn prompt(args: &PromptArgs, config: &Config) -> anyhow::Result<()> {
    let models = configured(config)?;
    let name = args.model.clone();
    let name = name.unwrap_or_else(|| models.default_model());
    let model = models.model(&name)?;
    let prompt = SystemPrompt {
        template: config.prompt.for_tools(&DrivingTools::of(args.computer)),
        instructions: args.instructions.clone().unwrap_or_default(),
        ..SystemPrompt::default()
    };
    let size = match args.computer {
        ComputerKind::Desktop => config.screen,
        ComputerKind::Browser => config.viewport,
    };
    let text = prompt.fill(SystemClock.now(), model.shown(size));
    output::answer(text.trim_end()).context("cannot print the prompt")
}

/// Returns one line for each model, below a heading.
fn table(listed: &ModelsView) -> Vec<String> {
    let names = listed.models.iter().map(|model| model.name.chars().count());
    let width = names.max().unwrap_or(0).max("MODEL".len());
    let row = |name: &str, input: &str, output: &str, note: &str| {
        let line = format!("{name:<width$}  {input:>8}  {output:>8}  {note}");
        line.trim_end().to_owned()
    };
    let head = row("MODEL", "$/M IN", "$/M OUT", "");
    let rows = listed.models.iter().map(|model| {
        let dollars = |price: f64| format!("{price:.2}");
        let (input, output) = match &model.price {
            Some(price) => (dollars(price.input), dollars(price.output)),
            None => ("?".to_owned(), "?".to_owned()),
        };
        row(&model.name, &input, &output, &note(listed, model))
    });
    let day = listed.prices_of.as_ref();
    let foot = day.map(|day| format!("Listed prices are of {day}."));
    std::iter::once(head).chain(rows).chain(foot).collect()
}

fn note(listed: &ModelsView, model: &ModelView) -> String {
    let default = (model.name == listed.default).then(|| "default".to_owned());
    let price = model.price.as_ref();
    let source = price.and_then(|price| match price.source {
        PriceSourceView::Listed => None,
        PriceSourceView::Set => Some("price set here".to_owned()),
        PriceSourceView::Guessed => Some(format!(
            "price guessed, like {}",
            price.like.as_deref().unwrap_or("another model")
        )),
    });
    let long = price.and_then(|price| price.long.as_ref());
    let long = long.map(|long| {
        let LongPromptsView {
            over_tokens,
            input_factor,
            output_factor,
        } = long;
        format!(
            "over {} k: {input_factor}× in, {output_factor}× out",
            over_tokens / 1000
        )
    });
    let notes: Vec<String> = [default, source, long, model.problem.clone()]
        .into_iter()
        .flatten()
        .collect();
    notes.join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_says_what_models_cost_and_what_is_missing_for_them() {
        let price = json!({"input": 4.0, "cache_write": 5.0, "cache_read": 0.2, "output": 20.0});
        let guess = json!({"input": 10.0, "cache_write": 12.5, "cache_read": 1.0, "output": 50.0,
            "source": "guessed", "like": "gpt-6-astra",
            "long": {"over_tokens": 272_000, "input_factor": 2.0, "output_factor": 1.5}});
        let set = json!({"input": 0.2, "cache_write": 0.2, "cache_read": 0.2, "output": 1.0, "source": "set"});
        let listed = json!({"default": "scripted/demo", "prices_of": "2026-11-16", "models": [
            {"name": "scripted/demo", "usable": true, "problem": null, "price": null},
            {"name": "openai/gpt-7", "usable": true, "problem": null, "price": guess},
            {"name": "openrouter/a/b", "usable": true, "problem": null, "price": set},
            {"name": "anthropic/claude-opus-5-5", "usable": false, "price": price,
             "problem": "set ANTHROPIC_API_KEY to use it"},
        ]});
        let listed: ModelsView = serde_json::from_value(listed).unwrap();
        insta::assert_snapshot!(table(&listed).join("\n"), @r"
        MODEL                        $/M IN   $/M OUT
        scripted/demo                     ?         ?  default
        openai/gpt-7                  10.00     50.00  price guessed, like gpt-6-astra; over 272 k: 2× in, 1.5× out
        openrouter/a/b                 0.20      1.00  price set here
        anthropic/claude-opus-5-5      4.00     20.00  set ANTHROPIC_API_KEY to use it
        Listed prices are of 2026-11-16.
        ");
    }
}
