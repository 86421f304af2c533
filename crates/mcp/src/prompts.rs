//! Prompts: common tasks that a person picks from a list in their client.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};

use crate::clip::clip;

/// The longest value of an argument.
const LONGEST_VALUE_BYTES: usize = 16 * 1024;

/// A common task. `{name}` in its text stands for an argument.
struct Task {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Name and description of each argument. All are required.
    arguments: &'static [(&'static str, &'static str)],
    text: &'static str,
}

const TASKS: &[Task] = &[
    Task {
        name: "research",
        title: "Research on a website",
        description: "Let an agent find the answer to a question on a website.",
        arguments: &[
            ("startUrl", "The page to begin with."),
            ("question", "The question to answer."),
        ],
        text: "Start an agent with agent_start at {startUrl}. Tell it to find the answer to this question, and to report \
               it together with the addresses of the pages that it is from: {question}\n\nWait for it with agent_status, \
               report the answer to me, and call agent_end.",
    },
    Task {
        name: "fill_form",
        title: "Fill in a form",
        description: "Let an agent fill in a form, and ask you before it sends it.",
        arguments: &[
            ("startUrl", "The page with the form."),
            ("details", "What to fill in."),
        ],
        text: "Start an agent with agent_start at {startUrl}. Tell it to fill in the form with the following, and to ask \
               before it sends it: {details}\n\nWait for it with agent_status. When it asks, show me the picture of \
               agent_get_last_image, and pass my decision on with agent_reply.",
    },
    Task {
        name: "check_page",
        title: "Check a page",
        description: "Let an agent try out a page and report what does not work.",
        arguments: &[
            ("startUrl", "The page to check."),
            ("expectation", "What should be possible there."),
        ],
        text: "Start an agent with agent_start at {startUrl}. Tell it to check, as a visitor would, that the following is \
               possible, and to report each step and everything that does not work: {expectation}\n\nWait for it with \
               agent_status, look at the pictures in agent_log, and report to me what does not work.",
    },
];

/// Returns all prompts.
pub(crate) fn list() -> Vec<Prompt> {
    let argument = |(name, description): &(&'static str, &'static str)| {
        PromptArgument::new(*name)
            .with_description(*description)
            .with_required(true)
    };
    let prompt = |task: &Task| {
        let arguments = task.arguments.iter().map(argument).collect();
        Prompt::new(task.name, Some(task.description), Some(arguments)).with_title(task.title)
    };
    TASKS.iter().map(prompt).collect()
}

/// Returns the message of a prompt.
pub(crate) fn get(name: &str, given: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    let refuse = |message: String| ErrorData::invalid_params(message, None);
    let task = TASKS.iter().find(|task| task.name == name).ok_or_else(|| {
        let name = clip(name, 80);
        refuse(format!(
            "there is no prompt {name:?}; prompts/list has all of them"
        ))
    })?;
    let mut values = Vec::with_capacity(task.arguments.len());
    for (argument, _) in task.arguments {
        let value = given.get(*argument).and_then(serde_json::Value::as_str);
        let value = value.ok_or_else(|| {
            refuse(format!(
                "the prompt {name} needs the argument {argument}, a text"
            ))
        })?;
        if value.len() > LONGEST_VALUE_BYTES {
            return Err(refuse(format!(
                "{argument} has at most {LONGEST_VALUE_BYTES} bytes"
            )));
        }
        values.push((format!("{{{argument}}}"), value));
    }
    let text = filled(task.text, &values);
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(task.description))
}

/// Puts values into a text, from left to right: a value is never searched for another placeholder.
fn filled(text: &str, values: &[(String, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    loop {
        let places = values.iter().filter_map(|(place, value)| {
            rest.find(place.as_str())
                .map(|at| (at, place.len(), *value))
        });
        let Some((at, length, value)) = places.min_by_key(|(at, ..)| *at) else {
            filled.push_str(rest);
            return filled;
        };
        filled.push_str(&rest[..at]);
        filled.push_str(value);
        rest = &rest[at + length..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_has_the_values_of_its_arguments() {
        for task in TASKS {
            let given = task.arguments.iter().map(|(name, _)| {
                (
                    (*name).to_owned(),
                    format!("value of {name} and {{startUrl}}").into(),
                )
            });
            let result = get(task.name, &given.collect()).unwrap();
            let text = serde_json::to_string(&result.messages).unwrap();
            for (name, _) in task.arguments {
                assert!(
                    text.contains(&format!("value of {name} and {{startUrl}}")),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn a_prompt_without_its_arguments_is_refused() {
        let error = get("research", &JsonObject::new()).unwrap_err();
        assert!(error.message.contains("startUrl"), "{error:?}");
        assert!(get("cook", &JsonObject::new()).is_err());
    }
}
