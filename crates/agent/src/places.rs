//! Places in what the computer tells, as a model would say them.
//!
//! The log has native pixels, like the actions in it. Each model counts in something of its own, and may change from turn
//! to turn, so that places are put into its words when the conversation is built.

use deskhand_core::action::Point;

/// How the computer writes a place: what stands before `x`, between `x` and `y`, and after `y`.
const FORMS: [[&str; 3]; 2] = [["(", ", ", ")"], ["X=", ", Y=", ""]];

/// The text with every place in it moved.
pub(crate) fn moved(text: &str, place: impl Fn(Point) -> Point) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some(([before, between, after], at, behind)) = read(rest) {
            let Point { x, y } = place(at);
            told.push_str(&format!("{before}{x}{between}{y}{after}"));
            rest = behind;
        } else {
            told.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    told
}

/// The place with which a text begins, how it is written, and the text behind it.
fn read(text: &str) -> Option<([&'static str; 3], Point, &str)> {
    FORMS
        .into_iter()
        .find_map(|form @ [before, between, after]| {
            let (x, rest) = number(text.strip_prefix(before)?)?;
            let (y, rest) = number(rest.strip_prefix(between)?)?;
            Some((form, Point { x, y }, rest.strip_prefix(after)?))
        })
}

fn number(text: &str) -> Option<(i32, &str)> {
    let is_over = |character: char| !character.is_ascii_digit();
    let (digits, rest) = text.split_at(text.find(is_over).unwrap_or(text.len()));
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_moved_and_nothing_else() {
        let halved = |text| {
            moved(text, |at| Point {
                x: at.x / 2,
                y: at.y / 2,
            })
        };
        for (text, expected) in [
            ("Clicked at (300, 20).", "Clicked at (150, 10)."),
            (
                "Dragged from (10, 20) to (0, 0).",
                "Dragged from (5, 10) to (0, 0).",
            ),
            (
                "Zoomed into (4, 6) to (2560, 1600).",
                "Zoomed into (2, 3) to (1280, 800).",
            ),
            ("X=512, Y=384", "X=256, Y=192"),
            ("Typed 40 characters.", "Typed 40 characters."),
            ("Waited 20 ms (about).", "Waited 20 ms (about)."),
            ("(12, ü) (, 3) X=4", "(12, ü) (, 3) X=4"),
        ] {
            assert_eq!(halved(text), expected);
        }
    }
}
