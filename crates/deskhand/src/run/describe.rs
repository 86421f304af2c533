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

/// Puts a text on one line, with every run of white space as one space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
