//! Finds colours in a compressed picture.

use std::io::Cursor;

use crate::picture::LONGEST_SIDE;

/// The pixels of a decoded PNG.
#[derive(Debug)]
pub struct Pixels {
    pub width: usize,
    pub height: usize,
    /// The samples row by row, `channels` bytes per pixel.
    samples: Vec<u8>,
    channels: usize,
}

/// The smallest rectangle around all pixels of one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patch {
    /// The leftmost and the rightmost column.
    pub x: (usize, usize),
    /// The topmost and the bottommost row.
    pub y: (usize, usize),
    pub n_pixels: usize,
}

impl Patch {
    pub fn centre(&self) -> (usize, usize) {
        (
            usize::midpoint(self.x.0, self.x.1),
            usize::midpoint(self.y.0, self.y.1),
        )
    }
}

impl Pixels {
    /// Decodes a picture. One that claims to be larger than a screen is refused before anything is allocated for it.
    pub fn decode_png(bytes: &[u8]) -> Result<Self, png::DecodingError> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let (width, height) = reader.info().size();
        if width.max(height) > u32::from(LONGEST_SIDE) {
            return Err(png::DecodingError::LimitsExceeded);
        }
        let size = reader
            .output_buffer_size()
            .ok_or(png::DecodingError::LimitsExceeded)?;
        let mut samples = vec![0; size];
        let frame = reader.next_frame(&mut samples)?;
        samples.truncate(frame.buffer_size());
        let width = usize::try_from(frame.width).unwrap_or(usize::MAX);
        let height = usize::try_from(frame.height).unwrap_or(usize::MAX);
        Ok(Self {
            width,
            height,
            samples,
            channels: frame.color_type.samples(),
        })
    }

    /// Finds every pixel of exactly this colour, given as red, green and blue.
    pub fn find(&self, rgb: [u8; 3]) -> Option<Patch> {
        let row_bytes = self.width * self.channels;
        let mut patch: Option<Patch> = None;
        for (y, row) in self.samples.chunks_exact(row_bytes.max(1)).enumerate() {
            for (x, pixel) in row.chunks_exact(self.channels).enumerate() {
                if !has_colour(pixel, rgb) {
                    continue;
                }
                let patch = patch.get_or_insert(Patch {
                    x: (x, x),
                    y: (y, y),
                    n_pixels: 0,
                });
                patch.x = (patch.x.0.min(x), patch.x.1.max(x));
                patch.y.1 = y;
                patch.n_pixels += 1;
            }
        }
        patch
    }
}

/// Returns true if a pixel has this colour.
///
/// Grey pixels have one sample for all three channels. Transparency is ignored.
fn has_colour(pixel: &[u8], rgb: [u8; 3]) -> bool {
    match *pixel {
        [grey] | [grey, _] => [grey; 3] == rgb,
        [red, green, blue] | [red, green, blue, _] => [red, green, blue] == rgb,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_claims_to_be_huge_is_not_decoded() {
        let encode = |width: u32, height: u32| {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, width, height);
            encoder.set_color(png::ColorType::Rgb);
            let mut writer = encoder.write_header().unwrap();
            let samples = vec![0; usize::try_from(3 * width * height).unwrap()];
            writer.write_image_data(&samples).unwrap();
            drop(writer);
            bytes
        };
        for (width, height) in [(60_000, 2), (2, 60_000)] {
            let decoded = Pixels::decode_png(&encode(width, height));
            let refused = matches!(decoded, Err(png::DecodingError::LimitsExceeded));
            assert!(refused, "{width} x {height}");
        }
    }
}
