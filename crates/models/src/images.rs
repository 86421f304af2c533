//! Pictures in the formats that vendors accept.

use base64::{Engine, prelude::BASE64_STANDARD};
use deskhand_core::{blob::BlobFormat, model::Image};

pub(crate) fn media_type(image: &Image) -> &'static str {
    match image.format {
        BlobFormat::Png => "image/png",
        BlobFormat::Jpeg => "image/jpeg",
    }
}

pub(crate) fn base64(image: &Image) -> String {
    BASE64_STANDARD.encode(&image.bytes)
}

pub(crate) fn data_url(image: &Image) -> String {
    format!("data:{};base64,{}", media_type(image), base64(image))
}
