//! The picture of the screen as video, for everybody who watches.
//!
//! The runner films the screen while a stream is open, whenever something was drawn, and encodes it once. A frame names
//! its layer, so that the server can leave frames out for a slow viewer. A screen that rests is sent a few more times,
//! until the picture is as good as it gets, and then no more.

mod capture;
mod encoder;

use tokio_tungstenite::tungstenite;

use crate::desktop::{PictureError, XError};

/// Reasons why the screen is not filmed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VideoError {
    #[error(transparent)]
    X(#[from] XError),
    #[error("this computer has no screen")]
    NoScreen,
    #[error("the encoder failed")]
    Encode(#[from] openh264::Error),
    #[error(transparent)]
    Picture(#[from] PictureError),
    #[error("the thread that films the screen ended")]
    Thread,
    #[error("the stream of video broke")]
    Stream(#[from] tungstenite::Error),
}

pub(crate) use self::capture::VideoCapture;

#[cfg(test)]
#[path = "video/tests.rs"]
mod tests;
