//! The address that the server listens on, and the links that lead there.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use tokio::net::TcpListener;

use crate::config::Config;

/// Reasons why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListenError {
    #[error(
        "port {} on {} is in use by another program; choose another with --listen {}:PORT, or stop that program",
        .0.port(), .0.ip(), .0.ip()
    )]
    PortInUse(SocketAddr),
    #[error(
        "{0} can be reached from other machines, and everybody on the way could read tokens and screens, since the \
         server does not encrypt; listen on 127.0.0.1, set public_url to the https:// address of a proxy in front, or \
         set allow_plain_http = true"
    )]
    PlainHttp(SocketAddr),
    #[error("cannot listen on {address}; choose another address with --listen")]
    Other {
        address: SocketAddr,
        source: io::Error,
    },
}

/// Listens on an address, unless others would have to send their secrets there in the clear.
pub(crate) async fn bind(listen: SocketAddr, config: &Config) -> Result<TcpListener, ListenError> {
    let public_url = config.public_url.as_deref().unwrap_or_default();
    let is_safe = listen.ip().is_loopback() || public_url.starts_with("https://");
    if !is_safe && !config.port.allow_plain_http {
        return Err(ListenError::PlainHttp(listen));
    }
    TcpListener::bind(listen).await.map_err(|source| {
        if source.kind() == io::ErrorKind::AddrInUse {
            ListenError::PortInUse(listen)
        } else {
            ListenError::Other {
                address: listen,
                source,
            }
        }
    })
}

/// Returns the address at which a person on this machine opens the page.
pub(crate) fn page_url(address: SocketAddr) -> String {
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        format!("http://localhost:{}", address.port())
    } else {
        format!("http://{address}")
    }
}

/// Returns the address at which a program on this machine reaches the server.
pub(crate) fn local_url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_links_that_work_on_this_machine() {
        let urls = |address: &str| {
            let address = address.parse().unwrap();
            (page_url(address), local_url(address))
        };
        let expected = |page: &str, local: &str| (page.to_owned(), local.to_owned());
        assert_eq!(
            urls("0.0.0.0:80"),
            expected("http://localhost:80", "http://127.0.0.1:80")
        );
        assert_eq!(
            urls("[::]:80"),
            expected("http://localhost:80", "http://[::1]:80")
        );
        assert_eq!(
            urls("10.1.2.3:80"),
            expected("http://10.1.2.3:80", "http://10.1.2.3:80")
        );
    }
}
