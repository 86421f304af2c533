//! The settings of services of sandboxes.

use std::path::PathBuf;

use super::reader::Reader;

/// The domain that needs no setup.
const LOCAL: &str = "localhost";

#[derive(Debug, Clone)]
pub(crate) struct AppsConfig {
    /// The domain of services. `None` means `localhost` if people reach the server there, and else none.
    pub(crate) domain: Option<String>,
    /// The folder of VS Code.
    pub(crate) code_server: PathBuf,
}

pub(super) fn apps(
    reader: &mut Reader<'_>,
    public_url: Option<&str>,
    allowed_hosts: &[String],
) -> AppsConfig {
    AppsConfig {
        domain: domain(reader, public_url, allowed_hosts),
        code_server: reader.text("apps.code_server").into(),
    }
}

fn domain(
    reader: &mut Reader<'_>,
    public_url: Option<&str>,
    allowed_hosts: &[String],
) -> Option<String> {
    const KEY: &str = "apps.domain";
    let domain = reader.text_or_nothing(KEY)?;
    let is_label = |label: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty() && label.bytes().all(is_plain)
    };
    if !domain.split('.').all(is_label) {
        let wanted = "a name such as apps.example.com, without http:// and a port";
        reader.mistake(KEY, &format!("must be {wanted}, not {domain:?}"));
        return None;
    }
    if is_near_dashboard(&domain, public_url, allowed_hosts) {
        // Pages of sandboxes could set cookies for the dashboard.
        let problem = "must be neither above nor below a name in public_url or allowed_hosts; use a domain that is only \
                       for services";
        reader.mistake(KEY, problem);
    }
    Some(domain)
}

/// Returns true if a name of the dashboard is the domain of services, or above or below it.
fn is_near_dashboard(domain: &str, public_url: Option<&str>, allowed_hosts: &[String]) -> bool {
    let public = public_url.and_then(|url| url.split_once("://"));
    let public = public.map(|(_, rest)| rest.split(['/', ':']).next().unwrap_or_default());
    let mut dashboards = public
        .into_iter()
        .chain(allowed_hosts.iter().map(String::as_str));
    domain != LOCAL && dashboards.any(|host| host != LOCAL && is_related(host, domain))
}

/// Returns true if one name is the other, or below it.
fn is_related(one: &str, other: &str) -> bool {
    let is_below = |name: &str, above: &str| {
        let rest = name.strip_suffix(above);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let (one, other) = (one.to_ascii_lowercase(), other.to_ascii_lowercase());
    is_below(&one, &other) || is_below(&other, &one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_is_compared_with_all_names_of_the_dashboard() {
        let near = |domain, url: &str, allowed: &str| {
            is_near_dashboard(domain, Some(url), &[allowed.to_owned()])
        };
        let url = "https://desk.example:8443/x";
        assert!(near("apps.desk.example", url, "other.example"));
        assert!(near("apps.other.example", url, "other.example"));
        assert!(!near("apps.example", url, "other.example"));
        assert!(!near("localhost", "http://localhost:7878", "localhost"));
    }

    #[test]
    fn names_above_and_below_are_related() {
        assert!(is_related("desk.example.com", "desk.example.com"));
        assert!(is_related("desk.example.com", "Example.com"));
        assert!(is_related("desk.example.com", "apps.desk.example.com"));
        assert!(!is_related("desk.example.com", "apps.example.com"));
        assert!(!is_related("desk.example.com", "k.example.com"));
    }
}
