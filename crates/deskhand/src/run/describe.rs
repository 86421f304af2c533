//! The sentence that describes a tool use.

use deskhand_core::event::ToolUse;

/// The most characters of an input that are shown.
const LONGEST_INPUT: usize = 120;

/// Returns the tool's own sentence.
///
/// Calls that the tool could not read, and calls in logs of earlier versions, have none and get a plain one.
pub(super) fn describe(call: &ToolUse) -> String {
    match &call.description {
        Some(description) => description.clone(),
        None => {
            let input = one_line(&call.input.to_string());
            let mut shown: String = input.chars().take(LONGEST_INPUT).collect();
            if shown.len() < input.len() {
                shown.push('…');
            }
            format!("Used {} {shown}", call.tool)
        }
    }
}

/// Returns the sentence for a call that is not done. Tools describe their calls in the past tense.
pub(super) fn in_present(description: &str) -> String {
    let (verb, rest) = match description.find(' ') {
        Some(end) => description.split_at(end),
        None => (description, ""),
    };
    let present = match verb {
        "Found" => "Finding",
        "Held" => "Holding",
        "Ran" => "Running",
        "Read" => "Reading",
        "Took" => "Taking",
        "Undid" => "Undoing",
        "Wrote" => "Writing",
        verb => match verb.strip_suffix("ed") {
            Some(stem) => return format!("{stem}ing{rest}"),
            None => verb,
        },
    };
    format!("{present}{rest}")
}

/// Puts a text on one line, with every run of white space as one space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_that_is_not_done_reads_in_the_present() {
        for (done, open) in [
            ("Clicked at (3, 4)", "Clicking at (3, 4)"),
            ("Double-clicked at (3, 4)", "Double-clicking at (3, 4)"),
            ("Dragged to (3, 4)", "Dragging to (3, 4)"),
            ("Ran make", "Running make"),
            ("Danced", "Dancing"),
            (
                "The pointer's position is not known",
                "The pointer's position is not known",
            ),
        ] {
            assert_eq!(in_present(done), open);
        }
    }

    #[test]
    fn a_call_reads_as_its_tool_says_or_plainly() {
        let mut call = ToolUse {
            turn: None,
            call: "a".to_owned(),
            tool: "computer".to_owned(),
            input: json!({"action": "dance"}),
            description: Some("Danced".to_owned()),
            by: None,
            checks: Vec::new(),
        };
        assert_eq!(describe(&call), "Danced");
        call.description = None;
        assert_eq!(describe(&call), r#"Used computer {"action":"dance"}"#);
        call.input = json!("ü".repeat(200));
        let described = describe(&call);
        assert_eq!(
            described.chars().count(),
            "Used computer ".len() + LONGEST_INPUT + 1
        );
    }
}
