//! Files that people send along with a message.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{blob::BlobName, file::media_type_of, id::AttachmentId, plain::is_deceptive};

/// The size of the largest attachment. It is buffered in memory.
pub const LARGEST_ATTACHMENT_BYTES: u64 = 32 * 1024 * 1024;
/// The most files of one message.
pub const MOST_ATTACHMENTS: usize = 20;
/// The size of the largest picture that a model is shown, after scaling. In base64 it has 5 MB.
pub const LARGEST_SHOWN_PICTURE_BYTES: u64 = 3_750_000;
/// The size of the largest PDF that a model is shown.
pub const LARGEST_SHOWN_PDF_BYTES: u64 = 10_000_000;
/// The folder in the sandbox that attached files are put into.
pub const UPLOADS: &str = "~/uploads";

/// The longest name of an attached file, in characters. With a number added, it fits into 255 bytes of UTF-8.
const LONGEST_NAME_CHARS: usize = 60;
const UNNAMED: &str = "file";
const UNKNOWN: &str = "application/octet-stream";
const PDF: &str = "application/pdf";

/// The first bytes of the formats that models are shown.
const FORMATS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", PDF),
];
const WEBP: &str = "image/webp";

/// A file that belongs to a message. `GET /api/sessions/{id}/attachments/{attachment}` returns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = AttachmentData)]
pub struct Attachment {
    #[schema(value_type = Uuid)]
    pub id: AttachmentId,
    /// The name of the file, without a folder.
    pub name: String,
    /// Pictures and PDFs are recognized by their content, others by their name.
    pub media_type: String,
    pub n_bytes: u64,
    #[schema(value_type = String)]
    pub blob: BlobName,
}

impl Attachment {
    pub fn kind(&self) -> AttachmentKind {
        match &*self.media_type {
            PDF => AttachmentKind::Pdf,
            "image/png" | "image/jpeg" | "image/gif" | WEBP => AttachmentKind::Picture,
            _ => AttachmentKind::Other,
        }
    }
}

/// The kind of a file, as far as models handle it differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttachmentKind {
    /// PNG, JPEG, GIF or WebP.
    Picture,
    Pdf,
    Other,
}

/// Returns the media type of a file. Pictures and PDFs are recognized by their first bytes, regardless of the name.
pub fn sniff(name: &str, bytes: &[u8]) -> &'static str {
    let known = FORMATS.iter().find(|(start, _)| bytes.starts_with(start));
    if let Some((_, media_type)) = known {
        return media_type;
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return WEBP;
    }
    let by_name = media_type_of(name);
    let is_sniffed = by_name == WEBP || FORMATS.iter().any(|(_, known)| *known == by_name);
    if is_sniffed { UNKNOWN } else { by_name }
}

/// Returns a name that is safe for a new file. It has no folders, control characters or marks that reorder text, and
/// it is neither hidden nor taken for an option of a command.
pub fn plain_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |c: &char| !c.is_control() && !is_deceptive(*c);
    let plain: String = name.chars().filter(is_plain).collect();
    let is_leading = |c: char| c.is_whitespace() || matches!(c, '.' | '-' | '~');
    let plain = plain.trim_start_matches(is_leading).trim_end();
    let (stem, ending) = split_name(plain);
    let ending: String = ending.chars().take(LONGEST_NAME_CHARS / 4).collect();
    let room = LONGEST_NAME_CHARS - ending.chars().count();
    let stem: String = stem.chars().take(room).collect();
    match stem.trim() {
        "" => format!("{UNNAMED}{ending}"),
        stem => format!("{stem}{ending}"),
    }
}

/// Returns the `n`th name to try, counted from 1: `a.txt`, then `a-2.txt`.
pub fn numbered_name(name: &str, n: u32) -> String {
    if n == 1 {
        return name.to_owned();
    }
    let (stem, ending) = split_name(name);
    format!("{stem}-{n}{ending}")
}

/// Splits a name before its last dot, unless it begins with it.
fn split_name(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 => name.split_at(dot),
        Some(_) | None => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_decides_what_is_a_picture() {
        assert_eq!(sniff("a.txt", b"\x89PNG\r\n\x1a\nrest"), "image/png");
        assert_eq!(sniff("a", b"\xff\xd8\xff\xe0"), "image/jpeg");
        assert_eq!(sniff("a", b"GIF89a"), "image/gif");
        assert_eq!(sniff("a", b"RIFF\x10\0\0\0WEBPVP8 "), "image/webp");
        assert_eq!(sniff("a", b"RIFF\x10\0\0\0WAVE"), UNKNOWN);
        assert_eq!(sniff("a.csv", b"%PDF-1.7"), "application/pdf");
        for name in ["a.png", "a.jpg", "a.pdf", "a.webp", "a.gif", "a"] {
            assert_eq!(sniff(name, b"<script>"), UNKNOWN, "{name}");
        }
        assert_eq!(sniff("a.csv", b"a,b"), "text/csv");
        assert_eq!(sniff("a.csv", b""), "text/csv");
    }

    #[test]
    fn a_name_is_plain() {
        for (name, plain) in [
            ("report.pdf", "report.pdf"),
            ("über uns.txt", "über uns.txt"),
            ("../../etc/passwd", "passwd"),
            (r"C:\a\b.txt", "b.txt"),
            (".bashrc", "bashrc"),
            (". .bashrc", "bashrc"),
            ("--help", "help"),
            ("a\u{202e}gpj.exe\n", "agpj.exe"),
            ("", "file"),
            ("...", "file"),
            ("/", "file"),
        ] {
            assert_eq!(plain_name(name), plain, "{name:?}");
        }
        let long = plain_name(&format!("{}.jpeg", "ü".repeat(500)));
        assert!(
            long.ends_with("ü.jpeg") && long.chars().count() == 60,
            "{long}"
        );
    }

    #[test]
    fn a_number_comes_before_the_ending() {
        assert_eq!(numbered_name("a.txt", 1), "a.txt");
        assert_eq!(numbered_name("a.tar.gz", 2), "a.tar-2.gz");
        assert_eq!(numbered_name("Makefile", 3), "Makefile-3");
    }
}
