//! The network of a real sandbox behind a real server: real programs contact hosts of the test, by name and without any
//! setting, and everything that must be refused is tried.
//!
//! Every attempt is judged twice: by what the program saw, and by what the server recorded.

mod attempt;
mod crash;
mod hosts;
mod programs;
mod refused;

use std::time::Instant;

use deskhand_testkit::{Client, Server, Session, not_run};
use serde_json::json;

use self::{
    attempt::{judge_records, try_all},
    hosts::{FORBIDDEN, Hosts},
};
use crate::world::{say, serve_with};

#[tokio::test]
async fn real_programs_reach_public_hosts_and_nothing_else() {
    let hosts = match Hosts::start() {
        Ok(hosts) => hosts,
        Err(reason) => return not_run(&reason),
    };
    let server = serve_with(hosts.options(&[]));
    let client = server.client();
    let begun = Instant::now();
    // The long ones have a sandbox of their own, beside the many short ones.
    let (long, short) = tokio::join!(online(&client), online(&client));
    let (long_attempts, mut attempts) = (programs::long_ones(&hosts), programs::short_ones());
    attempts.extend(refused::attempts(own_port(&server)));
    let short_ones = async {
        let failures = try_all(&short, &attempts).await;
        refused::after_a_change(&short, &hosts).await;
        failures
    };
    let (of_long, of_short) = tokio::join!(try_all(&long, &long_attempts), short_ones);
    let mut failures = [of_long, of_short].concat();
    failures.extend(judge_records(&long, &long_attempts).await);
    failures.extend(judge_records(&short, &attempts).await);
    let n_attempts = attempts.len() + long_attempts.len();
    say(&format!(
        "{n_attempts} attempts took {:.1} s",
        begun.elapsed().as_secs_f64()
    ));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    saw_the_page(&hosts, "chromium");
    saw_the_page(&hosts, "firefox");
    nothing_forbidden_was_reached(&hosts);
}

/// Creates a session with an open network, of which a person has control.
async fn online(client: &Client) -> Session {
    let body = json!({"model": "scripted/demo", "network": {"mode": "open"}});
    let made = client.post("/api/sessions", body).await.good();
    let session = client.session(made["id"].as_str().unwrap());
    session.take_control(600).await.good();
    session
}

fn own_port(server: &Server) -> u16 {
    let url = server.url();
    url.rsplit_once(':')
        .unwrap()
        .1
        .trim_end_matches('/')
        .parse()
        .unwrap()
}

/// Checks that a browser loaded a page with style and script of another host, and talked over a WebSocket.
fn saw_the_page(hosts: &Hosts, browser: &str) {
    let wanted = format!("seen {browser} scripted styled echoed");
    let lines = hosts.lines();
    assert!(lines.contains(&wanted), "{browser}: {lines:?}");
}

/// Checks that no connection arrived at a host that must be refused, although all of them listen.
fn nothing_forbidden_was_reached(hosts: &Hosts) {
    let lines = hosts.lines();
    for line in &lines {
        let mut words = line.split(' ');
        let is_reached = words.next() == Some("reached");
        let address = words.next().unwrap_or_default();
        assert!(!(is_reached && FORBIDDEN.contains(&address)), "{line}");
        assert!(
            !line.starts_with("datagram") && !line.starts_with("failed"),
            "{line}"
        );
    }
    // The hosts do listen, and do tell.
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("reached 11.22.33.")),
        "{lines:?}"
    );
}
