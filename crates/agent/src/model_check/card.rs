//! The test card: a white screen with a green disc.

use bytes::Bytes;
use deskhand_core::{
    action::{Point, ScreenSize},
    blob::BlobFormat,
    model::{Image, ImageFormat},
};
use deskhand_pictures::Picture;

/// The screen that the card fills.
pub(super) const SCREEN: ScreenSize = ScreenSize {
    width: 1024,
    height: 768,
};
/// The middle of the disc. In thousandths it has other numbers that are on the screen too, and off the disc.
pub(super) const TARGET: Point = Point { x: 800, y: 300 };
/// The radius of the disc in pixels of the screen.
pub(super) const RADIUS: i32 = 36;

/// Bytes of a pixel: blue, green, red, and one that is not used.
const GREEN: [u8; 4] = [0x4d, 0x9a, 0x1f, 0];
const WHITE: [u8; 4] = [0xff, 0xff, 0xff, 0];

/// Returns the card in this size. Returns `None` if it cannot be encoded.
pub(super) fn with_target(shown: ScreenSize) -> Option<Image> {
    picture(shown, |x, y| {
        let (dx, dy) = (x - TARGET.x, y - TARGET.y);
        dx * dx + dy * dy <= RADIUS * RADIUS
    })
}

/// Returns the card after the click: the disc is gone.
pub(super) fn without_target(shown: ScreenSize) -> Option<Image> {
    picture(shown, |_, _| false)
}

/// Draws a picture. `is_green` is asked about places on the screen.
fn picture(shown: ScreenSize, is_green: impl Fn(i32, i32) -> bool) -> Option<Image> {
    let on_screen = |at: u16, shown: u16, screen: u16| {
        i32::from(at) * i32::from(screen) / i32::from(shown.max(1))
    };
    let mut bgrx = Vec::with_capacity(4 * usize::from(shown.width) * usize::from(shown.height));
    for y in 0..shown.height {
        for x in 0..shown.width {
            let x = on_screen(x, shown.width, SCREEN.width);
            let y = on_screen(y, shown.height, SCREEN.height);
            bgrx.extend(if is_green(x, y) { GREEN } else { WHITE });
        }
    }
    let picture = Picture { size: shown, bgrx };
    let bytes = picture.encode(BlobFormat::Png).ok()?;
    Some(Image {
        bytes: Bytes::from(bytes),
        format: ImageFormat::Png,
    })
}
