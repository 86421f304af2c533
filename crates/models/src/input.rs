//! Reads the input of tool calls and tolerates common mistakes of models.
//!
//! Models send numbers as text, points as text in brackets, and fields that were not asked for.

use serde_json::{Map, Value};

/// The fields of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'a>(Option<&'a Map<String, Value>>);

/// A field that is missing or makes no sense. The text is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadInput {
    #[error("{0} is missing")]
    Missing(&'static str),
    #[error("{field} must be {wanted}, not {got}")]
    Wrong {
        field: &'static str,
        wanted: &'static str,
        got: String,
    },
}

/// The maximum length of a wrong value in an error message, in characters.
const LONGEST_SHOWN: usize = 60;

impl<'a> Input<'a> {
    pub(crate) fn of(input: &'a Value) -> Self {
        Self(input.as_object())
    }

    /// Returns the field's value. `null` counts as missing.
    pub(crate) fn get(&self, field: &str) -> Option<&'a Value> {
        self.0?.get(field).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, field: &'static str) -> Result<&'a str, BadInput> {
        self.text_or_nothing(field)?.ok_or(BadInput::Missing(field))
    }

    pub(crate) fn text_or_nothing(&self, field: &'static str) -> Result<Option<&'a str>, BadInput> {
        let read = |value: &'a Value| value.as_str().ok_or_else(|| wrong(field, "text", value));
        self.get(field).map(read).transpose()
    }

    pub(crate) fn number(&self, field: &'static str) -> Result<f64, BadInput> {
        self.number_or_nothing(field)?
            .ok_or(BadInput::Missing(field))
    }

    pub(crate) fn number_or_nothing(&self, field: &'static str) -> Result<Option<f64>, BadInput> {
        let read = |value| number(value).ok_or_else(|| wrong(field, "a number", value));
        self.get(field).map(read).transpose()
    }

    pub(crate) fn is_set(&self, field: &str) -> bool {
        match self.get(field) {
            Some(Value::Bool(yes)) => *yes,
            Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    /// Returns `N` numbers, given as an array or as text in brackets.
    pub(crate) fn numbers<const N: usize>(
        &self,
        field: &'static str,
        wanted: &'static str,
    ) -> Result<Option<[f64; N]>, BadInput> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        let parsed;
        let array = match value {
            Value::String(text) => {
                parsed = serde_json::from_str::<Value>(text).unwrap_or_default();
                parsed.as_array()
            }
            Value::Array(array) => Some(array),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
        };
        array
            .and_then(|array| array.iter().map(number).collect::<Option<Vec<_>>>())
            .and_then(|numbers| numbers.try_into().ok())
            .map(Some)
            .ok_or_else(|| wrong(field, wanted, value))
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn wrong(field: &'static str, wanted: &'static str, value: &Value) -> BadInput {
    let mut got = value.to_string();
    if let Some((end, _)) = got.char_indices().nth(LONGEST_SHOWN) {
        got.truncate(end);
        got.push('…');
    }
    BadInput::Wrong { field, wanted, got }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_models_write_instead_of_numbers_is_read() {
        let input = json!({"a": [1, 2.6], "b": "[3, \"4\"]", "c": "5", "d": [1], "e": null, "f": "x".repeat(99)});
        let input = Input::of(&input);
        let pair = |field| input.numbers::<2>(field, "two numbers");
        assert_eq!(pair("a"), Ok(Some([1.0, 2.6])));
        assert_eq!(pair("b"), Ok(Some([3.0, 4.0])));
        assert_eq!(pair("e"), Ok(None));
        assert_eq!(input.number("c"), Ok(5.0));
        assert_eq!(
            pair("d").unwrap_err().to_string(),
            "d must be two numbers, not [1]"
        );
        assert_eq!(input.number("e"), Err(BadInput::Missing("e")));
        assert!(input.number("f").unwrap_err().to_string().len() < 120);
    }
}
