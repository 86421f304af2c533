//! The words for an action that was carried out.

use deskhand_core::{
    action::{Action, Button, Point},
    sandbox::Acted,
};

/// Says in one sentence what was done, from the action and the facts in the computer's reply.
pub fn action_text(action: &Action, acted: &Acted) -> String {
    let at = |verb: &str| match acted.pointer {
        Some(Point { x, y }) => format!("{verb} at ({x}, {y})."),
        None => format!("{verb}."),
    };
    match action {
        Action::Screenshot => "Took a screenshot.".to_owned(),
        Action::Zoom { region } => format!(
            "Zoomed into ({}, {}) to ({}, {}).",
            region.x0, region.y0, region.x1, region.y1
        ),
        Action::Move { .. } => at("Moved"),
        Action::Click { button, count, .. } => at(&click_verb(*button, *count)),
        Action::MouseDown { .. } => at("Pressed the mouse button"),
        Action::MouseUp { .. } => at("Released the mouse button"),
        Action::Scroll { dx, dy, .. } => at(&scroll_verb(*dx, *dy)),
        Action::Drag { .. } => match (acted.dragged_from, acted.pointer) {
            (Some(from), Some(to)) => format!(
                "Dragged from ({}, {}) to ({}, {}).",
                from.x, from.y, to.x, to.y
            ),
            _ => "Dragged.".to_owned(),
        },
        Action::Type { text } => match text.chars().count() {
            1 => "Typed 1 character.".to_owned(),
            n => format!("Typed {n} characters."),
        },
        Action::Key { keys, repeat: 1 } => format!("Pressed {keys}."),
        Action::Key { keys, repeat } => format!("Pressed {keys} {repeat} times."),
        Action::HoldKey { keys, ms } => format!("Held {keys} for {ms} ms."),
        Action::Wait { ms } => format!("Waited {ms} ms."),
        Action::CursorPosition => match acted.pointer {
            Some(Point { x, y }) => format!("X={x}, Y={y}"),
            None => "The pointer's position is not known.".to_owned(),
        },
    }
}

fn click_verb(button: Button, count: u8) -> String {
    let name = match button {
        Button::Left => {
            return match count {
                1 => "Clicked".to_owned(),
                2 => "Double-clicked".to_owned(),
                _ => "Triple-clicked".to_owned(),
            };
        }
        Button::Middle => "Middle-clicked",
        Button::Right => "Right-clicked",
    };
    match count {
        1 => name.to_owned(),
        n => format!("{name} {n} times"),
    }
}

fn scroll_verb(dx: i32, dy: i32) -> String {
    let mut turns = Vec::new();
    if dy != 0 {
        let way = if dy < 0 { "up" } else { "down" };
        turns.push(format!("{way} {}", dy.unsigned_abs()));
    }
    if dx != 0 {
        let way = if dx < 0 { "left" } else { "right" };
        turns.push(format!("{way} {}", dx.unsigned_abs()));
    }
    if turns.is_empty() {
        "Scrolled nowhere".to_owned()
    } else {
        format!("Scrolled {}", turns.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::action::Region;

    use super::*;

    #[test]
    fn every_action_has_its_sentence() {
        let (from, to) = (Point { x: 1, y: 2 }, Point { x: 3, y: 4 });
        let acted = Acted {
            dragged_from: Some(from),
            pointer: Some(to),
            frame: None,
        };
        let click = |button, count| Action::Click {
            button,
            count,
            at: None,
            modifiers: Vec::new(),
        };
        let scroll = |dx, dy| Action::Scroll {
            at: None,
            dx,
            dy,
            modifiers: Vec::new(),
        };
        let key = |repeat| Action::Key {
            keys: "ctrl+l".to_owned(),
            repeat,
        };
        let typed = |text: &str| Action::Type {
            text: text.to_owned(),
        };
        let region = Region {
            x0: 0,
            y0: 1,
            x1: 2,
            y1: 3,
        };
        for (action, expected) in [
            (Action::Screenshot, "Took a screenshot."),
            (Action::Zoom { region }, "Zoomed into (0, 1) to (2, 3)."),
            (Action::Move { at: to }, "Moved at (3, 4)."),
            (click(Button::Left, 1), "Clicked at (3, 4)."),
            (click(Button::Left, 2), "Double-clicked at (3, 4)."),
            (click(Button::Right, 1), "Right-clicked at (3, 4)."),
            (
                click(Button::Middle, 3),
                "Middle-clicked 3 times at (3, 4).",
            ),
            (scroll(-1, 5), "Scrolled down 5 and left 1 at (3, 4)."),
            (scroll(0, 0), "Scrolled nowhere at (3, 4)."),
            (
                Action::Drag {
                    path: vec![to],
                    modifiers: Vec::new(),
                },
                "Dragged from (1, 2) to (3, 4).",
            ),
            (typed("a"), "Typed 1 character."),
            (typed("äb"), "Typed 2 characters."),
            (key(1), "Pressed ctrl+l."),
            (key(3), "Pressed ctrl+l 3 times."),
            (Action::Wait { ms: 20 }, "Waited 20 ms."),
            (Action::CursorPosition, "X=3, Y=4"),
        ] {
            assert_eq!(action_text(&action, &acted), expected);
        }
    }
}
