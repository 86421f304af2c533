//! Checks a scenario before it is played.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use serde_saphyr::{Location, Spanned};

use super::{
    CheckCall,
    picture::Colour,
    scenario::{ReadScenarioError, ScenarioFile, Step},
    template,
    trouble::Trouble,
};

/// Returns the file's turns if all of them can be played.
pub(super) fn turns(
    file: ScenarioFile,
    check_call: Option<&CheckCall>,
) -> Result<Vec<Vec<Step>>, ReadScenarioError> {
    let turns = match (file.turns, file.steps) {
        (Some(turns), None) => turns.into_iter().map(|turn| turn.steps).collect(),
        (None, Some(steps)) => vec![steps],
        (Some(_), Some(_)) => return Err(whole("a scenario has `turns` or `steps`, not both")),
        (None, None) => return Err(whole("a scenario needs `steps` or `turns`")),
    };
    if turns.is_empty() {
        return Err(whole("`turns` needs at least one turn"));
    }
    let checked = turns.into_iter().map(|steps| turn(steps, check_call));
    checked.collect()
}

fn whole(problem: &str) -> ReadScenarioError {
    ReadScenarioError::at(Location::UNKNOWN, problem)
}

fn turn(
    steps: Vec<Spanned<Step>>,
    check_call: Option<&CheckCall>,
) -> Result<Vec<Step>, ReadScenarioError> {
    let n_steps = steps.len();
    if n_steps == 0 {
        return Err(whole("`steps` needs at least one step"));
    }
    let mut captured = BTreeSet::new();
    let mut checked = Vec::with_capacity(n_steps);
    for (index, step) in steps.into_iter().enumerate() {
        let at = |problem: String| ReadScenarioError::at(step.referenced, problem);
        ending(&step.value, index + 1 == n_steps).map_err(at)?;
        troubles(&step.value).map_err(at)?;
        checks(&step.value).map_err(at)?;
        captures(&step.value, &mut captured).map_err(at)?;
        placeholders(&step.value, &captured).map_err(at)?;
        calls(&step.value, check_call)?;
        checked.push(step.value);
    }
    Ok(checked)
}

fn ending(step: &Step, is_last: bool) -> Result<(), String> {
    let says_nothing = step.text.trim().is_empty() && step.calls.is_empty();
    if says_nothing && step.error.0.is_empty() {
        return Err("a step needs `text`, `calls` or `error`".to_owned());
    }
    if says_nothing && !step.always_fails() {
        return Err(
            "a step whose `error` has `times` needs `text` or `calls` to play after the errors"
                .to_owned(),
        );
    }
    match (step.ends_turn(), is_last) {
        (true, false) => Err(
            "a step without `calls` or with `error` ends the turn, so the steps after it would \
                 never be played; it goes on after `unfinished` and after an `error` with `times`"
                .to_owned(),
        ),
        (false, true) => {
            Err("the last step does not end the turn: add a step that has only `text`".to_owned())
        }
        (true, true) | (false, false) => Ok(()),
    }
}

fn troubles(step: &Step) -> Result<(), String> {
    let troubles = &step.error.0;
    if let [before @ .., _] = &troubles[..]
        && before.iter().any(|trouble| trouble.times.is_none())
    {
        return Err(
            "an `error` without `times` repeats for ever, so the errors after it would never occur"
                .to_owned(),
        );
    }
    troubles.iter().try_for_each(Trouble::check)
}

fn checks(step: &Step) -> Result<(), String> {
    if step.calls.is_empty() && !step.checks().is_empty() {
        return Err("`safety_check` and `budget` need `calls` that wait for them".to_owned());
    }
    Ok(())
}

fn captures(step: &Step, captured: &mut BTreeSet<String>) -> Result<(), String> {
    for (name, capture) in &step.capture {
        if !template::is_free_name(name) {
            return Err(format!(
                "{name:?} cannot name a captured part: use a-z, 0-9 and _, beginning with a letter, and not \
                 `prompt`, `steering` or `last_result`"
            ));
        }
        if capture.after.is_empty() || capture.until.as_deref() == Some("") {
            return Err(format!(
                "`after` and `until` of the captured part {name:?} must not be empty"
            ));
        }
        captured.insert(name.clone());
    }
    Ok(())
}

fn placeholders(step: &Step, captured: &BTreeSet<String>) -> Result<(), String> {
    let mut texts = vec![step.thinking.clone(), step.text.clone()];
    for call in &step.calls {
        strings(&call.input(), &mut texts);
    }
    for text in &texts {
        for name in template::names(text) {
            if !template::is_given(name) && !captured.contains(name) {
                return Err(format!(
                    "there is no value {{{{ {name} }}}}: use `prompt`, `steering`, `last_result`, `result.1` or \
                     a part that this or an earlier step of the turn captures"
                ));
            }
        }
    }
    Ok(())
}

fn strings(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Checks every call as the agent will, with the top left corner in place of points that are found by colour.
fn calls(step: &Step, check_call: Option<&CheckCall>) -> Result<(), ReadScenarioError> {
    for call in &step.calls {
        let at = |problem: String| ReadScenarioError::at(call.location(), problem);
        let input = with_points(call.input(), &mut |_, _| Ok(Spot { x: 0, y: 0 })).map_err(at)?;
        if let Some(check) = check_call {
            check(&call.tool, &input).map_err(at)?;
        }
    }
    Ok(())
}

/// A place on the screen.
pub(super) struct Spot {
    pub(super) x: i64,
    pub(super) y: i64,
}

/// The distance from the point that is found, in pixels of the picture.
pub(super) struct Shift {
    pub(super) dx: i64,
    pub(super) dy: i64,
}

/// Replaces every `{find: "#rrggbb", dx?, dy?}` with a point.
pub(super) fn with_points<E: From<String>>(
    value: Value,
    find: &mut dyn FnMut(Colour, Shift) -> Result<Spot, E>,
) -> Result<Value, E> {
    match value {
        Value::Object(fields) if fields.contains_key("find") => {
            let mut shift = Shift { dx: 0, dy: 0 };
            let mut colour = None;
            for (name, value) in &fields {
                match (name.as_str(), value.as_str(), value.as_i64()) {
                    ("find", Some(text), _) => colour = Some(text.parse::<Colour>()?),
                    ("dx", _, Some(pixels)) => shift.dx = pixels,
                    ("dy", _, Some(pixels)) => shift.dy = pixels,
                    _ => {
                        return Err(E::from(format!(
                            "a point by colour is {{find: \"#rrggbb\", dx, dy}} with whole \
                             numbers; {name:?} is not part of it like this"
                        )));
                    }
                }
            }
            let colour = colour.ok_or_else(|| E::from("`find` needs a colour".to_owned()))?;
            let spot = find(colour, shift)?;
            Ok(json!({"x": spot.x, "y": spot.y}))
        }
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| Ok((name, with_points(value, find)?)))
            .collect::<Result<serde_json::Map<_, _>, E>>()
            .map(Value::Object),
        Value::Array(values) => values
            .into_iter()
            .map(|value| with_points(value, find))
            .collect::<Result<Vec<_>, E>>()
            .map(Value::Array),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => Ok(other),
    }
}
