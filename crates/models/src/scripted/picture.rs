//! Finds colours in a picture: a scripted model's eyes.

use std::{fmt, str::FromStr};

use deskhand_core::{blob::BlobFormat, model::Image};
use serde::{Deserialize, Deserializer, de};

/// An exact colour, written `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour([u8; 3]);

impl FromStr for Colour {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix('#')
            .filter(|digits| digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .map(|number| {
                let [_, red, green, blue] = number.to_be_bytes();
                Self([red, green, blue])
            })
            .ok_or_else(|| format!("{text:?} is not a colour: write it as \"#rrggbb\""))
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl<'de> Deserialize<'de> for Colour {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// A decoded picture.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) width: usize,
    pub(super) height: usize,
    /// The samples row by row, `channels` bytes per pixel.
    samples: Vec<u8>,
    channels: usize,
}

/// The smallest rectangle around all pixels of one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Patch {
    /// The leftmost and the rightmost column.
    pub(super) x: (usize, usize),
    /// The topmost and the bottommost row.
    pub(super) y: (usize, usize),
    pub(super) n_pixels: usize,
}

impl Patch {
    pub(super) fn centre(&self) -> (usize, usize) {
        (
            usize::midpoint(self.x.0, self.x.1),
            usize::midpoint(self.y.0, self.y.1),
        )
    }
}

impl Picture {
    /// Decodes a picture. The error says why it cannot be read.
    pub(super) fn decode(image: &Image) -> Result<Self, String> {
        match image.format {
            BlobFormat::Png => Self::decode_png(&image.bytes)
                .map_err(|error| format!("was shown a picture that cannot be read: {error}")),
            BlobFormat::Jpeg => Err(
                "was shown a JPEG, whose colours are not exact; a scenario needs PNG".to_owned(),
            ),
        }
    }

    fn decode_png(bytes: &[u8]) -> Result<Self, png::DecodingError> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
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

    /// Finds every pixel of exactly this colour.
    pub(super) fn find(&self, colour: Colour) -> Option<Patch> {
        let row_bytes = self.width * self.channels;
        let mut patch: Option<Patch> = None;
        for (y, row) in self.samples.chunks_exact(row_bytes.max(1)).enumerate() {
            for (x, pixel) in row.chunks_exact(self.channels).enumerate() {
                if !is(pixel, colour) {
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
fn is(pixel: &[u8], colour: Colour) -> bool {
    match *pixel {
        [grey] | [grey, _] => [grey; 3] == colour.0,
        [red, green, blue] | [red, green, blue, _] => [red, green, blue] == colour.0,
        _ => false,
    }
}
