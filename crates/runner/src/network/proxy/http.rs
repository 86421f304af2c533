//! The HTTP side of the proxy: `CONNECT`, and requests with absolute URLs.

use std::io;

use deskhand_core::network::{NetworkAnswer, NetworkFailure};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::{AnswerStyle, ProxyRequest, ProxyRequestRead, host};

/// The longest head of a request.
const LONGEST_HEAD_BYTES: usize = 64 * 1024;
const PIECE_BYTES: usize = 4 * 1024;
const HEAD_END: &[u8] = b"\r\n\r\n";
const HTTP_PORT: u16 = 80;

/// Headers for the proxy, which are not forwarded to the host.
const FOR_PROXY: [&str; 4] = [
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
];

/// Reads a request.
pub(super) async fn read(program: &mut (impl AsyncRead + Unpin)) -> io::Result<ProxyRequestRead> {
    let mut bytes = Vec::new();
    loop {
        let end = bytes
            .windows(HEAD_END.len())
            .position(|window| window == HEAD_END);
        if let Some(end) = end {
            let rest = bytes.split_off(end + HEAD_END.len());
            let request = std::str::from_utf8(&bytes)
                .ok()
                .and_then(|head| request(head, rest));
            return Ok(request.map_or_else(
                || ProxyRequestRead::Refusal(not_a_proxy_request()),
                ProxyRequestRead::Request,
            ));
        }
        if bytes.len() > LONGEST_HEAD_BYTES {
            return Ok(ProxyRequestRead::Refusal(not_a_proxy_request()));
        }
        let mut piece = [0; PIECE_BYTES];
        let n_read = program.read(&mut piece).await?;
        if n_read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&piece[..n_read]);
    }
}

/// Parses the head of a request. `rest` is what followed it.
pub(super) fn request(head: &str, rest: Vec<u8>) -> Option<ProxyRequest> {
    let (line, headers) = head.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    if method == "CONNECT" {
        let (name, port) = target.rsplit_once(':')?;
        return Some(ProxyRequest {
            host: host(name)?,
            port: port.parse().ok()?,
            first_bytes: rest,
            answer: AnswerStyle::Connect,
        });
    }
    let scheme = target.get(..7)?;
    if !scheme.eq_ignore_ascii_case("http://") {
        return None;
    }
    let target = &target[7..];
    let path_at = target.find(['/', '?']).unwrap_or(target.len());
    let (authority, path) = target.split_at(path_at);
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()?),
        _ => (authority, HTTP_PORT),
    };
    let mut first_bytes = own_request(method, path, version, headers).into_bytes();
    first_bytes.extend(rest);
    Some(ProxyRequest {
        host: host(name)?,
        port,
        first_bytes,
        answer: AnswerStyle::OfHost,
    })
}

/// Returns the request in the form for the host. The connection carries only this request.
fn own_request(method: &str, path: &str, version: &str, headers: &str) -> String {
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut request = format!("{method} {slash}{path} {version}\r\nConnection: close\r\n");
    for line in headers.split("\r\n").filter(|line| !line.is_empty()) {
        let name = line.split(':').next().unwrap_or_default();
        let is_for_proxy = |own: &&str| own.eq_ignore_ascii_case(name.trim());
        if !FOR_PROXY.iter().any(is_for_proxy) {
            request.push_str(line);
            request.push_str("\r\n");
        }
    }
    request.push_str("\r\n");
    request
}

/// Returns the response to a request: the connection is made, or the reason why it is not.
pub(super) fn answer(answer: &NetworkAnswer) -> Vec<u8> {
    match answer {
        NetworkAnswer::Connected => b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec(),
        NetworkAnswer::Refused { reason } => response("403 Forbidden", reason),
        NetworkAnswer::Failed {
            failure: NetworkFailure::TimedOut,
        } => response("504 Gateway Timeout", "the host did not answer"),
        NetworkAnswer::Failed {
            failure: NetworkFailure::Refused,
        } => response("502 Bad Gateway", "the host refused the connection"),
        NetworkAnswer::NotFound | NetworkAnswer::Found | NetworkAnswer::Failed { .. } => {
            response("502 Bad Gateway", "there is no way to the host")
        }
    }
}

fn not_a_proxy_request() -> Vec<u8> {
    response(
        "400 Bad Request",
        "this is a proxy: use CONNECT, or ask for an address that begins with http://",
    )
}

fn response(status: &str, text: &str) -> Vec<u8> {
    let length = text.len() + 1;
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{text}\n"
    )
    .into_bytes()
}
