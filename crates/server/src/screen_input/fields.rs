//! Reads the numbers of a message, one after the other.

use bytes::Bytes;

use super::NotAScreen;

/// The part of a message that has not been read.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn u8(&mut self) -> Result<u8, NotAScreen> {
        self.take().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, NotAScreen> {
        self.take().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, NotAScreen> {
        self.take().map(u32::from_be_bytes)
    }

    /// Leaves out padding.
    pub(super) fn skip<const N: usize>(&mut self) -> Result<(), NotAScreen> {
        self.take::<N>().map(drop)
    }

    /// Copies the contents that end the message.
    pub(super) fn rest(&self) -> Bytes {
        Bytes::copy_from_slice(self.0)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], NotAScreen> {
        let (field, rest) = self.0.split_first_chunk().ok_or(NotAScreen)?;
        self.0 = rest;
        Ok(*field)
    }
}
