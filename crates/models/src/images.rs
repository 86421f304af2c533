//! Pictures and other files in the formats that vendors accept.

use base64::{Engine, prelude::BASE64_STANDARD};
use deskhand_core::model::{Image, ShownFile};

pub(crate) fn base64(image: &Image) -> String {
    BASE64_STANDARD.encode(&image.bytes)
}

pub(crate) fn data_url(image: &Image) -> String {
    format!(
        "data:{};base64,{}",
        image.format.media_type(),
        base64(image)
    )
}

pub(crate) fn file_base64(file: &ShownFile) -> String {
    BASE64_STANDARD.encode(&file.bytes)
}

pub(crate) fn file_data_url(file: &ShownFile) -> String {
    format!("data:{};base64,{}", file.media_type, file_base64(file))
}

/// Returns the text before a file, so that the model can tell several files apart.
pub(crate) fn file_label(file: &ShownFile) -> String {
    format!("[The attached file {}:]", file.name)
}
