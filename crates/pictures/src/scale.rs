//! Scales pictures: down to the size that a model sees, or up so that small print can be read.

use deskhand_core::action::ScreenSize;
use fast_image_resize::{
    FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer,
    images::{Image, ImageRef},
};

/// Reasons why a picture could not be scaled.
#[derive(Debug, thiserror::Error)]
pub enum ScaleError {
    #[error("the number of its pixels does not match its size")]
    Pixels(#[from] fast_image_resize::ImageBufferError),
    #[error("the scaler failed")]
    Scaler(#[from] fast_image_resize::ResizeError),
}

/// Scales `bgrx` (four bytes per pixel) from one size to another.
pub(crate) fn scale(bgrx: &[u8], from: ScreenSize, to: ScreenSize) -> Result<Vec<u8>, ScaleError> {
    let (width, height) = (from.width.into(), from.height.into());
    let before = ImageRef::new(width, height, bgrx, PixelType::U8x4)?;
    let mut after = Image::new(to.width.into(), to.height.into(), PixelType::U8x4);
    let options = ResizeOptions::new()
        .resize_alg(ResizeAlg::Convolution(filter(from, to)))
        // The fourth byte is unused.
        .use_alpha(false);
    Resizer::new().resize(&before, &mut after, &options)?;
    Ok(after.into_vec())
}

/// Returns the filter. Lanczos keeps the most detail when scaling down, but edges would ring when scaling up.
fn filter(from: ScreenSize, to: ScreenSize) -> FilterType {
    if to.width < from.width || to.height < from.height {
        FilterType::Lanczos3
    } else {
        FilterType::CatmullRom
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(width: u16, height: u16) -> ScreenSize {
        ScreenSize { width, height }
    }

    #[test]
    fn one_colour_stays_that_colour_whatever_the_fourth_byte_is() {
        for (from, to) in [
            (size(3, 2), size(17, 11)),
            (size(64, 40), size(7, 5)),
            (size(1, 1), size(9, 3)),
        ] {
            let n_pixels = |size: ScreenSize| usize::from(size.width) * usize::from(size.height);
            let scaled = scale(&[9, 99, 200, 0].repeat(n_pixels(from)), from, to).unwrap();
            assert_eq!(scaled, [9, 99, 200, 0].repeat(n_pixels(to)), "{from} {to}");
        }
    }

    #[test]
    fn a_line_a_pixel_wide_is_still_seen_at_half_the_size() {
        let (from, to) = (size(100, 100), size(50, 50));
        let row: Vec<u8> = (0..100)
            .flat_map(|x| [if x == 50 { 0 } else { 255 }; 4])
            .collect();
        let scaled = scale(&row.repeat(100), from, to).unwrap();
        let middle = &scaled[25 * 50 * 4..][..50 * 4];
        assert!(middle.iter().any(|byte| *byte < 150), "{middle:?}");
    }
}
