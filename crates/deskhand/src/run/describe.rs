//! What a tool call does, in a few words.

use deskhand_core::{
    action::{Action, Button, Point},
    edit::EditCommand,
    model::ToolRequest,
    shell::ShellRequest,
};

/// Says what a tool call does. What the model got wrong is named by the tool alone.
pub(super) fn describe(tool: &str, input: &serde_json::Value) -> String {
    match ToolRequest::parse(tool, input) {
        Ok(ToolRequest::Computer(action)) => action_in_words(&action),
        Ok(ToolRequest::Bash(ShellRequest::Run { command, .. })) => {
            format!("Run {}", one_line(&command))
        }
        Ok(ToolRequest::Bash(ShellRequest::Restart)) => "Start a new shell".to_owned(),
        Ok(ToolRequest::Editor(command)) => edit_in_words(&command),
        Ok(ToolRequest::AskUser(question)) => format!("Ask “{}”", one_line(&question.question)),
        Ok(ToolRequest::FillSecret(fill)) => format!("Fill in the secret {}", fill.name),
        Err(_) => format!("Use {tool}"),
    }
}

/// Text on one line, with every run of white space as one blank.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn action_in_words(action: &Action) -> String {
    match action {
        Action::Screenshot => "Look at the screen".to_owned(),
        Action::Zoom { region } => format!(
            "Look closely at ({}, {}) to ({}, {})",
            region.x0, region.y0, region.x1, region.y1
        ),
        Action::Move { at } => format!("Move the pointer to {}", place(*at)),
        Action::Click {
            button, count, at, ..
        } => click_in_words(*button, *count, *at),
        Action::MouseDown { button } => format!("Press the {} button", button_name(*button)),
        Action::MouseUp { button } => format!("Release the {} button", button_name(*button)),
        Action::Drag { path, .. } => match path.last() {
            Some(end) => format!("Drag to {}", place(*end)),
            None => "Drag".to_owned(),
        },
        Action::Scroll { dx, dy, .. } => match (dx, dy) {
            (_, 1..) => "Scroll down".to_owned(),
            (_, ..=-1) => "Scroll up".to_owned(),
            (1.., _) => "Scroll right".to_owned(),
            _ => "Scroll left".to_owned(),
        },
        Action::Type { text } => format!("Type “{}”", one_line(text)),
        Action::Key { keys, repeat: 1 } => format!("Press {keys}"),
        Action::Key { keys, repeat } => format!("Press {keys} {repeat} times"),
        Action::HoldKey { keys, ms } => format!("Hold {keys} for {ms} ms"),
        Action::Wait { ms } => format!("Wait {ms} ms"),
        Action::CursorPosition => "Ask where the pointer is".to_owned(),
    }
}

fn click_in_words(button: Button, count: u8, at: Option<Point>) -> String {
    let what = match (button, count) {
        (Button::Left, 1) => "Click",
        (Button::Left, 2) => "Double-click",
        (Button::Left, _) => "Triple-click",
        (Button::Middle, _) => "Middle-click",
        (Button::Right, _) => "Right-click",
    };
    match at {
        Some(at) => format!("{what} at {}", place(at)),
        None => what.to_owned(),
    }
}

fn edit_in_words(command: &EditCommand) -> String {
    match command {
        EditCommand::View { path, .. } => format!("View {path}"),
        EditCommand::Create { path, .. } => format!("Write {path}"),
        EditCommand::StrReplace { path, .. } | EditCommand::Insert { path, .. } => {
            format!("Edit {path}")
        }
        EditCommand::UndoEdit { path } => format!("Undo the last edit of {path}"),
    }
}

fn place(at: Point) -> String {
    format!("({}, {})", at.x, at.y)
}

fn button_name(button: Button) -> &'static str {
    match button {
        Button::Left => "left",
        Button::Middle => "middle",
        Button::Right => "right",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_read_as_what_they_do() {
        let cases = [
            (
                "computer",
                json!({"action": "screenshot"}),
                "Look at the screen",
            ),
            (
                "computer",
                json!({"action": "click", "count": 2, "at": {"x": 1, "y": 2}}),
                "Double-click at (1, 2)",
            ),
            (
                "computer",
                json!({"action": "scroll", "dy": -3}),
                "Scroll up",
            ),
            (
                "computer",
                json!({"action": "type", "text": "a\nb"}),
                "Type “a b”",
            ),
            (
                "bash",
                json!({"shell": "run", "command": "ls  -l\n"}),
                "Run ls -l",
            ),
            (
                "editor",
                json!({"command": "view", "path": "/x"}),
                "View /x",
            ),
            ("computer", json!({"action": "dance"}), "Use computer"),
        ];
        for (tool, input, expected) in cases {
            assert_eq!(describe(tool, &input), expected);
        }
    }
}
