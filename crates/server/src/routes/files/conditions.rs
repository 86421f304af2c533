//! The headers of conditional requests and of range requests.

use axum::http::{HeaderMap, HeaderName, header};
use deskhand_core::file::{ByteRange, WriteCondition};

use crate::problem::Problem;

/// Returns the requested range, and the version of the file that it is for. Several ranges and invalid ones are ignored,
/// so that the whole file is sent.
pub(super) fn range(headers: &HeaderMap) -> (Option<ByteRange>, Option<String>) {
    let range = text(headers, &header::RANGE).and_then(read_range);
    let range_of = text(headers, &header::IF_RANGE);
    // A date instead of a tag never matches, so the whole file is sent.
    let range_of = range_of.map(|tag| read_tag(tag).unwrap_or_default().to_owned());
    (range, range_of)
}

fn read_range(text: &str) -> Option<ByteRange> {
    let (first, last) = text.strip_prefix("bytes=")?.trim().split_once('-')?;
    if first.is_empty() {
        let n_bytes = last.parse().ok()?;
        return Some(ByteRange::Last { n_bytes });
    }
    let first = first.parse().ok()?;
    let last = match last {
        "" => None,
        last => Some(last.parse().ok()?),
    };
    if last.is_some_and(|last| last < first) {
        return None;
    }
    Some(ByteRange::From { first, last })
}

/// Returns true if the caller already has this version.
pub(super) fn is_known(headers: &HeaderMap, version: &str) -> bool {
    let tags = text(headers, &header::IF_NONE_MATCH).unwrap_or_default();
    tags.split(',').any(|tag| {
        let tag = tag.trim();
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        read_tag(tag) == Some(version)
    })
}

/// Returns the condition of a write.
pub(super) fn write(headers: &HeaderMap) -> Result<WriteCondition, Problem> {
    let matched = text(headers, &header::IF_MATCH);
    let unmatched = text(headers, &header::IF_NONE_MATCH);
    match (matched, unmatched) {
        (None, None) => Ok(WriteCondition::Always),
        (Some("*"), None) => Ok(WriteCondition::Present),
        (None, Some("*")) => Ok(WriteCondition::Absent),
        (Some(tag), None) => read_tag(tag)
            .map(|version| WriteCondition::Version(version.to_owned()))
            .ok_or_else(bad_tag),
        (_, Some(_)) => Err(Problem::malformed(
            "a write takes `If-Match` with one `ETag`, or `If-None-Match: *`, and not both",
        )),
    }
}

/// Returns the version that `If-Match` names, if it names one.
pub(super) fn matched(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    match text(headers, &header::IF_MATCH) {
        None | Some("*") => Ok(None),
        Some(tag) => match read_tag(tag) {
            Some(version) => Ok(Some(version.to_owned())),
            None => Err(bad_tag()),
        },
    }
}

/// Returns the `Content-Length` of the body.
pub(crate) fn length(headers: &HeaderMap) -> Option<u64> {
    text(headers, &header::CONTENT_LENGTH)?.parse().ok()
}

fn bad_tag() -> Problem {
    Problem::malformed("`If-Match` takes one `ETag` as this server sent it, in quotes")
}

/// Returns the text between the quotes of a strong tag.
fn read_tag(tag: &str) -> Option<&str> {
    let inner = tag.trim().strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('"')).then_some(inner)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.clone(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn a_single_range_is_parsed() {
        let from = |first, last| Some(ByteRange::From { first, last });
        for (text, expected) in [
            ("bytes=0-", from(0, None)),
            ("bytes=5-9", from(5, Some(9))),
            ("bytes=-7", Some(ByteRange::Last { n_bytes: 7 })),
            ("bytes=9-5", None),
            ("bytes=0-1,3-4", None),
            ("bytes=-", None),
            ("lines=1-2", None),
            ("bytes=99999999999999999999-", None),
        ] {
            let headers = with(&[(header::RANGE, text)]);
            assert_eq!(range(&headers), (expected, None), "{text}");
        }
        let dated = with(&[
            (header::RANGE, "bytes=0-"),
            (header::IF_RANGE, "Tue, 01 Jan 2030 00:00:00 GMT"),
        ]);
        assert_eq!(range(&dated).1, Some(String::new()));
    }

    #[test]
    fn tags_are_compared() {
        let headers = with(&[(header::IF_NONE_MATCH, "\"a\", W/\"b\"")]);
        assert!(is_known(&headers, "a") && is_known(&headers, "b") && !is_known(&headers, "c"));
        let condition = |name, value| write(&with(&[(name, value)]));
        let version = WriteCondition::Version("a".to_owned());
        assert_eq!(condition(header::IF_MATCH, "\"a\"").unwrap(), version);
        let absent = condition(header::IF_NONE_MATCH, "*").unwrap();
        assert_eq!(absent, WriteCondition::Absent);
        for (name, value) in [
            (header::IF_MATCH, "a"),
            (header::IF_MATCH, "\"a\", \"b\""),
            (header::IF_NONE_MATCH, "\"a\""),
        ] {
            assert!(condition(name, value).is_err(), "{value}");
        }
    }
}
