//! `deskhand decisions` and `deskhand answer`: the questions of agents, through the running server.

use std::path::Path;

use anyhow::Context;
use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_api::decisions::{AnswerBody, AnswerFile};
use deskhand_core::{
    decision::{AnswerScope, Choice, Form, Subject},
    shell::ShellRequest,
};

use crate::{
    cli::{AnswerArgs, ServerArgs},
    config::{Config, Environment},
    find::running_server,
    output,
};

/// Runs `deskhand decisions`.
pub(crate) async fn list(
    args: &ServerArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    let client = running_server(args, config, environment).await?;
    let decisions = client.decisions().await?;
    if decisions.is_empty() {
        output::say("Nothing is waiting for you.");
    }
    for decision in decisions {
        let title = match &*decision.session_title {
            "" => "Untitled session",
            title => title,
        };
        let kind = decision.kind.name();
        output::answer(&format!("{}\t{kind}\t{title}", decision.id))?;
        for line in asked(&decision.prompt, &decision.form, decision.subject.as_ref()) {
            output::answer(&format!("  {line}"))?;
        }
        if let Some(rule) = decision.rule {
            let text = rule.pattern.replace('\n', " ⏎ ");
            output::answer(&format!(
                "  --session or --always allows exactly this: {text}"
            ))?;
        }
        if let Some(end) = decision.expires_at {
            output::answer(&format!("  Until {}", end.strftime("%F %T UTC")))?;
        }
    }
    Ok(())
}

/// Runs `deskhand answer`.
pub(crate) async fn answer(
    args: &AnswerArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    let client = running_server(&args.server, config, environment).await?;
    let decisions = client.decisions().await?;
    let Some(decision) = decisions.iter().find(|decision| decision.id == args.id) else {
        anyhow::bail!(
            "no decision {} is waiting for you; `deskhand decisions` lists those that are",
            args.id
        );
    };
    let answer = given(args, &decision.form)?;
    client
        .answer(decision.session_id, decision.id, &answer)
        .await?;
    output::say("The agent goes on.");
    Ok(())
}

/// Returns the answer that the arguments give to a question of this form.
fn given(args: &AnswerArgs, form: &Form) -> anyhow::Result<AnswerBody> {
    if let Some(path) = &args.file {
        return file(path);
    }
    if let Some(text) = &args.other {
        return Ok(AnswerBody::text(text));
    }
    if let Some(reason) = &args.because {
        return Ok(AnswerBody::no_because(reason));
    }
    Ok(match (args.yes, args.no, args.session, args.always) {
        (true, ..) => AnswerBody::yes(true),
        (_, true, ..) => AnswerBody::yes(false),
        (_, _, true, _) => AnswerBody::yes_for(AnswerScope::Session),
        (.., true) => AnswerBody::yes_for(AnswerScope::Always),
        (false, false, false, false) => match form {
            Form::Choices { choices, .. } => {
                let texts = args.texts.iter();
                AnswerBody::choices(texts.map(|text| value(choices, text)).collect())
            }
            Form::Text | Form::YesNo | Form::File => AnswerBody::text(args.texts.join(" ")),
        },
    })
}

/// Returns the lines of a question: its text, the call it is about and the possible answers.
pub(crate) fn asked(prompt: &str, form: &Form, subject: Option<&Subject>) -> Vec<String> {
    let mut lines: Vec<String> = prompt.lines().map(str::to_owned).collect();
    if let Some(subject) = subject {
        lines.extend(done_by(subject));
    }
    match form {
        Form::Text => {}
        Form::YesNo => lines.push("yes or no".to_owned()),
        Form::File => lines.push("a file".to_owned()),
        Form::Choices { choices, several } => {
            for (number, choice) in (1..).zip(choices) {
                lines.push(format!("{number}  {}", choice.label));
            }
            if *several {
                lines.push("one or more of these".to_owned());
            }
        }
    }
    lines
}

/// Returns the exact call that the question is about.
fn done_by(subject: &Subject) -> Vec<String> {
    let shell = serde_json::from_value(subject.input.clone()).ok();
    match shell {
        Some(ShellRequest::Run { command, .. }) if subject.tool == "bash" => {
            command.lines().map(|line| format!("$ {line}")).collect()
        }
        Some(_) | None => vec![format!("{} {}", subject.tool, subject.input)],
    }
}

/// Returns the value of the choice with this value, label or number.
///
/// If there is none, returns the text itself. The server then refuses it and lists the choices.
pub(crate) fn value(choices: &[Choice], text: &str) -> String {
    let text = text.trim();
    let by_number = text.parse::<usize>().ok();
    let by_number = by_number.and_then(|number| choices.get(number.checked_sub(1)?));
    let named = |choice: &&Choice| {
        choice.value == text || choice.label.to_lowercase() == text.to_lowercase()
    };
    let found = choices.iter().find(named).or(by_number);
    found.map_or_else(|| text.to_owned(), |choice| choice.value.clone())
}

/// Reads a file as an answer.
pub(crate) fn file(path: &Path) -> anyhow::Result<AnswerBody> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(AnswerBody::file(AnswerFile {
        name: name.into_owned(),
        base64: STANDARD.encode(bytes),
    }))
}
