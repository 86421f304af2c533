//! Prepares attached files for a model: pictures are scaled to the size that it sees, and PDFs are sent unchanged.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use deskhand_core::{
    action::ScreenSize,
    attachment::{
        Attachment, AttachmentKind, LARGEST_SHOWN_PDF_BYTES, LARGEST_SHOWN_PICTURE_BYTES,
    },
    blob::BlobFormat,
    model::{NotShown, ShownFile},
};
use deskhand_pictures::{DecodeError, DecodedPicture, Picture};

use crate::{
    space,
    view::{AcceptedFiles, View},
};

/// The maximum size of an attached picture. In requests with many pictures, no vendor accepts larger ones.
const LARGEST_SIZE: ScreenSize = ScreenSize {
    width: 2000,
    height: 2000,
};
/// The approximate number of pixels per token.
const PIXELS_PER_TOKEN: u64 = 750;
/// The approximate number of tokens of a PDF page. Vendors process its text and a picture of it.
const TOKENS_PER_PAGE: u64 = 3_000;
/// The size of a small page, for an estimate if the pages cannot be counted.
const PAGE_BYTES: usize = 100_000;
/// The number of pages that every vendor accepts.
const MOST_PAGES: usize = 100;

/// Held while a picture is decoded, since that may take a lot of memory.
static DECODING: Mutex<()> = Mutex::new(());

/// Returns a file as a model with this view is shown it.
pub(crate) fn show(view: View, file: &Attachment, bytes: Bytes) -> Result<ShownFile, NotShown> {
    match file.kind() {
        AttachmentKind::Picture => picture(view, file, bytes),
        AttachmentKind::Pdf if view.files.pdf => pdf(file, bytes),
        AttachmentKind::Pdf | AttachmentKind::Other => Err(NotShown::Kind),
    }
}

fn picture(view: View, file: &Attachment, bytes: Bytes) -> Result<ShownFile, NotShown> {
    let _decoding = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
    let decoded = DecodedPicture::decode(&bytes).map_err(|error| match error {
        DecodeError::TooLarge => NotShown::Large,
        DecodeError::Damaged(_) => NotShown::Damaged,
    })?;
    let native = decoded.picture.size;
    let size = (view.shown)(space::fitting(native, LARGEST_SIZE));
    let shown = |bytes: Bytes, media_type| ShownFile {
        name: file.name.clone(),
        media_type,
        bytes,
        n_tokens: u64::from(size.width) * u64::from(size.height) / PIXELS_PER_TOKEN + 1,
    };
    let is_small = |n_bytes: usize| {
        u64::try_from(n_bytes).is_ok_and(|n_bytes| n_bytes <= LARGEST_SHOWN_PICTURE_BYTES)
    };
    if let Some(media_type) = accepted_type(view.files, &file.media_type)
        && decoded.is_upright
        && size == native
        && is_small(bytes.len())
    {
        return Ok(shown(bytes, media_type));
    }
    let scaled = decoded.picture.scaled(size);
    let scaled = scaled.map_err(|_failed| NotShown::Damaged)?;
    // A photo stays a JPEG. Everything else becomes a PNG, which keeps sharp edges, unless that is too large.
    let is_photo = file.media_type == "image/jpeg";
    let formats = [BlobFormat::Png, BlobFormat::Jpeg];
    for format in formats.into_iter().skip(usize::from(is_photo)) {
        let bytes = encode(&scaled, format)?;
        if is_small(bytes.len()) {
            return Ok(shown(bytes, format.media_type()));
        }
    }
    Err(NotShown::Large)
}

fn encode(picture: &Picture, format: BlobFormat) -> Result<Bytes, NotShown> {
    let encoded = picture.encode(format);
    Ok(encoded.map_err(|_failed| NotShown::Damaged)?.into())
}

/// Returns the media type of a picture that the vendor accepts unchanged.
fn accepted_type(files: AcceptedFiles, media_type: &str) -> Option<&'static str> {
    match media_type {
        "image/png" => Some("image/png"),
        "image/jpeg" => Some("image/jpeg"),
        "image/webp" if files.webp => Some("image/webp"),
        "image/gif" if files.gif => Some("image/gif"),
        _ => None,
    }
}

fn pdf(file: &Attachment, bytes: Bytes) -> Result<ShownFile, NotShown> {
    if file.n_bytes > LARGEST_SHOWN_PDF_BYTES {
        return Err(NotShown::Large);
    }
    // Vendors reject documents that need a password.
    if contains(&bytes, b"/Encrypt") {
        return Err(NotShown::Locked);
    }
    let n_pages = n_pages(&bytes);
    if n_pages > MOST_PAGES {
        return Err(NotShown::Large);
    }
    let n_pages = u64::try_from(n_pages).unwrap_or(u64::MAX);
    Ok(ShownFile {
        name: file.name.clone(),
        media_type: "application/pdf",
        bytes,
        n_tokens: n_pages * TOKENS_PER_PAGE,
    })
}

/// Counts the pages. Newer PDFs may compress the list of pages, and then the number is estimated from the size.
fn n_pages(pdf: &[u8]) -> usize {
    let starts = pdf
        .windows(5)
        .enumerate()
        .filter(|(_, part)| part == b"/Type");
    let is_page = |rest: &[u8]| {
        let rest = rest.trim_ascii_start();
        let after = rest.strip_prefix(b"/Page");
        after.is_some_and(|after| {
            after
                .first()
                .is_none_or(|next| !next.is_ascii_alphanumeric())
        })
    };
    let counted = starts.filter(|(at, _)| is_page(&pdf[at + 5..])).count();
    if counted > 0 {
        counted
    } else {
        pdf.len().div_ceil(PAGE_BYTES)
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
#[path = "show_tests.rs"]
mod tests;
