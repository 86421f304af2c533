//! Questions that an agent asks a person.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::decision::{
    Ask, Choice, DecisionKind, Form, LONGEST_CHOICE, LONGEST_EXPIRY_S, LONGEST_QUESTION_BYTES,
    MOST_CHOICES, Reply,
};

/// A question as the model writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub question: String,
    #[serde(default)]
    pub form: FormName,
    /// For the form `choices`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Offer>,
    /// True if more than one may be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub several: bool,
    /// The answer if no one gives one in time: a text, a choice or a list of choices, or a bool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<serde_json::Value>,
    /// The time until the question expires. Without it the question never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_s: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormName {
    #[default]
    Text,
    Choices,
    YesNo,
    File,
}

/// A choice, or only its value, which is then also its label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Offer {
    Value(String),
    Choice(Choice),
}

impl Question {
    /// Returns the question in the form for people. The error is for the model.
    pub fn ask(&self, now: Timestamp) -> Result<Ask, String> {
        if self.question.trim().is_empty() {
            return Err("the question is empty".to_owned());
        }
        if self.question.len() > LONGEST_QUESTION_BYTES {
            return Err(format!(
                "a question has at most {LONGEST_QUESTION_BYTES} bytes"
            ));
        }
        let form = self.form()?;
        let default = self.default(&form)?;
        let expires_at = match self.expires_in_s {
            None if default.is_some() => {
                return Err("a default needs expires_in_s".to_owned());
            }
            None => None,
            Some(seconds @ 1..=LONGEST_EXPIRY_S) => Some(now + Duration::from_secs(seconds)),
            Some(_) => return Err(format!("expires_in_s must be from 1 to {LONGEST_EXPIRY_S}")),
        };
        Ok(Ask {
            call: None,
            kind: DecisionKind::Question,
            prompt: self.question.clone(),
            form,
            subject: None,
            over: None,
            rule: None,
            default,
            expires_at,
        })
    }

    /// Checks that the question is valid.
    pub fn check(&self) -> Result<(), String> {
        self.ask(Timestamp::UNIX_EPOCH).map(drop)
    }

    fn form(&self) -> Result<Form, String> {
        let has_choices = self.several || !self.choices.is_empty();
        if self.form != FormName::Choices && has_choices {
            return Err("choices and several can only be used with the form choices".to_owned());
        }
        Ok(match self.form {
            FormName::Text => Form::Text,
            FormName::YesNo => Form::YesNo,
            FormName::File => Form::File,
            FormName::Choices => Form::Choices {
                choices: self.choices()?,
                several: self.several,
            },
        })
    }

    fn choices(&self) -> Result<Vec<Choice>, String> {
        if !(2..=MOST_CHOICES).contains(&self.choices.len()) {
            return Err(format!(
                "the form choices needs 2 to {MOST_CHOICES} choices"
            ));
        }
        let mut choices: Vec<Choice> = Vec::with_capacity(self.choices.len());
        for offer in &self.choices {
            let choice = match offer {
                Offer::Choice(choice) => choice.clone(),
                Offer::Value(value) => Choice {
                    value: value.clone(),
                    label: value.clone(),
                },
            };
            let is_good =
                |text: &str| !text.trim().is_empty() && text.chars().count() <= LONGEST_CHOICE;
            if !is_good(&choice.value) || !is_good(&choice.label) {
                return Err(format!("a choice has 1 to {LONGEST_CHOICE} characters"));
            }
            if choices.iter().any(|other| other.value == choice.value) {
                return Err(format!("the choice {:?} is offered twice", choice.value));
            }
            choices.push(choice);
        }
        Ok(choices)
    }

    fn default(&self, form: &Form) -> Result<Option<Reply>, String> {
        use serde_json::Value;
        let Some(default) = &self.default else {
            return Ok(None);
        };
        let reply = match (form, default) {
            (Form::Text, Value::String(text)) => Reply::Text(text.clone()),
            (Form::YesNo, Value::Bool(yes)) => Reply::Yes(*yes),
            (Form::Choices { .. }, Value::String(value)) => Reply::Choices(vec![value.clone()]),
            (Form::Choices { .. }, Value::Array(values)) => {
                let texts = values.iter().map(|value| value.as_str().map(str::to_owned));
                let texts: Option<Vec<_>> = texts.collect();
                Reply::Choices(
                    texts.ok_or("the default for the form choices must be a list of texts")?,
                )
            }
            (Form::Text | Form::YesNo | Form::Choices { .. } | Form::File, _) => {
                return Err("the default does not answer the question".to_owned());
            }
        };
        let checked = form.check(reply);
        checked
            .map(Some)
            .map_err(|error| format!("the default is not a valid answer: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn asked(input: Value) -> Result<Ask, String> {
        let now = "2026-07-03T12:00:00Z".parse().unwrap();
        let question: Question =
            serde_json::from_value(input).map_err(|error| error.to_string())?;
        question.ask(now)
    }

    #[test]
    fn a_question_becomes_what_people_are_asked() {
        let ask = asked(json!({
            "question": "Which one?", "form": "choices",
            "choices": ["a", {"value": "b", "label": "The second"}],
            "default": "b", "expires_in_s": 60
        }))
        .unwrap();
        assert_eq!(ask.default, Some(Reply::Choices(vec!["b".to_owned()])));
        let expires_at = ask.expires_at.map(|at| at.to_string());
        assert_eq!(expires_at.as_deref(), Some("2026-07-03T12:01:00Z"));
        let Form::Choices { choices, several } = ask.form else {
            panic!("{ask:?}");
        };
        assert!(!several);
        assert_eq!(
            (&*choices[0].label, &*choices[1].label),
            ("a", "The second")
        );
        assert_eq!(asked(json!({"question": "Why?"})).unwrap().form, Form::Text);
    }

    #[test]
    fn questions_that_cannot_be_answered_are_refused() {
        for (input, problem) in [
            (json!({"question": " "}), "empty"),
            (
                json!({"question": "?", "choices": ["a", "b"]}),
                "can only be used with",
            ),
            (
                json!({"question": "?", "form": "choices", "choices": ["a"]}),
                "2 to",
            ),
            (
                json!({"question": "?", "form": "choices", "choices": ["a", "a"]}),
                "twice",
            ),
            (json!({"question": "?", "default": "x"}), "expires_in_s"),
            (
                json!({"question": "?", "default": true, "expires_in_s": 5}),
                "does not answer",
            ),
            (
                json!({"question": "?", "form": "choices", "choices": ["a", "b"], "default": "c", "expires_in_s": 5}),
                "not a choice",
            ),
            (
                json!({"question": "?", "form": "file", "default": "x", "expires_in_s": 5}),
                "does not answer",
            ),
            (json!({"question": "?", "expires_in_s": 0}), "expires_in_s"),
            (json!({"question": "?", "when": "now"}), "unknown field"),
        ] {
            let refused = asked(input.clone()).unwrap_err();
            assert!(refused.contains(problem), "{input}: {refused}");
        }
    }
}
