//! The API only grows: everything in the OpenAPI document of an earlier version is still there and the same.
//!
//! The earlier document is `openapi/baseline.json`, without descriptions. Additions are free, except those that would
//! refuse what was accepted before.

use serde_json::Value;

/// Keywords that narrow a schema, so that adding one to an existing schema breaks callers. `additionalProperties` is none
/// of them: the server has always refused unknown fields.
const NARROWING: [&str; 10] = [
    "const",
    "enum",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "not",
    "pattern",
];

/// Constraints on requests that were lifted or widened since the baseline. Every request that obeyed one is still
/// accepted.
const LIFTED: [&str; 2] = [
    // An exact rule has the whole text of a call.
    "components/schemas/ApprovalRule/properties/pattern/maxLength",
    // A message with attachments may have no text.
    "components/schemas/SendMessage/properties/content/minLength",
];

#[test]
fn the_document_differs_from_the_baseline_only_by_additions_and_descriptions() {
    let baseline = include_str!("../../../../openapi/baseline.json");
    let baseline: Value = serde_json::from_str(baseline).unwrap();
    let document: Value = serde_json::from_str(&deskhand_server::openapi()).unwrap();
    let mut found = Vec::new();
    for part in ["paths", "components", "security"] {
        compare(&baseline[part], &document[part], part, &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Collects everything that `now` changes or takes away from `before`.
fn compare(before: &Value, now: &Value, at: &str, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            for (key, before) in before {
                let at = format!("{at}/{key}");
                match now.get(key) {
                    None if key == "required" => compare_required(before, &Value::Null, &at, found),
                    _ if LIFTED.contains(&&*at) => {}
                    None => found.push(format!("{at} is gone")),
                    Some(now) => compare_keyword(key, before, now, &at, found),
                }
            }
            let narrowing = NARROWING.iter().filter(|key| {
                // A map of properties has names instead of keywords, and their values are schemas.
                now.get(**key).is_some_and(|value| !value.is_object())
                    && !before.contains_key(**key)
            });
            found.extend(narrowing.map(|key| format!("{at}/{key} is new and narrows it")));
            let was_required = before.get("required").unwrap_or(&Value::Null);
            if let (Some(properties), Some(required)) =
                (before.get("properties"), now.get("required"))
            {
                for name in strings(required) {
                    if properties.get(name).is_some() && !strings(was_required).contains(&name) {
                        found.push(format!("{at}: {name} is required now"));
                    }
                }
            }
        }
        _ if before != now => found.push(format!("{at} was {before} and is {now}")),
        _ => {}
    }
}

fn compare_keyword(key: &str, before: &Value, now: &Value, at: &str, found: &mut Vec<String>) {
    let (Some(old), Some(new)) = (before.as_array(), now.as_array()) else {
        return compare(before, now, at, found);
    };
    match key {
        "required" => compare_required(before, now, at, found),
        "parameters" => compare_parameters(old, new, at, found),
        // Each earlier choice or part is among the present ones; so is each earlier value.
        "oneOf" | "allOf" | "anyOf" | "enum" => {
            for (index, old) in old.iter().enumerate() {
                let is_same = |new: &&Value| {
                    let mut found = Vec::new();
                    compare(old, new, at, &mut found);
                    found.is_empty()
                };
                if !new.iter().any(|new| is_same(&new)) {
                    found.push(format!("{at}/{index} is gone or different: {old}"));
                }
            }
        }
        _ => {
            let is_same = old.len() == new.len() && old.iter().all(|old| new.contains(old));
            if !is_same {
                found.push(format!("{at} was {before} and is {now}"));
            }
        }
    }
}

fn compare_required(before: &Value, now: &Value, at: &str, found: &mut Vec<String>) {
    for name in strings(before) {
        if !strings(now).contains(&name) {
            found.push(format!("{at}: {name} is not required any more"));
        }
    }
}

fn compare_parameters(before: &[Value], now: &[Value], at: &str, found: &mut Vec<String>) {
    let is_named_as = |one: &Value, other: &Value| {
        ["name", "in"]
            .iter()
            .all(|key| one.get(key) == other.get(key))
    };
    for old in before {
        let at = format!("{at}/{}", old["name"]);
        match now.iter().find(|new| is_named_as(old, new)) {
            None => found.push(format!("{at} is gone")),
            Some(new) => compare(old, new, &at, found),
        }
    }
    for new in now {
        let is_old = before.iter().any(|old| is_named_as(old, new));
        if !is_old && new["required"] == true {
            found.push(format!("{at}/{} is new and required", new["name"]));
        }
    }
}

fn strings(value: &Value) -> Vec<&str> {
    let values = value.as_array().into_iter().flatten();
    values.filter_map(Value::as_str).collect()
}
