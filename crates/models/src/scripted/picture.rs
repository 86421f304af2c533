//! Colours, and the pictures that a scripted model finds them in.

use std::{fmt, str::FromStr};

use deskhand_core::model::{Image, ImageFormat};
use deskhand_pictures::Pixels;
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

impl Colour {
    pub(super) fn rgb(self) -> [u8; 3] {
        self.0
    }
}

/// Decodes a picture. The error says why it cannot be read.
pub(super) fn decode(image: &Image) -> Result<Pixels, String> {
    match image.format {
        ImageFormat::Png => Pixels::decode_png(&image.bytes)
            .map_err(|error| format!("was shown a picture that cannot be read: {error}")),
        ImageFormat::Jpeg => {
            Err("was shown a JPEG, whose colours are not exact; a scenario needs PNG".to_owned())
        }
        ImageFormat::Webp => Err("was shown a WebP; a scenario needs PNG".to_owned()),
    }
}
