//! Attempts that must be refused. The hosts are all there, and would answer.

use std::time::Duration;

use deskhand_core::network::policy::BlockReason;
use deskhand_testkit::{NEAR_ADDRESS, Session};

use super::{
    attempt::{Attempt, Recorded, records},
    hosts::{Hosts, PRIVATE},
};

/// Numbers of private addresses as programs may write them, with the address that is meant.
const SPELLINGS: &[(&str, &str)] = &[
    ("169.254.169.254", "169.254.169.254"),
    ("2852039166", "169.254.169.254"),
    ("0xA9FEA9FE", "169.254.169.254"),
    ("025177524776", "169.254.169.254"),
    ("0251.0376.0251.0376", "169.254.169.254"),
    ("0xa9.0xfe.0xa9.0xfe", "169.254.169.254"),
    ("169.0376.0xa9.254", "169.254.169.254"),
    ("169.254.43518", "169.254.169.254"),
    ("169.16689662", "169.254.169.254"),
    ("10.5", "10.0.0.5"),
    ("012.0.5", "10.0.0.5"),
    ("167772165", "10.0.0.5"),
    ("100.100.100.200", "100.100.100.200"),
    ("168.63.129.16", "168.63.129.16"),
    ("203.0.113.9", "203.0.113.9"),
    // The kernel itself turns these into packets of IPv4.
    ("[::ffff:169.254.169.254]", "169.254.169.254"),
    ("[::ffff:a9fe:a9fe]", "169.254.169.254"),
    ("[0:0:0:0:0:ffff:10.0.0.5]", "10.0.0.5"),
];

/// Numbers for which a sandbox has no interface, or has its own loopback.
const UNREACHABLE: &[&str] = &[
    "[fd00:ec2::254]",
    "[64:ff9b::169.254.169.254]",
    "[2002:a00:5::1]",
    "[::169.254.169.254]",
    "[::1]",
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0",
];

/// The first port of attempts by number. Each has its own, so that each has its own record.
const FIRST_PORT: u16 = 8001;

pub(super) fn attempts(own_port: u16) -> Vec<Attempt> {
    let mut attempts = by_name();
    attempts.extend(by_number(own_port));
    attempts.extend(by_other_means());
    attempts
}

/// Returns a command that fails with the code of curl for a connection that is refused.
fn curl(address: &str) -> String {
    format!("curl -sS -m 20 {address} 2>&1; echo code $?")
}

fn by_name() -> Vec<Attempt> {
    let private = BlockReason::Private;
    let attempt = |(name, address): &(&str, &str)| {
        let what = format!("{name} ({address})");
        Attempt::blocked(
            &what,
            &curl(&format!("http://{name}/hello")),
            "code 7",
            name,
            80,
            private,
        )
    };
    PRIVATE.iter().map(attempt).collect()
}

