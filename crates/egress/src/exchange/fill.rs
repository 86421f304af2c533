//! Fills the values of secrets into the headers of a request.

use base64::{Engine, engine::general_purpose::STANDARD};
use deskhand_core::{
    network::stand_in::StandIn,
    secret::Secret,
    vault::{SecretHeader, SecretName},
};
use hyper::{
    HeaderMap, Request,
    header::{HeaderName, HeaderValue},
};
use memchr::memmem;
use zeroize::Zeroizing;

use super::{Refused, Visit};

/// The scheme of `Authorization` whose credentials are in base64.
const BASIC: &[u8] = b"basic ";

/// The stand-ins in one header.
struct Found<'a> {
    header: HeaderName,
    /// The index among the headers of this name.
    index: usize,
    stand_ins: Vec<&'a StandIn>,
}

/// A text that was filled into a request, and the text that it replaced.
#[derive(Debug)]
pub(super) struct SentText {
    pub(super) sent: Zeroizing<Vec<u8>>,
    pub(super) stand_in: Vec<u8>,
}

/// Replaces stand-ins by values. Returns the credentials that contain values in an encoded form.
///
/// The whole request is checked before anybody is asked for approval.
pub(super) async fn fill<B>(
    visit: &Visit,
    request: &mut Request<B>,
) -> Result<Vec<SentText>, Refused> {
    let found = find(visit, request)?;
    let mut values: Vec<(SecretName, Secret)> = Vec::new();
    for Found {
        header, stand_ins, ..
    } in &found
    {
        for stand_in in stand_ins {
            // Each header needs its own permission, even for the same secret.
            let value = visit
                .reveal(&stand_in.name, &named(stand_in, header)?)
                .await?;
            if !values.iter().any(|(name, _)| *name == stand_in.name) {
                values.push((stand_in.name.clone(), value));
            }
        }
    }
    let mut sent = Vec::new();
    for Found {
        header,
        index,
        stand_ins,
    } in found
    {
        let Some(place) = values_mut(request.headers_mut(), &header).nth(index) else {
            continue;
        };
        let filled = rewritten(place.as_bytes(), |text| {
            let mut text = text.to_vec();
            for stand_in in &stand_ins {
                let value = values.iter().find(|(name, _)| *name == stand_in.name);
                if let Some((_, value)) = value {
                    text = replaced(&text, &stand_in.text, value.expose().as_bytes());
                }
            }
            text
        });
        if is_basic(place.as_bytes()) {
            sent.push(SentText {
                sent: Zeroizing::new(filled[BASIC.len()..].to_vec()),
                stand_in: place.as_bytes()[BASIC.len()..].to_vec(),
            });
        }
        // Stored values have only characters that headers allow.
        let Ok(mut value) = HeaderValue::from_bytes(&filled) else {
            return Err(Refused::StandIn);
        };
        value.set_sensitive(true);
        *place = value;
    }
    Ok(sent)
}

/// Finds the stand-ins in a request, and refuses it if one is in the wrong place.
fn find<'a, B>(visit: &'a Visit, request: &Request<B>) -> Result<Vec<Found<'a>>, Refused> {
    let watch = visit.watch();
    let target = request.uri().to_string();
    if watch.is_in(target.as_bytes()) || watch.is_in(request.method().as_str().as_bytes()) {
        return Err(Refused::StandIn);
    }
    let mut found = Vec::new();
    for header in request.headers().keys() {
        if watch.is_in(header.as_str().as_bytes()) {
            return Err(Refused::StandIn);
        }
        for (index, value) in request.headers().get_all(header).iter().enumerate() {
            if !watch.is_in(value.as_bytes()) {
                continue;
            }
            let mut stand_ins = Vec::new();
            let rest = rewritten(value.as_bytes(), |text| {
                let mut text = text.to_vec();
                for stand_in in by_length(visit, header) {
                    let without = replaced(&text, &stand_in.text, b"");
                    if without != text {
                        stand_ins.push(stand_in);
                        text = without;
                    }
                }
                text
            });
            if watch.is_in(&rest) {
                return Err(Refused::StandIn);
            }
            found.push(Found {
                header: header.clone(),
                index,
                stand_ins,
            });
        }
    }
    Ok(found)
}

/// Returns the stand-ins that are allowed in a header, longest first: one stand-in may contain another.
fn by_length<'a>(visit: &'a Visit, header: &HeaderName) -> Vec<&'a StandIn> {
    let allowed = visit
        .access
        .stand_ins
        .allowed_in(&visit.origin, header.as_str());
    let mut allowed: Vec<_> = allowed.collect();
    allowed.sort_by_key(|stand_in| std::cmp::Reverse(stand_in.text.len()));
    allowed
}

/// Returns the header as the secret names it.
fn named(stand_in: &StandIn, header: &HeaderName) -> Result<SecretHeader, Refused> {
    let mut headers = stand_in.http.headers.iter();
    let named = headers.find(|named| named.as_str() == header.as_str());
    named.cloned().ok_or(Refused::StandIn)
}

fn values_mut<'a>(
    headers: &'a mut HeaderMap,
    header: &HeaderName,
) -> impl Iterator<Item = &'a mut HeaderValue> {
    let all = headers.iter_mut();
    let header = header.clone();
    all.filter(move |(name, _)| **name == header)
        .map(|(_, value)| value)
}

/// Applies a change to the value of a header, or to the decoded credentials if it has any.
fn rewritten(value: &[u8], change: impl FnOnce(&[u8]) -> Vec<u8>) -> Vec<u8> {
    if is_basic(value)
        && let Ok(credentials) = STANDARD.decode(value[BASIC.len()..].trim_ascii())
    {
        let credentials = Zeroizing::new(change(&credentials));
        let encoded = STANDARD.encode(&*credentials);
        return [&value[..BASIC.len()], encoded.as_bytes()].concat();
    }
    change(value)
}

fn is_basic(value: &[u8]) -> bool {
    let scheme = value.get(..BASIC.len());
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(BASIC))
}

fn replaced(text: &[u8], wanted: &str, replacement: &[u8]) -> Vec<u8> {
    let mut result = Vec::new();
    let mut rest = text;
    while let Some(at) = memmem::find(rest, wanted.as_bytes()) {
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(replacement);
        rest = &rest[at + wanted.len()..];
    }
    result.extend_from_slice(rest);
    result
}
