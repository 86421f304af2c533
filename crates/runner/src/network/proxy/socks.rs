//! The SOCKS 5 side of the proxy (RFC 1928), without authentication and only for `CONNECT`.

use std::{io, net::Ipv6Addr};

use deskhand_core::network::{NetworkAnswer, NetworkFailure, NetworkHost};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{AnswerStyle, ProxyRequest, ProxyRequestRead, host};

pub(super) const VERSION: u8 = 5;
const NO_PASSWORD: u8 = 0;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

const GRANTED: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const HOST_UNREACHABLE: u8 = 4;
const CONNECTION_REFUSED: u8 = 5;
const COMMAND_UNKNOWN: u8 = 7;
const KIND_UNKNOWN: u8 = 8;

/// Reads and answers the greeting, and reads the request.
pub(super) async fn read(
    program: &mut (impl AsyncRead + AsyncWrite + Unpin),
) -> io::Result<ProxyRequestRead> {
    let _version = program.read_u8().await?;
    let n_methods = program.read_u8().await?;
    let mut methods = vec![0; n_methods.into()];
    program.read_exact(&mut methods).await?;
    program.write_all(&[VERSION, NO_PASSWORD]).await?;

    let mut head = [0; 4];
    program.read_exact(&mut head).await?;
    let [_, command, _, kind] = head;
    let host = match kind {
        IPV4 => Some(NetworkHost::Address(
            std::net::Ipv4Addr::from(program.read_u32().await?).into(),
        )),
        IPV6 => Some(NetworkHost::Address(
            Ipv6Addr::from(program.read_u128().await?).into(),
        )),
        NAME => {
            let length = program.read_u8().await?;
            let mut name = vec![0; length.into()];
            program.read_exact(&mut name).await?;
            std::str::from_utf8(&name).ok().and_then(host)
        }
        _ => return Ok(ProxyRequestRead::Refusal(reply(KIND_UNKNOWN))),
    };
    let port = program.read_u16().await?;
    Ok(match host {
        _ if command != CONNECT => ProxyRequestRead::Refusal(reply(COMMAND_UNKNOWN)),
        None => ProxyRequestRead::Refusal(reply(HOST_UNREACHABLE)),
        Some(host) => ProxyRequestRead::Request(ProxyRequest {
            host,
            port,
            first_bytes: Vec::new(),
            answer: AnswerStyle::Socks,
        }),
    })
}

/// Returns the reply to a request: the connection is made, or the reason why it is not.
pub(super) fn answer(answer: &NetworkAnswer) -> Vec<u8> {
    reply(match answer {
        NetworkAnswer::Connected => GRANTED,
        NetworkAnswer::Refused { .. } => NOT_ALLOWED,
        NetworkAnswer::Failed {
            failure: NetworkFailure::Refused,
        } => CONNECTION_REFUSED,
        NetworkAnswer::NotFound | NetworkAnswer::Found | NetworkAnswer::Failed { .. } => {
            HOST_UNREACHABLE
        }
    })
}

/// Returns a reply with this code and an unspecified address.
fn reply(code: u8) -> Vec<u8> {
    vec![VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]
}
