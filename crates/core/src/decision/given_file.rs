//! Files that answer questions.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::BadReply;

/// The largest file that answers a question. In base64 it fits into a request.
pub const LARGEST_FILE_BYTES: usize = 700 * 1024;
/// The longest name of such a file, in characters.
pub const LONGEST_FILE_NAME: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileHead {
    pub name: String,
    pub n_bytes: u64,
}

/// A file that a person uploaded as an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl GivenFile {
    /// Returns the part of the file that the log stores, if the file is acceptable.
    pub fn head(&self) -> Result<FileHead, BadReply> {
        let n_chars = self.name.chars().count();
        let is_name = (1..=LONGEST_FILE_NAME).contains(&n_chars)
            && !self.name.starts_with('.')
            && !self.name.contains(['/', '\\'])
            && !self.name.chars().any(char::is_control);
        if !is_name {
            return Err(BadReply::FileName);
        }
        if self.bytes.len() > LARGEST_FILE_BYTES {
            return Err(BadReply::LargeFile);
        }
        Ok(FileHead {
            name: self.name.clone(),
            n_bytes: u64::try_from(self.bytes.len()).unwrap_or(u64::MAX),
        })
    }
}
