//! Pictures as models are sent them: as few bytes as possible without a difference that an eye could see.

use deskhand_core::model::ImageFormat;

use crate::{DecodedPicture, Picture, PictureError, picture::rgb_of};

/// The quality of a JPEG for models, out of 100. Colours have the same resolution as brightness, so that coloured text
/// stays sharp.
const QUALITY: u8 = 90;
/// The effort for a PNG, from 1 to 9. Higher levels take much longer and save little.
const PNG_LEVEL: u8 = 5;
/// The effort for a lossless WebP, from 0 to 6 and from 0 to 100. More of either takes twice as long and saves nothing
/// on screens; less of the second takes three quarters of the time for half as many bytes again.
const WEBP_METHOD: i32 = 4;
const WEBP_EFFORT: f32 = 50.0;

/// A JPEG is taken at once if the best PNG has this many times its bytes. A WebP takes a tenth of a second, and hardly ever
/// has less than a quarter of the bytes of a PNG.
const HOPELESS: usize = 8;

/// Returns a picture with fewer bytes than this PNG, or `None` if it cannot be made smaller.
///
/// It becomes a JPEG if that has less than half of the bytes of the best exact form. Otherwise it stays exact: a WebP if
/// the receiver takes it, and a PNG if not. The same picture always gives the same bytes.
pub fn compact(png: &[u8], takes_webp: bool) -> Option<(Vec<u8>, ImageFormat)> {
    let picture = DecodedPicture::decode(png).ok()?.picture;
    let smaller = picture.encode_small_png().ok()?;
    let best = smaller.len().min(png.len());
    let jpeg = picture.encode_fine_jpeg().ok()?;
    let tries_webp = takes_webp && jpeg.len() * HOPELESS >= best;
    let webp = tries_webp.then(|| picture.encode_exact_webp()).flatten();
    let webp = webp.filter(|webp| webp.len() < best);
    let best = webp.as_ref().map_or(best, Vec::len);
    if jpeg.len() * 2 < best {
        return Some((jpeg, ImageFormat::Jpeg));
    }
    if let Some(webp) = webp {
        return Some((webp, ImageFormat::Webp));
    }
    (smaller.len() < png.len()).then_some((smaller, ImageFormat::Png))
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

    /// Returns a WebP with exactly these pixels. There is none of a picture that the format has no room for.
    fn encode_exact_webp(&self) -> Option<Vec<u8>> {
        let mut config = webp::WebPConfig::new().ok()?;
        config.lossless = 1;
        config.method = WEBP_METHOD;
        config.quality = WEBP_EFFORT;
        let rgb = rgb_of(&self.bgrx);
        let (width, height) = (self.size.width.into(), self.size.height.into());
        let encoder = webp::Encoder::from_rgb(&rgb, width, height);
        Some(encoder.encode_advanced(&config).ok()?.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use deskhand_core::{action::ScreenSize, blob::BlobFormat};

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
        let mixed = x.wrapping_mul(374_761_393) ^ y.wrapping_mul(668_265_263);
        let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(1_274_126_177);
        shaded(x, y, (mixed >> 16) % 13)
    }

    /// A pattern that looks like a photo, and repeats.
    fn pattern(x: usize, y: usize) -> [u8; 3] {
        shaded(x, y, (x * 7919 + y * 104_729 + x * y * 31) % 13)
    }

    fn shaded(x: usize, y: usize, noise: usize) -> [u8; 3] {
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
        for (takes_webp, expected) in [(false, ImageFormat::Png), (true, ImageFormat::Webp)] {
            let (small, format) = compact(&png, takes_webp).unwrap();
            assert_eq!(format, expected);
            assert_eq!(pixels(&small), pixels(&png));
            assert!(small.len() * 4 < png.len(), "{} {}", small.len(), png.len());
        }
    }

    /// Shades and soft edges have more colours than a palette, and no row that repeats.
    #[test]
    fn a_webp_of_a_page_with_shades_has_half_of_the_bytes_of_the_best_png() {
        let page = painted(|x, y| {
            let shade = u8::try_from(200 + x / 16 + y / 96 * 3).unwrap_or(u8::MAX);
            letters(x, y).unwrap_or([shade, 255 - shade / 8, shade / 2 + 90])
        });
        let png = page.encode(BlobFormat::Png).unwrap();
        let (best_png, _) = compact(&png, false).unwrap();
        let (webp, format) = compact(&png, true).unwrap();
        assert_eq!(format, ImageFormat::Webp);
        assert_eq!(pixels(&webp), pixels(&png));
        assert!(
            webp.len() * 2 < best_png.len(),
            "{} {}",
            webp.len(),
            best_png.len()
        );
    }

    /// A JPEG has less than half of the bytes of its PNG, and more than its WebP.
    #[test]
    fn a_picture_whose_webp_is_small_stays_exact() {
        let page = painted(|x, y| {
            let ink = letters(x, y).filter(|_| y > 240);
            ink.unwrap_or(pattern(x, y))
        });
        let png = page.encode(BlobFormat::Png).unwrap();
        assert_eq!(compact(&png, false).unwrap().1, ImageFormat::Jpeg);
        let (webp, format) = compact(&png, true).unwrap();
        assert_eq!(format, ImageFormat::Webp);
        assert_eq!(pixels(&webp), pixels(&png));
    }

    #[test]
    fn text_over_a_photo_becomes_a_jpeg_in_which_no_eye_sees_a_difference() {
        let page = painted(|x, y| letters(x, y).filter(|_| y > 400).unwrap_or(photo(x, y)));
        let png = page.encode(BlobFormat::Png).unwrap();
        let (small, format) = compact(&png, true).unwrap();
        assert_eq!(format, ImageFormat::Jpeg);
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
        let page = |x, y| letters(x, y).unwrap_or([250; 3]);
        for picture in [painted(photo), painted(page)] {
            let png = picture.encode(BlobFormat::Png).unwrap();
            assert_eq!(compact(&png, true), compact(&png, true));
        }
        assert_eq!(compact(b"picture 7", true), None);
    }
}
