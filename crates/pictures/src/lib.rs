//! Everything that touches single pixels: decodes, scales, compresses and covers pictures, and finds colours in them.
//!
//! This is a crate of its own because it is always optimized, even in development builds. Loops over a million pixels
//! take seconds otherwise, while everything else mostly waits.

mod compact;
mod decode;
mod find;
mod picture;
mod scale;
mod thumbnail;

pub use compact::compact;
pub use decode::{DecodeError, DecodedPicture};
pub use find::{Patch, Pixels};
pub use picture::{Picture, PictureError, Pointer, check_size};
pub use scale::ScaleError;
pub use thumbnail::Thumbnail;
