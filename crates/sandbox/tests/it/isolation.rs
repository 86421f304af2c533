//! Tests that nothing but the sandbox's own can be seen or reached from inside.

use std::{
    collections::HashSet,
    env, fs,
    net::TcpListener,
    os::{
        fd::AsRawFd,
        linux::net::SocketAddrExt,
        unix::{
            fs::{MetadataExt, PermissionsExt, chown},
            net::{SocketAddr, UnixListener},
        },
    },
};

use deskhand_core::{id::SessionId, sandbox::Sandbox};
use deskhand_testkit::not_run;
use futures::future::join_all;
use rustix::process::geteuid;

use crate::support::{EXAMPLES, World, again_as_nobody, example, run, said};

#[tokio::test]
async fn nothing_of_the_host_can_be_seen_or_reached() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let sandbox = &*sandbox;
    files_are_not_there(sandbox).await;
    processes_are_not_there(sandbox).await;
    network_is_not_there(sandbox).await;
    nothing_can_be_changed(sandbox).await;
    world.end().await;
}

async fn files_are_not_there(sandbox: &dyn Sandbox) {
    let marker = tempfile::Builder::new()
        .prefix("host-file-")
        .tempfile()
        .unwrap();
    let name = marker.path().file_name().unwrap().to_str().unwrap();
    let find = |name: &str| {
        format!(
            "find / -path /usr -prune -o -path /proc -prune -o -name '{name}' -print 2>/dev/null"
        )
    };
    assert_eq!(said(sandbox, &format!("{}; true", find(name))).await, "");
    assert_eq!(said(sandbox, "ls -A /home").await, "agent");
    assert_eq!(
        said(sandbox, "ls /")
            .await
            .split_whitespace()
            .filter(|name| !name.starts_with("lib"))
            .collect::<Vec<_>>(),
        [
            "bin", "dev", "etc", "home", "proc", "run", "sbin", "tmp", "usr", "var"
        ]
        .into_iter()
        .chain(fs::exists("/opt/google").unwrap().then_some("opt"))
        .collect::<Vec<_>>()
    );
    for path in [
        "/root",
        "/etc/shadow",
        "/etc/ssh",
        "/etc/ssl/private",
        "/sys",
        "/var/lib",
    ] {
        assert_eq!(
            said(sandbox, &format!("test ! -e {path} && echo absent")).await,
            "absent",
            "{path}"
        );
    }
    assert_eq!(
        said(
            sandbox,
            "hostname 2>/dev/null || cat /proc/sys/kernel/hostname"
        )
        .await,
        "desk"
    );
    assert_eq!(
        said(sandbox, "id -un; id -u; id -g").await,
        "agent\n1000\n1000"
    );
}

async fn processes_are_not_there(sandbox: &dyn Sandbox) {
    // Bubblewrap's first process, the runner, and the shell that runs the command.
    let n_seen: usize = said(sandbox, "ls -d /proc/[0-9]* | wc -l")
        .await
        .parse()
        .unwrap();
    assert!(n_seen <= 5, "{n_seen} processes");
    // The server started the first process, which must not have the server's environment.
    assert_eq!(
        said(sandbox, "tr '\\0' '\\n' < /proc/1/environ | wc -c").await,
        "0"
    );
    let environment = said(sandbox, "env | cut -d= -f1 | sort | tr '\\n' ' '").await;
    assert_eq!(
        environment,
        "DBUS_SESSION_BUS_ADDRESS HOME LANG LOGNAME MOZ_ASSUME_USER_NS PATH PWD SHELL SHLVL USER XDG_RUNTIME_DIR _"
    );
    let capabilities = said(
        sandbox,
        "grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status",
    )
    .await;
    assert!(
        capabilities
            .lines()
            .all(|line| line.ends_with("0000000000000000")),
        "{capabilities}"
    );
    assert_eq!(
        said(sandbox, "grep NoNewPrivs /proc/self/status").await,
        "NoNewPrivs:\t1"
    );
}

async fn network_is_not_there(sandbox: &dyn Sandbox) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for address in ["127.0.0.1", "192.0.2.1", "169.254.169.254", "::1"] {
        let command =
            format!("timeout 5 bash -c '</dev/tcp/{address}/{port}' 2>&1 && echo reached");
        let output = run(sandbox, &command).await.unwrap().output;
        assert!(
            !output.contains("reached") && !output.is_empty(),
            "{address}: {output}"
        );
    }
    assert_eq!(said(sandbox, "tail -n +2 /proc/net/route").await, "");
    assert_eq!(
        said(sandbox, "tail -n +3 /proc/net/dev | cut -d: -f1").await,
        "lo"
    );

    let name = format!("deskhand-test-{}", SessionId::new());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let answer = said(sandbox, &format!(":abstract {name}")).await;
    assert!(answer.contains("refused"), "{answer}");
    assert_eq!(
        said(sandbox, "ls /tmp/.X11-unix 2>/dev/null; true").await,
        ""
    );
}

