//! What can be seen from inside a sandbox, by root's server and by an ordinary user's.

use std::os::linux::net::SocketAddrExt;

use deskhand_testkit::{Server, ServerOptions, Session, not_run};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::world::serve_with;

/// A user id that nobody has.
const STRANGER: u32 = 54_321;

async fn three_sessions_are_strangers(server: &Server) {
    let client = server.client();
    let sessions = join_all((0..3).map(|_| client.new_session("scripted/demo"))).await;

    join_all(sessions.iter().enumerate().map(|(n, session)| async move {
        session.shell(&format!("echo secret-{n} > ~/mine; echo secret-{n} > /tmp/mine; (exec -a mark-{n} sleep 1000) & true")).await;
        let typed = json!({"action": "move", "at": {"x": 100 * (n + 1), "y": 200}});
        session.act("computer", typed).await;
    }))
    .await;

    let doors = Doors::open();
    for (n, session) in sessions.iter().enumerate() {
        assert_eq!(
            session.shell("cat ~/mine /tmp/mine").await.trim(),
            format!("secret-{n}\nsecret-{n}")
        );
        let pointer = session
            .act("computer", json!({"action": "cursor_position"}))
            .await;
        assert_eq!(
            pointer["text"],
            format!("X={}, Y=200", 100 * (n + 1)),
            "each has a desktop of its own"
        );
        sees_only_itself(session, n, server).await;
        reaches_nothing(session, &doors).await;
    }
    for session in &sessions {
        session.terminate().await;
    }
    an_open_network_has_no_private_hosts(server, &doors).await;
}

