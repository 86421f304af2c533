//! Pictures of pages in the size that a model is shown.
//!
//! The runner scales pictures of the screen, since it knows the screen's size in advance. The visible part of a page can
//! change with every verb, so its picture is scaled here, if it is too large for the model at all.

use bytes::Bytes;
use deskhand_core::{action::ScreenSize, model::Model, sandbox::Frame};
use deskhand_pictures::DecodedPicture;

use crate::tools::ToolFailure;

const UNREADABLE: &str = "The picture of the page could not be made smaller.";

/// Returns the picture in the size that a model is shown.
pub(crate) async fn fitted(frame: Frame, model: &dyn Model) -> Result<Frame, ToolFailure> {
    let shown = model.shown(frame.size);
    if shown == frame.size {
        return Ok(frame);
    }
    // Scaling takes long enough to block other tasks.
    let scaling = tokio::task::spawn_blocking(move || scaled(&frame, shown));
    scaling
        .await
        .ok()
        .flatten()
        .ok_or_else(|| UNREADABLE.into())
}

fn scaled(frame: &Frame, size: ScreenSize) -> Option<Frame> {
    let decoded = DecodedPicture::decode(&frame.bytes).ok()?;
    let picture = decoded.picture.scaled(size).ok()?;
    Some(Frame {
        bytes: Bytes::from(picture.encode(frame.format).ok()?),
        size,
        format: frame.format,
        pointer: frame.pointer,
    })
}
