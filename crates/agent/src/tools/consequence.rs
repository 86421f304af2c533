//! The consequence that a model declares with a call of mouse, keyboard or browser.

use deskhand_core::policy::{Consequence, Declaration};
use serde_json::{Value, json};

/// The field with the consequence.
pub(super) const CONSEQUENCE: &str = "consequence";
/// The field with the reason.
pub(super) const WHY: &str = "why";

/// Returns the schema of the field with the consequence.
pub(super) fn consequence_schema() -> Value {
    json!({
        "type": "string",
        "enum": Consequence::ALL.map(Consequence::name),
        "description": "Only for an action that buys, pays, sends, publishes, deletes or accepts terms outside this \
                        computer: people may be asked first.",
    })
}

/// Returns the schema of the field with the reason.
pub(super) fn why_schema() -> Value {
    json!({"type": "string", "description": "With consequence: what exactly, in a few words, for the people who are asked."})
}

/// Takes the declaration out of an input. The error is for the model.
pub(super) fn take(input: &Value) -> Result<(Value, Option<Declaration>), String> {
    let mut input = input.clone();
    let Some(fields) = input.as_object_mut() else {
        return Ok((input, None));
    };
    let why = fields.remove(WHY);
    let declared = match fields.remove(CONSEQUENCE) {
        None | Some(Value::Null) => None,
        Some(given) => {
            let found = given.as_str().and_then(Consequence::from_name);
            let all = Consequence::ALL.map(Consequence::name).join(", ");
            let consequence =
                found.ok_or_else(|| format!("{CONSEQUENCE} must be one of {all}, not {given}"))?;
            Some(Declaration::new(
                consequence,
                why.as_ref().and_then(Value::as_str),
            ))
        }
    };
    Ok((input, declared))
}
