//! Places that commands reach: this computer, or another one.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns true if a URL or a host, with or without a port, is this computer.
pub(super) fn is_loopback(place: &str) -> bool {
    let place = place.split_once("://").map_or(place, |(_, rest)| rest);
    let authority = place.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None if host.matches(':').count() > 1 => host,
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.to_ascii_lowercase();
    host == "localhost"
        || host == "0.0.0.0"
        || host.ends_with(".localhost")
        || host
            .parse()
            .is_ok_and(|address: Ipv4Addr| address.is_loopback())
        || host
            .parse()
            .is_ok_and(|address: Ipv6Addr| address.is_loopback())
}

/// Returns true if the text begins like a URL.
pub(super) fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        !scheme.is_empty()
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

/// Returns true if a source or destination of `scp` or `rsync` is on another computer.
pub(super) fn is_remote_path(path: &str) -> bool {
    if is_url(path) {
        return !path.starts_with("file://") && !is_loopback(path);
    }
    match path.split_once(':') {
        Some((host, _)) => !host.is_empty() && !host.contains('/') && !is_loopback(host),
        None => false,
    }
}

/// Returns true if a redirection connects to another computer, as Bash does for `/dev/tcp/HOST/PORT`.
pub(super) fn is_remote_redirect(target: &str) -> bool {
    let host = target
        .strip_prefix("/dev/tcp/")
        .or_else(|| target.strip_prefix("/dev/udp/"));
    host.is_some_and(|host| !is_loopback(host))
}
