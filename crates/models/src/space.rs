//! Converts places on the screen between the coordinates of different models.
//!
//! Actions use native pixels. A model points at the picture that it was shown, which may be smaller than the screen,
//! or at a grid of a thousand by a thousand for every size.

use deskhand_core::{
    action::{Action, Point, Region, ScreenSize},
    browser::ShownPage,
};

/// The screen and the coordinates that a model uses for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space {
    native: ScreenSize,
    grid: Grid,
    /// The page that the model was last shown.
    page: Option<ShownPage>,
}

/// The unit of a model's coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grid {
    /// Pixels of a picture of this size.
    Picture(ScreenSize),
    /// 0 to 999 in each direction.
    Thousandths,
}

/// A place that the model cannot have seen. The text is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("({x}, {y}) is outside the {width}×{height} picture")]
pub(crate) struct Outside {
    x: i64,
    y: i64,
    width: u16,
    height: u16,
}

impl Space {
    /// Creates the space of a model that points at the pixels of a picture.
    pub(crate) fn picture(native: ScreenSize, shown: ScreenSize) -> Self {
        Self {
            native,
            grid: Grid::Picture(shown),
            page: None,
        }
    }

    /// Creates the space of a model that points at thousandths.
    pub(crate) fn thousandths(native: ScreenSize) -> Self {
        Self {
            native,
            grid: Grid::Thousandths,
            page: None,
        }
    }

    /// Adds the page that the model was last shown.
    pub(crate) fn over_page(self, page: Option<ShownPage>) -> Self {
        Self { page, ..self }
    }

    /// Returns the coordinates for the visible part of a page, in CSS pixels. Before the model has seen a page, they are
    /// those of the screen.
    pub(crate) fn page(&self) -> Self {
        let Some(ShownPage { viewport, shown }) = self.page else {
            return *self;
        };
        Self {
            native: viewport,
            grid: match self.grid {
                Grid::Picture(_) => Grid::Picture(shown),
                Grid::Thousandths => Grid::Thousandths,
            },
            page: self.page,
        }
    }

    /// Returns the size of the screen.
    pub(crate) fn native(&self) -> ScreenSize {
        self.native
    }

    /// Returns the size of the grid that the model points at.
    pub(crate) fn size(&self) -> ScreenSize {
        match self.grid {
            Grid::Picture(size) => size,
            Grid::Thousandths => ScreenSize {
                width: 1000,
                height: 1000,
            },
        }
    }

    /// Returns the native pixel in the middle of the place that the model pointed at. Fractions are rounded first.
    pub(crate) fn point(&self, x: f64, y: f64) -> Result<Point, Outside> {
        let size = self.size();
        let (x, y) = match self.grid {
            Grid::Picture(_) => (whole(x), whole(y)),
            // Models may say 1000 for the last place, which is 999.
            Grid::Thousandths => (last_for_end(whole(x)), last_for_end(whole(y))),
        };
        let within =
            (0..i64::from(size.width)).contains(&x) && (0..i64::from(size.height)).contains(&y);
        if !within {
            let (width, height) = (size.width, size.height);
            return Err(Outside {
                x,
                y,
                width,
                height,
            });
        }
        Ok(Point {
            x: centre(x, size.width, self.native.width),
            y: centre(y, size.height, self.native.height),
        })
    }

    /// Returns the native pixels of a part of the picture. Its end may be the picture's own edge.
    pub(crate) fn region(&self, corners: [f64; 4]) -> Result<Region, Outside> {
        let size = self.size();
        let [x0, y0, x1, y1] = corners.map(whole);
        let (width, height) = (size.width, size.height);
        for (x, y) in [(x0, y0), (x1, y1)] {
            let within =
                (0..=i64::from(width)).contains(&x) && (0..=i64::from(height)).contains(&y);
            if !within {
                return Err(Outside {
                    x,
                    y,
                    width,
                    height,
                });
            }
        }
        Ok(Region {
            x0: edge(x0, width, self.native.width),
            y0: edge(y0, height, self.native.height),
            x1: edge(x1, width, self.native.width),
            y1: edge(y1, height, self.native.height),
        })
    }

    /// Converts a native place to the model's coordinates.
    pub(crate) fn shown(&self, at: Point) -> Point {
        self.seen(at, self.native)
    }

    /// Converts a place in a picture of the screen to the model's coordinates.
    pub(crate) fn seen(&self, at: Point, picture: ScreenSize) -> Point {
        let size = self.size();
        Point {
            x: centre(at.x.into(), picture.width, size.width),
            y: centre(at.y.into(), picture.height, size.height),
        }
    }

    /// Converts the places of an action to the model's coordinates.
    pub(crate) fn shown_action(&self, mut action: Action) -> Action {
        match &mut action {
            Action::Move { at }
            | Action::Click { at: Some(at), .. }
            | Action::Scroll { at: Some(at), .. } => *at = self.shown(*at),
            Action::Drag { path, .. } => {
                for at in path {
                    *at = self.shown(*at);
                }
            }
            Action::Zoom { region } => {
                let Region { x0, y0, x1, y1 } = *region;
                let (start, end) = (Point { x: x0, y: y0 }, Point { x: x1, y: y1 });
                let (start, end) = (self.shown(start), self.shown(end));
                *region = Region {
                    x0: start.x,
                    y0: start.y,
                    x1: end.x,
                    y1: end.y,
                };
            }
            Action::Click { at: None, .. }
            | Action::Scroll { at: None, .. }
            | Action::Screenshot
            | Action::MouseDown { .. }
            | Action::MouseUp { .. }
            | Action::Type { .. }
            | Action::Key { .. }
            | Action::HoldKey { .. }
            | Action::Wait { .. }
            | Action::CursorPosition => {}
        }
        action
    }
}

