//! Decodes pictures that people made: PNG, JPEG, GIF and WebP.

use std::io::Cursor;

use deskhand_core::action::ScreenSize;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};

use crate::Picture;

/// The longest side of a picture that is decoded.
const LONGEST_SIDE: u32 = 16_384;
/// The most memory that a decoded picture may take.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// The reason why a picture was not decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("the picture has too many pixels")]
    TooLarge,
    #[error("the picture is damaged")]
    Damaged(#[source] image::ImageError),
}

impl From<image::ImageError> for DecodeError {
    fn from(error: image::ImageError) -> Self {
        match error {
            image::ImageError::Limits(_) => Self::TooLarge,
            error @ (image::ImageError::Decoding(_)
            | image::ImageError::Encoding(_)
            | image::ImageError::Parameter(_)
            | image::ImageError::Unsupported(_)
            | image::ImageError::IoError(_)) => Self::Damaged(error),
        }
    }
}

/// A picture that was decoded.
#[derive(Debug)]
pub struct DecodedPicture {
    pub picture: Picture,
    /// True if the file has the pixels in this order. A photo may say that it is to be turned.
    pub is_upright: bool,
}

impl DecodedPicture {
    /// Decodes a picture, upright and over white where it is transparent. Of an animation, it is the first picture.
    /// One that claims to be too large is refused before anything is allocated for it.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut limits = Limits::default();
        limits.max_image_width = Some(LONGEST_SIDE);
        limits.max_image_height = Some(LONGEST_SIDE);
        limits.max_alloc = Some(MOST_BYTES);
        let mut reader = ImageReader::new(Cursor::new(bytes))
            .with_guessed_format()
            .map_err(image::ImageError::IoError)?;
        reader.limits(limits);
        let mut decoder = reader.into_decoder()?;
        let (width, height) = decoder.dimensions();
        let n_pixels = u64::from(width) * u64::from(height);
        if decoder.total_bytes() > MOST_BYTES || n_pixels * 4 > MOST_BYTES {
            return Err(DecodeError::TooLarge);
        }
        let orientation = decoder.orientation()?;
        let mut decoded = DynamicImage::from_decoder(decoder)?;
        decoded.apply_orientation(orientation);
        Ok(Self {
            picture: picture(decoded)?,
            is_upright: orientation == image::metadata::Orientation::NoTransforms,
        })
    }
}

fn picture(decoded: DynamicImage) -> Result<Picture, DecodeError> {
    let rgba = decoded.into_rgba8();
    let side = |side: u32| u16::try_from(side).map_err(|_large| DecodeError::TooLarge);
    let size = ScreenSize {
        width: side(rgba.width())?,
        height: side(rgba.height())?,
    };
    let mut bgrx = rgba.into_raw();
    for pixel in bgrx.chunks_exact_mut(4) {
        let [red, green, blue, alpha] = [pixel[0], pixel[1], pixel[2], pixel[3]];
        let over_white = |colour: u8| {
            let sum = u32::from(colour) * u32::from(alpha) + 255 * u32::from(255 - alpha);
            u8::try_from((sum + 127) / 255).unwrap_or(u8::MAX)
        };
        pixel.copy_from_slice(&[over_white(blue), over_white(green), over_white(red), 0]);
    }
    Ok(Picture { size, bgrx })
}

#[cfg(test)]
mod tests {
    use deskhand_core::blob::BlobFormat;

    use super::*;

    fn picture() -> Picture {
        Picture {
            size: ScreenSize {
                width: 6,
                height: 4,
            },
            bgrx: [10, 20, 200, 0].repeat(24),
        }
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        let bytes = picture().encode(BlobFormat::Png).unwrap();
        let decoded = DecodedPicture::decode(&bytes).unwrap();
        assert_eq!((decoded.picture, decoded.is_upright), (picture(), true));
        let bytes = picture().encode(BlobFormat::Jpeg).unwrap();
        let decoded = DecodedPicture::decode(&bytes).unwrap();
        assert_eq!(decoded.picture.size, picture().size);
    }

    #[test]
    fn transparent_pixels_are_white() {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(png::ColorType::Rgba);
        let mut writer = encoder.write_header().unwrap();
        writer
            .write_image_data(&[9, 9, 9, 0, 1, 2, 3, 255])
            .unwrap();
        drop(writer);
        let decoded = DecodedPicture::decode(&bytes).unwrap();
        assert_eq!(decoded.picture.bgrx, [255, 255, 255, 0, 3, 2, 1, 0]);
    }

    #[test]
    fn a_huge_claim_and_garbage_are_refused() {
        let mut bytes = Vec::new();
        let encoder = png::Encoder::new(&mut bytes, 60_000, 60_000);
        drop(encoder.write_header().unwrap());
        let refused = DecodedPicture::decode(&bytes);
        assert!(matches!(refused, Err(DecodeError::TooLarge)), "{refused:?}");
        for bytes in [
            &b"\x89PNG\r\n\x1a\n"[..],
            b"GIF89a",
            b"\xff\xd8\xff",
            b"",
            b"RIFF\0\0\0\0WEBP",
        ] {
            assert!(DecodedPicture::decode(bytes).is_err(), "{bytes:?}");
        }
    }

    /// Broken pictures are refused without a panic and without much memory.
    #[test]
    fn any_change_of_a_byte_is_survived() {
        for format in [BlobFormat::Png, BlobFormat::Jpeg] {
            let bytes = picture().encode(format).unwrap();
            for index in 0..bytes.len() {
                let mut broken = bytes.clone();
                broken[index] ^= 0x55;
                // Most of them are errors, and the rest other pictures.
                let _ = DecodedPicture::decode(&broken);
            }
        }
    }
}
