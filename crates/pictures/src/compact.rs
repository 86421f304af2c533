//! Pictures as models are sent them: as few bytes as possible without a difference that an eye could see.

use deskhand_core::blob::BlobFormat;

use crate::{DecodedPicture, Picture, PictureError};

/// The quality of a JPEG for models, out of 100. Colours have the same resolution as brightness, so that coloured text
/// stays sharp.
const QUALITY: u8 = 90;
/// The effort for a PNG, from 1 to 9. Higher levels take much longer and save little.
const PNG_LEVEL: u8 = 5;

/// Returns a PNG with fewer bytes, or `None` if it cannot be made smaller.
///
/// It becomes a JPEG if that has less than half of the bytes of the best PNG, and the best PNG otherwise. The same picture
/// always gives the same bytes.
pub fn compact(png: &[u8]) -> Option<(Vec<u8>, BlobFormat)> {
    let picture = DecodedPicture::decode(png).ok()?.picture;
    let smaller = picture.encode_small_png().ok()?;
    let best = smaller.len().min(png.len());
    let jpeg = picture.encode_fine_jpeg().ok()?;
    if jpeg.len() * 2 < best {
        return Some((jpeg, BlobFormat::Jpeg));
    }
    (smaller.len() < png.len()).then_some((smaller, BlobFormat::Png))
}

impl Picture {
    fn encode_small_png(&self) -> Result<Vec<u8>, PictureError> {
        // Flat areas and text repeat from row to row, which deflate finds without a filter.
        self.png(
            png::DeflateCompression::Level(PNG_LEVEL),
            png::Filter::NoFilter,
        )
    }

    fn encode_fine_jpeg(&self) -> Result<Vec<u8>, PictureError> {
        let mut bytes = Vec::with_capacity(self.bgrx.len() / 8);
        let mut encoder = jpeg_encoder::Encoder::new(&mut bytes, QUALITY);
        encoder.set_sampling_factor(jpeg_encoder::SamplingFactor::F_1_1);
        encoder.set_optimized_huffman_tables(true);
        encoder.encode(
            &self.bgrx,
            self.size.width,
            self.size.height,
            jpeg_encoder::ColorType::Bgra,
        )?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::action::ScreenSize;

    use super::*;

    const SIZE: ScreenSize = ScreenSize {
        width: 640,
        height: 480,
    };

    /// A picture with this colour at each place, as red, green and blue.
    fn painted(colour: impl Fn(usize, usize) -> [u8; 3]) -> Picture {
        let (width, height) = (usize::from(SIZE.width), usize::from(SIZE.height));
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let bgrx = places.flat_map(|(x, y)| {
            let [red, green, blue] = colour(x, y);
            [blue, green, red, 255]
        });
        Picture {
            size: SIZE,
            bgrx: bgrx.collect(),
        }
    }

    /// Strokes like those of small letters, in three colours on white.
    fn letters(x: usize, y: usize) -> Option<[u8; 3]> {
        let (column, row) = (x / 8, y / 14);
        let letter = (column * 7 + row * 13 + column * row) % 11;
        let (x, y) = (x % 8, y % 14);
        let is_ink = (2..12).contains(&y)
            && match letter {
                0..4 => x == 1 || (x < 6 && y % 4 == 2),
                4..8 => x == 5 || x + 2 == y || x + y == 8,
                _ => false,
            };
        is_ink.then_some([[0, 0, 0], [200, 0, 0], [0, 0, 220]][row % 3])
    }

    /// A photo: brightness and colour that change everywhere, with some noise.
    fn photo(x: usize, y: usize) -> [u8; 3] {
        let noise = (x * 7919 + y * 104_729 + x * y * 31) % 13;
        let at = |share: usize| u8::try_from((share + noise) % 256).unwrap();
        [at(x / 4), at(y / 3), at((x + y) / 6)]
    }

    fn pixels(bytes: &[u8]) -> Vec<u8> {
        DecodedPicture::decode(bytes).unwrap().picture.bgrx
    }

    #[test]
    fn flat_screens_with_text_stay_exact() {
        let page = painted(|x, y| letters(x, y).unwrap_or([255; 3]));
        let png = page.encode(BlobFormat::Png).unwrap();
        let (small, format) = compact(&png).unwrap();
        assert_eq!(format, BlobFormat::Png);
        assert_eq!(pixels(&small), pixels(&png));
        assert!(small.len() * 4 < png.len(), "{} {}", small.len(), png.len());
    }

    #[test]
    fn text_over_a_photo_becomes_a_jpeg_in_which_no_eye_sees_a_difference() {
        let page = painted(|x, y| letters(x, y).filter(|_| y > 240).unwrap_or(photo(x, y)));
        let png = page.encode(BlobFormat::Png).unwrap();
        let (small, format) = compact(&png).unwrap();
        assert_eq!(format, BlobFormat::Jpeg);
        assert!(
            small.len() * 4 < png.len() * 2,
            "{} {}",
            small.len(),
            png.len()
        );
        let (was, is) = (pixels(&png), pixels(&small));
        let errors = || {
            was.iter()
                .zip(&is)
                .map(|(was, is)| f64::from(was.abs_diff(*is)))
        };
        let mean_square = errors().map(|error| error * error).sum::<f64>() / was.len() as f64;
        let psnr = 10.0 * (255.0 * 255.0 / mean_square).log10();
        assert!(psnr > 32.0, "{psnr}");
        // The edges of letters: the ink is still ink, and its surroundings are still light or dark as they were.
        let worst = errors().fold(0.0, f64::max);
        assert!(worst < 90.0, "{worst}");
    }

    #[test]
    fn the_same_picture_always_gives_the_same_bytes() {
        let png = painted(photo).encode(BlobFormat::Png).unwrap();
        assert_eq!(compact(&png), compact(&png));
        assert_eq!(compact(b"picture 7"), None);
    }
}
