//! A server with real sandboxes, and scenarios for it.

use deskhand_testkit::{Server, ServerOptions};

/// Starts a server that knows these scenarios, as name and YAML.
pub(crate) fn serve(scenarios: &[(&str, &str)]) -> Server {
    let owned = |(name, yaml): &(&str, &str)| ((*name).to_owned(), (*yaml).to_owned());
    let scenarios = scenarios.iter().map(owned).collect();
    serve_with(ServerOptions {
        scenarios,
        ..ServerOptions::default()
    })
}

pub(crate) fn serve_with(options: ServerOptions) -> Server {
    Server::start(env!("CARGO_BIN_EXE_deskhand"), options)
}

/// The same, with these settings, as variable and value.
pub(crate) fn serve_set(scenarios: &[(&str, &str)], settings: &[(&str, &str)]) -> Server {
    let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    serve_with(ServerOptions {
        scenarios: scenarios.iter().map(owned).collect(),
        variables: settings.iter().map(owned).collect(),
        ..ServerOptions::default()
    })
}

/// Settings for tests that do in a minute what people do in a month.
pub(crate) fn unlimited() -> Vec<(String, String)> {
    let settings = [
        ("LIMITS_AWAKE_SESSIONS", "1000"),
        ("LIMITS_SESSIONS_PER_DAY", "100000"),
        ("RATE_REQUESTS_PER_SECOND", "0"),
    ];
    let variable = |(name, value): (&str, &str)| (format!("DESKHAND_{name}"), value.to_owned());
    settings.map(variable).into()
}

/// A number that says how much of something a test does, where somebody has set it.
pub(crate) fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name}={value} is not a number")),
    )
}

#[expect(clippy::print_stderr, reason = "a long run shows how far it is")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}