async fn nothing_can_be_changed(sandbox: &dyn Sandbox) {
    for path in [
        "/x",
        "/etc/x",
        "/usr/x",
        "/run/x",
        "/run/deskhand/x",
        "/run/deskhand/runner.sock",
        "/run/deskhand/bin/deskhand",
        "/var/x",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/vm/overcommit_memory",
    ] {
        let command = format!("(: >> {path}) 2>/dev/null && echo could; true");
        assert_eq!(said(sandbox, &command).await, "", "{path}");
    }
    for folder in [
        "/home/agent",
        "/tmp",
        "/dev/shm",
        "/var/tmp",
        "/run/user/1000",
    ] {
        let command = format!("echo hi > {folder}/x && cat {folder}/x");
        assert_eq!(said(sandbox, &command).await, "hi", "{folder}");
    }
}

#[tokio::test]
async fn descriptors_of_the_server_stay_out() {
    // A descriptor that any child would inherit.
    let (leaky, _other) = rustix::pipe::pipe().unwrap();
    let link = format!("/proc/self/fd/{}", leaky.as_raw_fd());
    let inode = fs::read_link(link).unwrap();
    let inode = inode.to_str().unwrap();

    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    let open = said(&*sandbox, "ls -l /proc/[0-9]*/fd 2>/dev/null; true").await;
    assert!(!open.contains(inode), "{open}");
    world.end().await;
}

#[tokio::test]
async fn a_programmers_tools_work_under_the_filter() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    for (program, command) in [
        (
            "git",
            "git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x \
             && git clone -q . ../s && git -C ../s log --format=%s",
        ),
        (
            "node",
            "node -e 'require(\"child_process\").execFile(\"echo\", [\"x\"], (_, out) => console.log(out.trim()))'",
        ),
        (
            "python3",
            "python3 -c 'import asyncio, subprocess, threading; asyncio.run(asyncio.sleep(0)); \
             print(subprocess.check_output([\"echo\", \"x\"], text=True).strip())'",
        ),
        (
            "gcc",
            "echo 'int puts(const char *); int main() { puts(\"x\"); }' > a.c && gcc a.c && ./a.out",
        ),
        (
            "gdb",
            "gdb -q -batch -ex run --args /bin/echo x 2>/dev/null | grep -x x",
        ),
        ("strace", "strace -f -o trace echo x && test -s trace"),
    ] {
        let command =
            format!("cd /tmp; command -v {program} > /dev/null || {{ echo x; exit; }}; {command}");
        assert_eq!(said(&*sandbox, &command).await, "x", "{program}");
    }
    world.end().await;
}

#[tokio::test]
async fn three_sessions_at_once_do_not_see_each_other() {
    let world = World::new();
    let sessions = [SessionId::new(), SessionId::new(), SessionId::new()];
    let sandboxes = join_all(sessions.map(|session| world.start(session))).await;
    for (n, sandbox) in sandboxes.iter().enumerate() {
        said(
            &**sandbox,
            &format!("echo {n} > ~/secret-{n}; echo {n} > /tmp/secret-{n}"),
        )
        .await;
    }
    for (n, sandbox) in sandboxes.iter().enumerate() {
        let found = said(&**sandbox, "cd /; ls -d home/agent/secret-* tmp/secret-*").await;
        assert_eq!(found, format!("home/agent/secret-{n}\ntmp/secret-{n}"));
        let n_seen = said(&**sandbox, "ls -d /proc/[0-9]* | wc -l").await;
        assert!(n_seen.parse::<usize>().unwrap() <= 5, "{n_seen}");
    }
    let owner = |session: SessionId| {
        let home = fs::metadata(world.folder(session).join("home"));
        home.unwrap().uid()
    };
    let owners = sessions.map(owner);
    if geteuid().is_root() {
        // Whoever breaks out of one cannot read another's.
        let different: HashSet<u32> = owners.into_iter().collect();
        assert_eq!(different.len(), 3, "{owners:?}");
        assert!(!different.contains(&0));
    } else {
        assert_eq!(owners, [geteuid().as_raw(); 3]);
    }
    world.end().await;
}

/// Runs the tests above as an ordinary user, if the suite runs as root.
#[test]
fn it_is_the_same_for_an_ordinary_user() {
    if !geteuid().is_root() {
        not_run(
            "the tests above were already an ordinary user's, because the tests do not run as root",
        );
        return;
    }
    let dir = tempfile::Builder::new()
        .prefix("deskhand-nobody-")
        .tempdir()
        .unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    chown(dir.path(), Some(65534), Some(65534)).unwrap();
    let program = dir.path().join("it");
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    for name in ["stand_in", "runner"] {
        fs::copy(example(name), dir.path().join(name)).unwrap();
    }
    for test in [
        "desktop::a_desktop_comes_up_paints_the_start_page_and_survives_its_own_death",
        "escape::nothing_gets_out_of_a_sandbox_or_disturbs_its_neighbour",
        "images::a_server_that_must_have_images_starts_no_sandbox_without_them",
        "isolation::nothing_of_the_host_can_be_seen_or_reached",
        "isolation::three_sessions_at_once_do_not_see_each_other",
        "life::a_stop_leaves_nothing_but_the_home",
        "limits::a_sandbox_that_must_have_limits_starts_only_with_them",
        "limits::limits_hold_where_doctor_says_so",
        "takeover::no_way_of_spying_that_x11_has_tells_of_a_takeover",
        "takeover::while_a_person_has_control_the_agents_programs_stand_still",
    ] {
        let output = again_as_nobody(&program, test)
            .env(EXAMPLES, dir.path())
            .env("TMPDIR", dir.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let problem = String::from_utf8_lossy(&output.stderr);
        println!("{text}");
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{test}: {text}{problem}"
        );
    }
}
