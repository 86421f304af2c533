//! Places in the input of the tool `browser`, between the coordinates of a model and CSS pixels.

use deskhand_core::action::{Point, Region};
use serde_json::{Value, json};

use crate::{
    input::Input,
    space::{Outside, Space},
};

/// The fields that are a point together.
const POINTS: [(&str, &str); 2] = [("x", "y"), ("to_x", "to_y")];
/// The points of a drag, as `[x, y]`.
pub(crate) const PATH: &str = "path_points";
/// The part of a picture to look at, as `[x0, y0, x1, y1]`.
pub(crate) const REGION: &str = "region";

/// Converts the places of a call from the model's coordinates. Places that make no sense stay as they are, and the tool
/// explains them.
pub(crate) fn read(input: &Value, space: &Space) -> Result<Value, String> {
    let space = space.page();
    let converted = convert(
        input,
        |x, y| space.point(x, y),
        |corners| space.region(corners),
    );
    converted.map_err(|outside| outside.to_string())
}

/// Converts the places of a call to the model's coordinates.
pub(crate) fn shown(input: &Value, space: &Space) -> Value {
    let space = space.page();
    let point = |x: f64, y: f64| Ok(space.shown(whole(x, y)));
    let region = |[x0, y0, x1, y1]: [f64; 4]| {
        let (start, end) = (space.shown(whole(x0, y0)), space.shown(whole(x1, y1)));
        Ok(Region {
            x0: start.x,
            y0: start.y,
            x1: end.x,
            y1: end.y,
        })
    };
    convert(input, point, region).unwrap_or_else(|_outside: Outside| input.clone())
}

fn convert(
    input: &Value,
    point: impl Fn(f64, f64) -> Result<Point, Outside>,
    region: impl Fn([f64; 4]) -> Result<Region, Outside>,
) -> Result<Value, Outside> {
    let mut converted = input.clone();
    let fields = Input::of(input);
    for (x, y) in POINTS {
        let number = |field| fields.get(field).and_then(Value::as_f64);
        if let (Some(at_x), Some(at_y)) = (number(x), number(y)) {
            let at = point(at_x, at_y)?;
            (converted[x], converted[y]) = (at.x.into(), at.y.into());
        }
    }
    if let Some(points) = converted.get_mut(PATH).and_then(Value::as_array_mut) {
        for pair in points {
            if let (Some(x), Some(y)) = (pair[0].as_f64(), pair[1].as_f64()) {
                let at = point(x, y)?;
                *pair = json!([at.x, at.y]);
            }
        }
    }
    if let Ok(Some(corners)) = fields.numbers::<4>(REGION, "four numbers") {
        let Region { x0, y0, x1, y1 } = region(corners)?;
        converted[REGION] = json!([x0, y0, x1, y1]);
    }
    Ok(converted)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and no page is that large"
)]
fn whole(x: f64, y: f64) -> Point {
    Point {
        x: x.round() as i32,
        y: y.round() as i32,
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::{action::ScreenSize, browser::ShownPage};

    use super::*;

    #[test]
    fn every_place_is_converted_and_told_as_it_was_said() {
        let size = |width, height| ScreenSize { width, height };
        let page = ShownPage {
            viewport: size(2000, 1000),
            shown: size(1000, 500),
        };
        let screen = size(2560, 1600);
        let space = Space::picture(screen, size(1280, 800)).over_page(Some(page));
        let said = json!({
            "action": "drag", "x": 10, "y": 20, "to_x": 999, "to_y": 499, "path_points": [[1, 2], [3, 4]],
            "region": [0, 0, 100, 50], "text": "x",
        });
        let read = read(&said, &space).unwrap();
        assert_eq!(
            read,
            json!({
                "action": "drag", "x": 21, "y": 41, "to_x": 1999, "to_y": 999, "path_points": [[3, 5], [7, 9]],
                "region": [0, 0, 200, 100], "text": "x",
            })
        );
        assert_eq!(shown(&read, &space), said);
        let outside = self::read(&json!({"action": "click", "x": 1000, "y": 0}), &space);
        assert_eq!(
            outside.unwrap_err(),
            "(1000, 0) is outside the 1000×500 picture"
        );
        let grid = Space::thousandths(screen).over_page(Some(page));
        let read = self::read(&json!({"action": "click", "x": 999, "y": 0}), &grid).unwrap();
        assert_eq!(read["x"], 1999);
    }
}
