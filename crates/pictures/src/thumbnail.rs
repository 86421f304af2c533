//! Small grey pictures, to compare screens without noticing a caret or a clock.

use deskhand_core::action::ScreenSize;

use crate::DecodedPicture;

const SIZE: ScreenSize = ScreenSize {
    width: 64,
    height: 48,
};
/// The difference in brightness from which a pixel counts as different.
const DIFFERENCE: u8 = 24;
/// The number of different pixels that a caret and a clock may cause.
const MOST_DIFFERENT: usize = 6;

/// A small grey picture of a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thumbnail(Vec<u8>);

impl Thumbnail {
    /// Returns the thumbnail of a picture, or `None` if it cannot be decoded.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let decoded = DecodedPicture::decode(bytes).ok()?;
        let small = decoded.picture.scaled(SIZE).ok()?;
        let grey = |pixel: &[u8]| {
            let sum: u16 = pixel[..3].iter().map(|part| u16::from(*part)).sum();
            u8::try_from(sum / 3).unwrap_or(u8::MAX)
        };
        Some(Self(small.bgrx.chunks_exact(4).map(grey).collect()))
    }

    /// Returns true if two screens look the same except for details such as a caret or a clock.
    pub fn is_like(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        let is_different = |(one, other): &(&u8, &u8)| one.abs_diff(**other) >= DIFFERENCE;
        pairs.filter(is_different).count() <= MOST_DIFFERENT
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::{action::Region, blob::BlobFormat};

    use super::*;
    use crate::Picture;

    /// A white screen with a black area.
    fn screen(black: Option<[u16; 4]>) -> Thumbnail {
        let size = ScreenSize {
            width: 1024,
            height: 768,
        };
        let mut picture = Picture {
            size,
            bgrx: vec![255; 4 * 1024 * 768],
        };
        if let Some([x0, y0, x1, y1]) = black.map(|sides| sides.map(i32::from)) {
            picture.cover(Region { x0, y0, x1, y1 });
        }
        Thumbnail::of(&picture.encode(BlobFormat::Png).unwrap()).unwrap()
    }

    #[test]
    fn a_caret_and_a_clock_do_not_matter_and_a_dialog_does() {
        let empty = screen(None);
        let caret = screen(Some([300, 300, 302, 318]));
        let clock = screen(Some([980, 4, 1016, 18]));
        let dialog = screen(Some([400, 300, 600, 420]));
        let menu = screen(Some([10, 20, 130, 70]));
        assert!(empty.is_like(&caret) && empty.is_like(&clock));
        assert!(!empty.is_like(&dialog) && !empty.is_like(&menu));
        assert_eq!(Thumbnail::of(b"picture 1"), None);
    }
}
