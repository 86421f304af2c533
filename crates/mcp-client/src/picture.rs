//! Pictures in results: decoded and written anew, so that nothing reaches a vendor that it could not read.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use deskhand_core::{action::ScreenSize, blob::BlobFormat, tool_server::RemotePicture};
use deskhand_pictures::DecodedPicture;

/// The longest side that models are shown.
const LONGEST_SIDE: u32 = 1568;
/// The largest picture that every vendor accepts.
const LARGEST_BYTES: usize = 3 * 1024 * 1024;

/// Decodes a picture in base64. Returns `None` if it cannot be shown.
pub(crate) async fn picture(data: String) -> Option<RemotePicture> {
    let decoding = tokio::task::spawn_blocking(move || decode(&data));
    decoding.await.ok().flatten()
}

fn decode(data: &str) -> Option<RemotePicture> {
    let bytes = STANDARD.decode(data).ok()?;
    let decoded = DecodedPicture::decode(&bytes).ok()?.picture;
    let size = fitting(decoded.size);
    let scaled = decoded.scaled(size).ok()?;
    let mut formats = [BlobFormat::Png, BlobFormat::Jpeg].into_iter();
    formats.find_map(|format| {
        let bytes = scaled.encode(format).ok()?;
        (bytes.len() <= LARGEST_BYTES).then(|| RemotePicture {
            bytes: Bytes::from(bytes),
            format,
            size,
        })
    })
}

/// Returns the size of a picture whose longest side is not too long.
fn fitting(size: ScreenSize) -> ScreenSize {
    let (width, height) = (u32::from(size.width), u32::from(size.height));
    let longest = width.max(height);
    if longest <= LONGEST_SIDE {
        return size;
    }
    let side = |side: u32| {
        let scaled = (side * LONGEST_SIDE / longest).max(1);
        u16::try_from(scaled).unwrap_or(u16::MAX)
    };
    ScreenSize {
        width: side(width),
        height: side(height),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sides_are_shortened() {
        let of = |width, height| {
            let size = fitting(ScreenSize { width, height });
            (size.width, size.height)
        };
        assert_eq!(of(800, 600), (800, 600));
        assert_eq!(of(3136, 100), (1568, 50));
        assert_eq!(of(1, 10_000), (1, 1568));
    }

    #[tokio::test]
    async fn only_real_pictures_pass() {
        assert_eq!(picture("%".to_owned()).await, None);
        let broken = STANDARD.encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01");
        assert_eq!(picture(broken).await, None);
    }
}
