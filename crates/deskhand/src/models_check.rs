//! `deskhand models check`: calls models a few times and says what works.

use anyhow::bail;
use deskhand_api::models::{CheckModelBody, ModelCheckView};
use deskhand_core::model_check::CheckVerdict;

use crate::{
    cli::CheckModelsArgs,
    client::Client,
    config::{Config, Environment},
    find::running_server,
    output,
};

/// Runs `deskhand models check`. Fails if a point of any model failed.
pub(crate) async fn check(
    args: &CheckModelsArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    let client = running_server(&args.server, config, environment).await?;
    let estimates = all(&client, args, true).await?;
    if !args.json {
        for line in estimates.iter().map(estimate) {
            output::answer(&line)?;
        }
    }
    if args.estimate {
        return if args.json { json(&estimates) } else { Ok(()) };
    }
    let mut checked = Vec::new();
    for model in estimates {
        let one = CheckModelBody {
            model: Some(model.model),
            estimate: false,
        };
        let view = client.check_model(&one).await?;
        if !args.json {
            for line in lines(&view) {
                output::answer(&line)?;
            }
        }
        checked.push(view);
    }
    if args.json {
        json(&checked)?;
    }
    let is_bad =
        |view: &&ModelCheckView| view.report.as_ref().is_some_and(|report| !report.is_good());
    let bad: Vec<&str> = checked
        .iter()
        .filter(is_bad)
        .map(|view| &*view.model)
        .collect();
    if !bad.is_empty() {
        bail!("the check failed for {}", bad.join(", "));
    }
    Ok(())
}

/// Asks the server about each model, or about the default one.
async fn all(
    client: &Client,
    args: &CheckModelsArgs,
    estimate: bool,
) -> anyhow::Result<Vec<ModelCheckView>> {
    let names: Vec<Option<String>> = if args.models.is_empty() {
        vec![None]
    } else {
        args.models.iter().cloned().map(Some).collect()
    };
    let mut views = Vec::new();
    for model in names {
        let body = CheckModelBody { model, estimate };
        views.push(client.check_model(&body).await?);
    }
    Ok(views)
}

fn json(views: &[ModelCheckView]) -> anyhow::Result<()> {
    output::answer(&serde_json::to_string_pretty(views)?)?;
    Ok(())
}

fn estimate(view: &ModelCheckView) -> String {
    let model = &view.model;
    match view.estimate_usd {
        Some(usd) => format!("Checking {model} costs about ${usd:.3}."),
        None => format!("Checking {model} makes two to four calls. Their price is not known."),
    }
}

/// Returns the report in lines.
fn lines(view: &ModelCheckView) -> Vec<String> {
    let Some(report) = &view.report else {
        return Vec::new();
    };
    let cost = report.cost_usd.map(|usd| format!(", ${usd:.3}"));
    let head = format!(
        "{}: {} calls{}",
        view.model,
        report.n_calls,
        cost.unwrap_or_default()
    );
    let findings = report.findings.iter().flat_map(|finding| {
        let mark = match finding.verdict {
            CheckVerdict::Passed => "ok",
            CheckVerdict::Warned => "warning",
            CheckVerdict::Failed => "FAILED",
            CheckVerdict::Skipped => "skipped",
        };
        let line = format!(
            "  {:<8} {:<12} {}",
            mark,
            finding.point.label(),
            finding.text
        );
        let remedy = finding.remedy.as_ref();
        std::iter::once(line).chain(remedy.map(|remedy| format!("{:24}→ {remedy}", "")))
    });
    std::iter::once(head).chain(findings).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_says_what_failed_and_the_way_out() {
        let view = json!({"model": "ollama/x", "estimate_usd": null, "report": {"n_calls": 2, "cost_usd": 0.0123, "findings": [
            {"point": "answer", "verdict": "passed", "text": "The vendor accepts the key and the model's name."},
            {"point": "click", "verdict": "failed", "text": "The model clicked at (1, 2).", "remedy": "Choose another."},
            {"point": "second_step", "verdict": "skipped", "text": "It was not checked."},
        ]}});
        let view: ModelCheckView = serde_json::from_value(view).unwrap();
        insta::assert_snapshot!(lines(&view).join("\n"), @r"
        ollama/x: 2 calls, $0.012
          ok       answer       The vendor accepts the key and the model's name.
          FAILED   click        The model clicked at (1, 2).
                                → Choose another.
          skipped  second step  It was not checked.
        ");
        assert_eq!(
            estimate(&view),
            "Checking ollama/x makes two to four calls. Their price is not known."
        );
    }
}
