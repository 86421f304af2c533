//! The consequence that a model declares with an action on the screen. It stands beside the action in the input.

use serde_json::{Map, Value};

/// The fields of a declaration.
const FIELDS: [&str; 2] = ["consequence", "why"];

/// Splits an input into the action and the declaration.
pub(crate) fn split(input: &Value) -> (Value, Map<String, Value>) {
    let mut action = input.clone();
    let mut declaration = Map::new();
    if let Some(fields) = action.as_object_mut() {
        for field in FIELDS {
            declaration.extend(fields.remove(field).map(|value| (field.to_owned(), value)));
        }
    }
    (action, declaration)
}

/// Adds a declaration to an action.
pub(crate) fn join(mut action: Value, declaration: Map<String, Value>) -> Value {
    if let Some(fields) = action.as_object_mut() {
        fields.extend(declaration);
    }
    action
}