/// Returns the largest size with the screen's shape and orientation that fits into `most`.
pub(crate) fn fitting(screen: ScreenSize, most: ScreenSize) -> ScreenSize {
    let (long, short) = (
        most.width.max(most.height).into(),
        most.width.min(most.height).into(),
    );
    let (width, height) = (u32::from(screen.width), u32::from(screen.height));
    let (across, down) = if width >= height {
        (long, short)
    } else {
        (short, long)
    };
    if width <= across && height <= down {
        return screen;
    }
    // Limited by the width or by the height, whichever gives less.
    let scaled = if width * down >= height * across {
        (across, height * across / width)
    } else {
        (width * down / height, down)
    };
    let edge = |edge: u32| u16::try_from(edge.max(1)).unwrap_or(u16::MAX);
    ScreenSize {
        width: edge(scaled.0),
        height: edge(scaled.1),
    }
}

/// Rounds a number. NaN and huge values end up far outside every picture.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of a float saturates"
)]
fn whole(value: f64) -> i64 {
    if value.is_nan() {
        i64::MIN / 2
    } else {
        value.round() as i64
    }
}

fn last_for_end(value: i64) -> i64 {
    if value == 1000 { 999 } else { value }
}

/// Converts the middle of pixel `value` of `from` to pixels of `to`.
fn centre(value: i64, from: u16, to: u16) -> i32 {
    let (from, to) = (i64::from(from), i64::from(to));
    // Both are less than 2³¹ for every screen.
    i32::try_from(((2 * value + 1) * to).div_euclid(2 * from)).unwrap_or(i32::MAX)
}

fn edge(value: i64, from: u16, to: u16) -> i32 {
    let (from, to) = (i64::from(from), i64::from(to));
    i32::try_from((value * to + from / 2) / from).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn size(width: u16, height: u16) -> ScreenSize {
        ScreenSize { width, height }
    }

    #[test]
    fn a_picture_as_big_as_the_screen_changes_nothing() {
        let space = Space::picture(size(1024, 768), size(1024, 768));
        assert_eq!(space.point(1023.0, 767.0), Ok(Point { x: 1023, y: 767 }));
        assert_eq!(space.point(10.4, 20.5), Ok(Point { x: 10, y: 21 }));
        assert!(space.point(1024.0, 0.0).is_err());
        assert!(space.point(-1.0, 0.0).is_err());
        assert!(space.point(f64::NAN, 0.0).is_err());
        let told = space.point(1e300, 3.0).unwrap_err().to_string();
        assert!(told.ends_with("is outside the 1024×768 picture"), "{told}");
    }

    #[test]
    fn the_last_thousandth_is_on_the_screen() {
        let space = Space::thousandths(size(1440, 900));
        assert_eq!(space.point(999.0, 999.0), Ok(Point { x: 1439, y: 899 }));
        assert_eq!(space.point(0.0, 0.0), Ok(Point { x: 0, y: 0 }));
        assert_eq!(space.point(1000.0, 1000.0), space.point(999.0, 999.0));
        assert!(space.point(1001.0, 0.0).is_err());
    }

    #[test]
    fn pictures_keep_the_shape_of_the_screen() {
        let most = size(1440, 900);
        for (screen, expected) in [
            (size(1024, 768), size(1024, 768)),
            (size(1440, 900), size(1440, 900)),
            (size(1920, 1080), size(1440, 810)),
            (size(2560, 1600), size(1440, 900)),
            (size(1080, 1920), size(810, 1440)),
            (size(1600, 1600), size(900, 900)),
        ] {
            assert_eq!(fitting(screen, most), expected, "{screen}");
        }
    }

    proptest! {
        #[test]
        fn what_is_pointed_at_is_what_was_seen(
            native in (200_u16..4000, 200_u16..4000),
            shown in (100_u16..2000, 100_u16..2000),
            at in (0.0_f64..1.0, 0.0_f64..1.0),
        ) {
            let (native, shown) = (size(native.0, native.1), size(shown.0, shown.1));
            prop_assume!(shown.width <= native.width && shown.height <= native.height);
            let space = Space::picture(native, shown);
            let seen = (
                (at.0 * f64::from(shown.width)).floor(),
                (at.1 * f64::from(shown.height)).floor(),
            );
            let point = space.point(seen.0, seen.1).unwrap();
            prop_assert!(point.x < i32::from(native.width) && point.y < i32::from(native.height));
            let shown = space.shown(point);
            prop_assert_eq!((shown.x.into(), shown.y.into()), (whole(seen.0), whole(seen.1)));
        }

        #[test]
        fn what_was_done_is_told_as_it_was_said(
            native in (200_u16..4000, 200_u16..4000),
            shown in (100_u16..2000, 100_u16..2000),
            edges in (0_u16..2000, 0_u16..2000, 0_u16..2000, 0_u16..2000),
        ) {
            let (native, shown) = (size(native.0, native.1), size(shown.0, shown.1));
            prop_assume!(shown.width <= native.width && shown.height <= native.height);
            let space = Space::picture(native, shown);
            let within = |edge: u16, most: u16| i32::from(edge.min(most));
            let said = Region {
                x0: within(edges.0, shown.width),
                y0: within(edges.1, shown.height),
                x1: within(edges.2, shown.width),
                y1: within(edges.3, shown.height),
            };
            let corners = [said.x0, said.y0, said.x1, said.y1].map(f64::from);
            let region = space.region(corners).unwrap();
            let told = space.shown_action(Action::Zoom { region });
            prop_assert_eq!(told, Action::Zoom { region: said });
        }
    }
}
