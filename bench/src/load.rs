//! Load on an HTTP API, by `wrk`: the same connections, bodies and time for each measured service.

use std::{collections::HashMap, process::Stdio, time::Duration};

use crate::service::Service;

/// The number of connections that send one request after the other.
const CONNECTIONS: &str = "32";

/// A kind of request.
pub(crate) struct Load {
    pub(crate) method: &'static str,
    /// The paths that the requests go to in turn.
    pub(crate) paths: Vec<String>,
    /// The body as JSON, or empty.
    pub(crate) body: &'static str,
}

/// The result of a load.
pub(crate) struct Borne {
    pub(crate) per_second: f64,
    pub(crate) p99_ms: f64,
}

impl Load {
    /// Puts this load on a service for some time.
    #[expect(clippy::disallowed_methods, reason = "wrk makes the load")]
    pub(crate) async fn put_on(&self, service: &Service, time: Duration) -> Borne {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/load.lua");
        let seconds = format!("{}s", time.as_secs());
        let output = tokio::process::Command::new("wrk")
            .args(["-t1", "-c", CONNECTIONS, "-d", &seconds, "-s", script])
            .args([&service.url, "--", &service.token, self.method, self.body])
            .args(&self.paths)
            .stdin(Stdio::null())
            .output()
            .await
            .expect("wrk is installed");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "wrk: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let told: HashMap<_, f64> = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(name, value)| Some((name, value.parse().ok()?)))
            .collect();
        assert!(
            told["refused"] == 0.0 && told["broken"] == 0.0,
            "not every request was answered well: {text}"
        );
        Borne {
            per_second: told["requests"] / told["seconds"],
            p99_ms: told["p99_ms"],
        }
    }
}
