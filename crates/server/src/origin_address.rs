//! The address that a request comes from.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::request::Parts,
};
use deskhand_core::audit::Requester;

use crate::{Shared, problem::Problem};

/// A caller of whom only the address is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stranger(pub(crate) Requester);

impl FromRequestParts<Shared> for Stranger {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Problem> {
        Ok(Self(Requester {
            address: address(parts),
            ..Requester::SERVER
        }))
    }
}

/// Returns the address of the other end of the connection. Behind a proxy this is the proxy's: headers that name
/// another one can be forged.
pub(crate) fn address(parts: &Parts) -> Option<IpAddr> {
    let from = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    from.map(|ConnectInfo(from)| from.ip().to_canonical())
}