fn by_number(own_port: u16) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    let mut ports = FIRST_PORT..;
    for ((spelled, meant), port) in SPELLINGS.iter().zip(&mut ports) {
        let command = curl(&format!("http://{spelled}:{port}/hello"));
        attempts.push(Attempt::blocked(
            &format!("http://{spelled}"),
            &command,
            "code 7",
            meant,
            port,
            BlockReason::Private,
        ));
    }
    for (spelled, port) in UNREACHABLE.iter().zip(&mut ports) {
        let command = curl(&format!("http://{spelled}:{port}/hello"));
        attempts.push(Attempt::new(
            &format!("http://{spelled}"),
            &command,
            "code 7",
            Recorded::Nothing(port),
        ));
    }
    let command = curl(&format!("http://{NEAR_ADDRESS}:{own_port}/health"));
    attempts.push(Attempt::blocked(
        "the server itself",
        &command,
        "code 7",
        NEAR_ADDRESS,
        own_port,
        BlockReason::Own,
    ));
    attempts
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn by_other_means() -> Vec<Attempt> {
    let redirected = |to: &str| curl(&format!("-L 'https://web.example/to?{to}'"));
    let (private, resolver, other) = (
        BlockReason::Private,
        BlockReason::Resolver,
        BlockReason::OtherName,
    );
    let blocked = Attempt::blocked;
    vec![
        blocked(
            "a redirect to a number",
            &redirected("http://169.254.169.254:8050/hello"),
            "code 7",
            "169.254.169.254",
            8050,
            private,
        ),
        blocked(
            "a redirect to a name",
            &redirected("http://private.example:8051/hello"),
            "code 7",
            "private.example",
            8051,
            private,
        ),
        blocked(
            "another name in TLS",
            &curl("--connect-to hidden.example:443:sni.example:443 https://hidden.example/hello"),
            "code 35",
            "sni.example",
            443,
            other,
        ),
        blocked(
            "another name in HTTP",
            &curl("-H 'Host: hidden.example' http://cleartext.example/hello"),
            "code 5",
            "cleartext.example",
            80,
            other,
        ),
        blocked(
            "DNS over HTTPS by name",
            &curl("--doh-url https://dns.google/dns-query https://web.example/hello"),
            "code 6",
            "dns.google",
            0,
            resolver,
        ),
        blocked(
            "DNS over HTTPS by number",
            &curl("-k https://1.1.1.1/dns-query"),
            "code 7",
            "1.1.1.1",
            443,
            resolver,
        ),
        blocked(
            "DNS over TLS",
            &curl("http://dot.example:853/"),
            "code 7",
            "dot.example",
            853,
            resolver,
        ),
        Attempt::new(
            "a datagram",
            &python(DATAGRAM),
            "ConnectionRefusedError",
            Recorded::Nothing(DATAGRAM_PORT),
        ),
        Attempt::new("ICMP", &python(ICMP), "PermissionError", Recorded::NoPacket),
        Attempt::new(
            "a raw socket",
            &python(RAW),
            "PermissionError",
            Recorded::NoPacket,
        ),
        Attempt::new(
            "a packet socket",
            &python(PACKET),
            "Address family not supported",
            Recorded::NoPacket,
        ),
    ]
}

/// The port at which the hosts take datagrams.
const DATAGRAM_PORT: u16 = 8060;
const DATAGRAM: &str = "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(10)
    s.connect((\"web.example\", 8060))
    s.send(bytes(1200))
    s.recv(1)";
const ICMP: &str = "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)";
const RAW: &str = "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)";
const PACKET: &str = "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)";

/// Returns a command that prints the kind of the error with which this fails.
fn python(body: &str) -> String {
    format!(
        "/usr/bin/python3 -I - <<'END'\nimport socket\ntry:\n    {body}\n    print('it worked')\n\
         except OSError as error:\n    print(type(error).__name__, error)\nEND"
    )
}

/// Names whose addresses change while they are used.
pub(super) async fn after_a_change(session: &Session, hosts: &Hosts) {
    let names = hosts.network.names();
    // It is public for the lookup of the program and for the check of the server, and private for any later look.
    names.set_in_turn(
        "pinned.example",
        &[&["11.22.33.2"], &["11.22.33.2"], &["10.0.0.5"]],
    );
    let seen = session.shell("curl -sS http://pinned.example/hello").await;
    assert!(
        seen.contains("hello by HTTP/1.1 from pinned.example"),
        "{seen}"
    );

    // It is public for the program, and private from then on. Whatever the server remembers, it ends up refusing.
    names.set_in_turn("changing.example", &[&["11.22.33.2"], &["10.0.0.5"]]);
    let seen = session
        .shell("for n in $(seq 60); do curl -sS -m 20 http://changing.example/hello 2>&1 || { echo code $?; break; }; sleep 0.5; done")
        .await;
    assert!(seen.contains("\ncode 7"), "{seen}");
    let is_blocked = async || {
        let records = records(session).await;
        let mut all = records.iter();
        all.any(|record| {
            record.host == "changing.example" && record.blocked == Some(BlockReason::Private)
        })
    };
    while !is_blocked().await {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
