//! Real programs in a real sandbox reach servers of the test, by name and without any setting.

mod outside;
mod servers;

use std::{collections::HashMap, net::SocketAddr};

use deskhand_core::{
    id::SessionId,
    network::{NetworkEntrance, NetworkFailure, NetworkHost, NetworkRequest},
    sandbox::Sandbox,
    tasks::Tasks,
};
use deskhand_testkit::not_run;

use self::{
    outside::{Outside, Route},
    servers::Servers,
};
use crate::support::{World, example, run, said};

/// The programs with their expected output.
const PROGRAMS: &str = include_str!("network/programs.py");

#[tokio::test(flavor = "multi_thread")]
async fn programs_reach_hosts_by_name_and_see_honest_errors() {
    if let Err(error) = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun")
    {
        not_run(&format!(
            "interfaces cannot be made here: /dev/net/tun: {error}"
        ));
        return;
    }
    let tasks = Tasks::default();
    let servers = Servers::start(&tasks).await;
    let (outside, entrance) = Outside::open(routes(&servers), &tasks);
    let world = connected_world(entrance);
    let sandbox = world.start_connected(SessionId::new()).await;
    let sandbox = &*sandbox;

    curl_and_git_work(sandbox, &servers).await;
    a_browser_works(sandbox).await;
    programs_in_python_work(sandbox).await;
    names_reach_the_server(&outside);
    nothing_else_gets_out(sandbox).await;

    world.end().await;
    assert!(tasks.end(std::time::Duration::from_secs(60)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_interface_programs_use_the_proxy() {
    let tasks = Tasks::default();
    let servers = Servers::start(&tasks).await;
    let (outside, entrance) = Outside::open(routes(&servers), &tasks);
    let dir = tempfile::tempdir().unwrap();
    let runner = dir.path().join("without-interface");
    std::fs::copy(example("runner"), &runner).unwrap();
    let world = World::with(|config| {
        config.runner = runner;
        config.network = Some(entrance);
    });
    let sandbox = world.start_connected(SessionId::new()).await;
    let sandbox = &*sandbox;

    let hello = "hello";
    assert_eq!(said(sandbox, "curl -sS http://WEB.test/hello").await, hello);
    let tunnel = "curl -sS --proxytunnel http://web.test/hello";
    assert_eq!(said(sandbox, tunnel).await, hello);
    let socks = "http_proxy= curl -sS http://web.test/hello";
    assert_eq!(said(sandbox, socks).await, hello);
    let cloned = "git clone -q http://web.test/repository.git /tmp/cloned && cat /tmp/cloned/file";
    assert_eq!(said(sandbox, cloned).await, "in the repository");
    let refused = "curl -sS -w '%{http_code}' http://web.test:82/";
    assert_eq!(said(sandbox, refused).await, "not on the list\n403");
    let failed = "curl -sS -o /dev/null -w '%{http_code}' http://web.test:81/";
    assert_eq!(said(sandbox, failed).await, "502");
    assert_eq!(
        said(
            sandbox,
            "ls /sys/class/net 2>/dev/null; cut -d: -f1 /proc/net/dev | tail -n +3"
        )
        .await,
        "lo"
    );
    let by_name = |request: &NetworkRequest| matches!(request, NetworkRequest::Connect { host: NetworkHost::Name(name), .. } if name == "web.test");
    assert!(outside.asked().iter().all(by_name));

    world.end().await;
    assert!(tasks.end(std::time::Duration::from_secs(60)).await);
}

fn connected_world(entrance: NetworkEntrance) -> World {
    World::with(|config| {
        config.runner = example("runner");
        config.network = Some(entrance);
    })
}

fn routes(servers: &Servers) -> HashMap<(NetworkHost, u16), Route> {
    let name = |name: &str| NetworkHost::Name(name.to_owned());
    let closed: SocketAddr = "127.0.0.1:1".parse().unwrap();
    HashMap::from([
        ((name("web.test"), 80), Route::To(servers.web)),
        ((name("web.test"), 81), Route::To(closed)),
        ((name("web.test"), 82), Route::Refused),
        (
            (name("web.test"), 83),
            Route::Failed(NetworkFailure::Unreachable),
        ),
        (
            (name("web.test"), 84),
            Route::Failed(NetworkFailure::TimedOut),
        ),
        ((name("other.test"), 80), Route::To(servers.web)),
        ((name("echo.test"), 7), Route::To(servers.echo)),
        ((name("sink.test"), 9), Route::To(servers.sink)),
        ((name("count.test"), 10), Route::To(servers.count)),
        ((name("reset.test"), 11), Route::To(servers.reset)),
        (
            (NetworkHost::Address([192, 0, 2, 7].into()), 7),
            Route::To(servers.echo),
        ),
    ])
}

async fn curl_and_git_work(sandbox: &dyn Sandbox, servers: &Servers) {
    assert_eq!(
        said(sandbox, "curl -sS http://web.test/hello").await,
        "hello"
    );
    // The dot at the end and capitals are the same name.
    assert_eq!(
        said(sandbox, "curl -sS http://WEB.test./hello").await,
        "hello"
    );
    let sum = said(sandbox, "curl -sS http://web.test/large | sha256sum").await;
    assert_eq!(sum, format!("{}  -", servers.sum_of_large));
    let cloned = "git clone -q http://web.test/repository.git /tmp/cloned && cat /tmp/cloned/file";
    assert_eq!(said(sandbox, cloned).await, "in the repository");
    for (address, error) in [
        ("http://web.test:81/", "7 Connection refused"),
        ("http://web.test:82/", "7 Connection refused"),
        ("http://web.test:83/", "7 No route to host"),
        ("http://web.test:84/", "7 No route to host"),
        ("http://missing.test/", "6 Could not resolve host"),
        ("http://forbidden.test/", "6 Could not resolve host"),
    ] {
        let command = format!("curl -sS {address} 2>&1; echo code $?");
        let shown = said(sandbox, &command).await;
        let (code, text) = error.split_once(' ').unwrap();
        assert!(
            shown.ends_with(&format!("code {code}")),
            "{address}: {shown}"
        );
        let text = text.to_owned();
        // Versions of curl differ in what they add.
        assert!(
            shown.contains(&text) || shown.contains("connect to server"),
            "{address}: {shown}"
        );
    }
}

/// Opens a page with a script from another host.
async fn a_browser_works(sandbox: &dyn Sandbox) {
    const BROWSER: &str = "/usr/lib/chromium/chromium";
    if !std::path::Path::new(BROWSER).exists() {
        not_run("Chromium is not installed");
        return;
    }
    let command = format!(
        "{BROWSER} --headless=new --disable-gpu --user-data-dir=/tmp/profile --dump-dom http://web.test/page.html \
         2>/dev/null"
    );
    let shown = said(sandbox, &command).await;
    assert!(shown.contains("and from elsewhere"), "{shown}");
}

async fn programs_in_python_work(sandbox: &dyn Sandbox) {
    let command = format!(
        "cat > /tmp/programs.py <<'END'\n{PROGRAMS}\nEND\n/usr/bin/python3 -I /tmp/programs.py 2>&1"
    );
    let output = run(sandbox, &command).await.unwrap().output;
    println!("{output}");
    assert!(output.trim().ends_with("all is well"), "{output}");
}

fn names_reach_the_server(outside: &Outside) {
    let asked = outside.asked();
    let host = |host| NetworkRequest::Connect { host, port: 7 };
    let name = |name: &str| NetworkHost::Name(name.to_owned());
    assert!(asked.contains(&host(name("echo.test"))));
    // A program that knows a number is taken at its word.
    let number = NetworkHost::Address([192, 0, 2, 7].into());
    assert!(asked.contains(&host(number)));
}

async fn nothing_else_gets_out(sandbox: &dyn Sandbox) {
    assert_eq!(
        said(sandbox, "test ! -e /dev/net && echo absent").await,
        "absent"
    );
    let capabilities = said(sandbox, "grep ^Cap /proc/self/status | cut -f 2 | sort -u").await;
    assert_eq!(capabilities, "0000000000000000");
    for (socket, error) in [
        ("AF_INET, SOCK_DGRAM, IPPROTO_ICMP", "PermissionError"),
        ("AF_INET, SOCK_RAW, IPPROTO_ICMP", "PermissionError"),
        ("AF_INET6, SOCK_RAW, IPPROTO_ICMPV6", "PermissionError"),
        ("AF_PACKET, SOCK_RAW", "OSError: [Errno 97]"),
    ] {
        let command = format!(
            "/usr/bin/python3 -I -c 'from socket import *; socket({socket})' 2>&1 | tail -n 1"
        );
        let shown = said(sandbox, &command).await;
        assert!(shown.starts_with(error), "{socket}: {shown}");
    }
}