/// The sessions above are closed, as all with a scripted model. This one is open, and somebody is at work.
async fn an_open_network_has_no_private_hosts(server: &Server, doors: &Doors) {
    let body = json!({"model": "scripted/demo", "network": {"mode": "open"}});
    let made = server.client().post("/api/sessions", body).await.good();
    let session = server.client().session(made["id"].as_str().unwrap());
    session.take_control(300).await.good();
    let port = doors.tcp.local_addr().unwrap().port();
    let own_port: u16 = server.url().rsplit_once(':').unwrap().1.parse().unwrap();
    let private = [
        "10.0.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
    ];
    for address in private {
        // Behind an interface nothing is connected, and a proxy answers with an error.
        let command = format!("curl -sSf -m 20 http://{address}:{port}/ 2>&1; echo code $?");
        let seen = session.shell(&command).await;
        assert!(!seen.contains("code 0"), "{address}: {seen}");
    }
    // The sandbox's own loopback is not the host's.
    for port in [port, own_port] {
        let command = format!("curl -sS -m 20 http://127.0.0.1:{port}/ 2>&1; echo code $?");
        let seen = session.shell(&command).await;
        assert!(seen.contains("code 7"), "{port}: {seen}");
    }
    loop {
        let network = session.client.get(&session.path("/network")).await.good();
        let records = network["destinations"].as_array().unwrap();
        let is_blocked = |address: &&str| {
            let mut all = records.iter();
            all.any(|record| record["host"] == **address && record["blocked"] == "private")
        };
        if private.iter().all(is_blocked) {
            // Connections within the sandbox never reach the server.
            let is_loopback = |record: &Value| record["host"] == "127.0.0.1";
            assert!(!records.iter().any(is_loopback), "{network}");
            break;
        }
        // The server records every second.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    session.terminate().await;
}

async fn sees_only_itself(session: &Session, n: usize, server: &Server) {
    let processes = session
        .shell("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
        .await;
    assert!(processes.contains(&format!("mark-{n}")), "{processes}");
    for other in (0..3).filter(|other| *other != n) {
        assert!(!processes.contains(&format!("mark-{other}")), "{processes}");
    }
    let n_processes: usize = session
        // A process may end between the list and the look at it.
        .shell("ls -d /proc/[0-9]* 2>/dev/null | wc -l")
        .await
        .trim()
        .parse()
        .unwrap();
    let n_host = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|e| e.file_name().to_string_lossy().parse::<u32>().is_ok())
        .count();
    assert!(n_processes < n_host, "{n_processes} of the host's {n_host}");

    // Neither the host's home folders nor the server's data are there under their own names.
    let data = server.data_dir();
    let looked = session.shell(&format!("ls -A {} /root /home /var/lib /srv /opt 2>&1; cat {}/admin-token /etc/shadow /etc/machine-id 2>&1", data.display(), data.display())).await;
    assert!(!looked.contains("dh_"), "{looked}");
    assert!(!looked.contains("root:"), "{looked}");
    let homes = session.shell("ls -A /home").await;
    assert_eq!(homes.trim(), "agent");
    let write = session.shell("touch /usr/x /etc/x /run/deskhand/x 2>&1; echo; ls /usr/x /etc/x /run/deskhand/x 2>/dev/null").await;
    assert!(!write.contains("\n/"), "{write}");
    assert_eq!(session.shell("id -u; hostname").await.trim(), "1000\ndesk");
    // No capability, no token in reach.
    assert!(
        session
            .shell("grep CapEff /proc/self/status")
            .await
            .contains("0000000000000000")
    );
    let environment = session
        .shell("env; cat /proc/1/environ /proc/2/environ 2>&1 | tr '\\0' '\\n'")
        .await;
    assert!(
        !environment.contains("dh_") && !environment.to_lowercase().contains("token"),
        "{environment}"
    );
}

async fn reaches_nothing(session: &Session, doors: &Doors) {
    let port = doors.tcp.local_addr().unwrap().port();
    for address in [
        "1.1.1.1",
        "10.0.0.1",
        "169.254.169.254",
        "[::1]",
        "localhost",
        "127.0.0.1",
        "example.com",
    ] {
        let curl = session
            .shell(&format!(
                "curl -sSf -m 3 http://{address}:{port}/ 2>&1; echo code $?"
            ))
            .await;
        assert!(!curl.contains("code 0"), "{address}: {curl}");
    }
    let interfaces = session
        .shell("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '")
        .await;
    // There is nothing but the runner behind the interface.
    assert!(
        ["lo", "lo\nnet0"].contains(&interfaces.trim()),
        "{interfaces}"
    );
    let sockets = session.shell("cat /proc/net/unix | tail -n +2").await;
    assert!(!sockets.contains(Doors::ABSTRACT), "{sockets}");
    let files = session
        .shell("find / -xdev -type s 2>/dev/null; find /run /tmp -type s 2>/dev/null")
        .await;
    let foreign: Vec<_> = files
        .lines()
        .filter(|line| {
            !line.starts_with("/tmp/")
                && !line.starts_with("/run/deskhand/")
                && !line.starts_with("/home/agent/")
        })
        .filter(|line| line.starts_with('/'))
        .collect();
    assert!(foreign.is_empty(), "{files}");
}

/// Sockets of the host that anybody on it can reach.
struct Doors {
    tcp: std::net::TcpListener,
    _unix: std::os::unix::net::UnixListener,
}

impl Doors {
    /// Sockets with such names have no file, so only a network namespace hides them.
    const ABSTRACT: &str = "deskhand-door-of-the-host";

    fn open() -> Self {
        let name = format!("{}-{}", Self::ABSTRACT, std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(name).unwrap();
        Self {
            tcp: std::net::TcpListener::bind("127.0.0.1:0").unwrap(),
            _unix: std::os::unix::net::UnixListener::bind_addr(&address).unwrap(),
        }
    }
}

#[tokio::test]
async fn three_sessions_at_once_see_neither_each_other_nor_the_host() {
    let server = serve_with(ServerOptions::default());
    three_sessions_are_strangers(&server).await;
}

#[tokio::test]
async fn the_same_holds_for_an_ordinary_users_server() {
    if !rustix::process::geteuid().is_root() {
        not_run(
            "the test above was already an ordinary user's, because the tests do not run as root",
        );
        return;
    }
    let options = ServerOptions {
        user: Some(STRANGER),
        ..ServerOptions::default()
    };
    let server = serve_with(options);
    three_sessions_are_strangers(&server).await;
}
