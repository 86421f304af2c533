//! Responses with files.
//!
//! Their content comes from the sandbox, so browsers must only save it. It is an attachment with a generic media type, and
//! if a browser shows it nevertheless, it can run and load nothing.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use deskhand_app::{Admission, FileDownload};
use deskhand_core::file::FileStat;
use jiff::fmt::rfc2822::DateTimePrinter;

use super::streams::download;

/// The content security policy of everything that was made in a sandbox.
pub(crate) const SANDBOX_POLICY: &str = "default-src 'none'; sandbox";
const BYTES: &str = "application/octet-stream";

/// Responds with a file, or with the requested part of it.
pub(super) fn file(file: FileDownload, admission: Admission) -> Response {
    let mut headers = attachment(file.stat.name(), BYTES);
    describe(&mut headers, &file.stat);
    let length = file.length.unwrap_or_default();
    insert(&mut headers, header::CONTENT_LENGTH, &length.to_string());
    let size = file.stat.size;
    let is_part = file.first > 0 || length < size;
    if is_part {
        let last = (file.first + length).saturating_sub(1);
        let range = format!("bytes {}-{last}/{size}", file.first);
        insert(&mut headers, header::CONTENT_RANGE, &range);
    }
    let status = if is_part {
        StatusCode::PARTIAL_CONTENT
    } else {
        StatusCode::OK
    };
    (status, headers, download(file, admission)).into_response()
}

/// Responds with an archive, whose length is not known.
pub(super) fn archive(name: &str, body: Body) -> Response {
    (attachment(name, "application/gzip"), body).into_response()
}

/// Responds that the caller already has this version.
pub(super) fn not_modified(stat: &FileStat) -> Response {
    let mut headers = HeaderMap::new();
    describe(&mut headers, stat);
    (StatusCode::NOT_MODIFIED, headers).into_response()
}

/// Returns the `ETag` of a version.
pub(super) fn tag(version: &str) -> String {
    format!("\"{version}\"")
}

/// Returns the headers of a file that browsers save under this name.
pub(crate) fn attachment(name: &str, media_type: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    insert(&mut headers, header::CONTENT_TYPE, media_type);
    insert(
        &mut headers,
        header::CONTENT_DISPOSITION,
        &disposition(name),
    );
    insert(
        &mut headers,
        header::CONTENT_SECURITY_POLICY,
        SANDBOX_POLICY,
    );
    insert(&mut headers, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    headers
}

fn describe(headers: &mut HeaderMap, stat: &FileStat) {
    insert(headers, header::ETAG, &tag(&stat.version));
    insert(headers, header::ACCEPT_RANGES, "bytes");
    insert(headers, header::CACHE_CONTROL, "private, no-cache");
    // Years after 9999 cannot be written as a date.
    if let Ok(date) = DateTimePrinter::new().timestamp_to_rfc9110_string(&stat.modified_at) {
        insert(headers, header::LAST_MODIFIED, &date);
    }
}

/// Returns a `Content-Disposition` with an ASCII name for older clients and the full name (RFC 6266).
fn disposition(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " ._-+()".contains(c);
    let plain: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect();
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    // All values are visible ASCII.
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        assert_eq!(
            disposition("a\"; x=\r\n.txt"),
            "attachment; filename=\"a__ x___.txt\"; filename*=UTF-8''a%22%3B%20x%3D%0D%0A.txt"
        );
        assert_eq!(
            disposition("über.pdf"),
            "attachment; filename=\"_ber.pdf\"; filename*=UTF-8''%C3%BCber.pdf"
        );
    }
}
