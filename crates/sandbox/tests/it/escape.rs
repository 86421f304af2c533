//! Attempts to get out of a sandbox, made as the agent inside it, beside a neighbour that goes on undisturbed.

use std::{
    fs,
    net::TcpListener,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use deskhand_core::{
    id::SessionId,
    network::NetworkEntrance,
    sandbox::{CheckState, Lifecycle, Sandbox, SandboxEnd, SandboxLimits, SandboxSpec},
};
use deskhand_sandbox::providers::DiskQuota;
use deskhand_testkit::not_run;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{World, example, homes_are_images, run, said, spec};

const MIB: u64 = 1024 * 1024;
const ATTEMPTS: &str = include_str!("escape/attempts.py");
/// The fewest attempts that must be made on every machine.
const LEAST_ATTEMPTS: usize = 50;

const LIMITS: SandboxLimits = SandboxLimits {
    memory_bytes: 1024 * MIB,
    cpus: 2.0,
    processes: 400,
    file_size_bytes: 64 * MIB,
    disk_bytes: 100 * MIB,
    disk_files: 4_000,
};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_gets_out_of_a_sandbox_or_disturbs_its_neighbour() {
    if !Path::new("/usr/bin/python3").exists() {
        not_run("the attempts are written in Python, and /usr/bin/python3 is not installed");
        return;
    }
    // The attacker has the real runner, whose memory and descriptors are worth something, and a network on which the
    // server refuses everything.
    let (entrance, mut taken) = NetworkEntrance::new();
    let attackers = World::with(|config| {
        config.runner = example("runner");
        config.limits = LIMITS;
        config.network = Some(entrance);
    });
    let refusing = async move { while taken.recv().await.is_some() {} };
    let shutdown = attackers.tasks.shutdown().clone();
    attackers.tasks.spawn("refusing", async move {
        shutdown.run_until_cancelled(refusing).await;
    });
    let neighbours = World::new();
    let neighbour_session = SessionId::new();
    let neighbour = neighbours.start(neighbour_session).await;
    said(&*neighbour, "echo private > ~/secret").await;
    let end = CancellationToken::new();
    let watching = attackers
        .tasks
        .spawn("neighbour", answers(Arc::clone(&neighbour), end.clone()));

    let session = SessionId::new();
    let host = Host::open();
    let are_images = homes_are_images(&attackers).await;
    let home = neighbours.folder(neighbour_session).join("home");
    let facts = json!({
        "session": session.to_string(),
        "marker": host.marker.path(),
        "data": attackers.config.dir,
        "runner": attackers.config.runner.parent(),
        "neighbour": home,
        "neighbour_mark": neighbour_session.to_string(),
        "server": std::process::id(),
        "port": host.listener.local_addr().unwrap().port(),
        "abstract": host.name,
        "socket": host.socket,
        "paths_are_hidden": are_images,
        "memory": LIMITS.memory_bytes,
        "memory_is_limited": is_memory_limited(&attackers).await,
        "processes": LIMITS.processes,
    });
    let sandbox = attackers.start_connected(session).await;
    attempts_are_held(&*sandbox, &facts.to_string()).await;
    if are_images {
        bombs_fill_their_own_disk_only(&*sandbox).await;
    } else {
        // Each of these bombs ends the sandbox, and nothing else.
        disk_bomb_is_stopped(&*sandbox).await;
        let sandbox = attackers.start(session).await;
        file_bomb_is_stopped(&*sandbox).await;
    }
    // What is too deep to be counted is taken to be as large as what the disk has lost, to whomever.
    let roomy = SandboxSpec {
        limits: Some(SandboxLimits::default()),
        ..spec(session)
    };
    let sandbox = attackers.sandboxes.start(roomy).await.unwrap();
    hostile_home_is_removed(&attackers, session, &*sandbox, host.marker.path()).await;
    if are_images {
        // An image is removed as one file. Homes of earlier versions are folders, also for root.
        let earlier = World::with(|config| config.disk_quota = DiskQuota::Watched);
        let sandbox = earlier.start(session).await;
        hostile_home_is_removed(&earlier, session, &*sandbox, host.marker.path()).await;
        earlier.end().await;
    }

    end.cancel();
    let (n_answers, longest) = watching.await.unwrap();
    println!("the neighbour answered {n_answers} times, the slowest took {longest:?}");
    assert!(n_answers > 5, "{n_answers}");
    assert_eq!(said(&*neighbour, "cat ~/secret").await, "private");
    neighbours.end().await;
    attackers.end().await;
}

/// Things of the host that the attacker looks for.
struct Host {
    marker: tempfile::NamedTempFile,
    listener: TcpListener,
    name: String,
    socket: std::path::PathBuf,
    _abstract: UnixListener,
    _socket: UnixListener,
    _dir: tempfile::TempDir,
}

impl Host {
    fn open() -> Self {
        let marker = tempfile::NamedTempFile::new().unwrap();
        fs::write(marker.path(), "of the host").unwrap();
        let name = format!("deskhand-test-{}", SessionId::new());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        Self {
            marker,
            listener: TcpListener::bind("127.0.0.1:0").unwrap(),
            name,
            _abstract: UnixListener::bind_addr(&address).unwrap(),
            _socket: UnixListener::bind(&socket).unwrap(),
            socket,
            _dir: dir,
        }
    }
}

async fn is_memory_limited(world: &World) -> bool {
    let checks = world.sandboxes.doctor().await;
    let mut checks = checks.iter();
    let check = checks.find(|check| check.name == "memory limit").unwrap();
    check.state == CheckState::Ok
}

async fn attempts_are_held(sandbox: &dyn Sandbox, facts: &str) {
    let command = format!(
        "cat > /tmp/attempts.py <<'END'\n{ATTEMPTS}\nEND\ncat > /tmp/facts.json <<'END'\n{facts}\nEND\n\
         /usr/bin/python3 -I /tmp/attempts.py 2>&1"
    );
    let report = said(sandbox, &command).await;
    println!("{report}");
    let n_with = |word: &str| report.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!(n_with("THROUGH"), 0, "{report}");
    assert_eq!(n_with("held") + n_with("untried"), report.lines().count());
    assert!(n_with("held") >= LEAST_ATTEMPTS, "{report}");
    for line in report.lines().filter(|line| line.starts_with("untried")) {
        not_run(line);
    }
}

const DISK_BOMB: &str = "for i in $(seq 50); do head -c 20M /dev/zero > ~/bomb-$i || break; done";
const FILE_BOMB: &str =
    "cd; mkdir many; cd many; for i in $(seq 100); do touch $(seq -f $i-%.0f 400); done";

/// The file system of a home in an image refuses more, and the sandbox goes on.
async fn bombs_fill_their_own_disk_only(sandbox: &dyn Sandbox) {
    let no_space = "No space left on device";
    for (bomb, count) in [
        (DISK_BOMB, "du -sm ~ | cut -f1"),
        (FILE_BOMB, "find ~ | wc -l"),
    ] {
        let told = run(sandbox, &format!("({bomb}) 2>&1 | tail -1")).await;
        let told = told.unwrap().output;
        assert!(told.contains(no_space), "{told}");
        let taken = said(sandbox, &format!("{count}; rm -rf ~/bomb-* ~/many")).await;
        println!("held | {no_space} at {taken}");
    }
    assert_eq!(said(sandbox, "echo x > ~/x && cat ~/x").await, "x");
}

async fn disk_bomb_is_stopped(sandbox: &dyn Sandbox) {
    let bomb = format!("{DISK_BOMB}; sleep 30");
    run(sandbox, &bomb).await.unwrap_err();
    ended_because(sandbox, "MiB of the disk and may take 100 MiB").await;
}

async fn file_bomb_is_stopped(sandbox: &dyn Sandbox) {
    let bomb = format!("{FILE_BOMB}; sleep 30");
    run(sandbox, &bomb).await.unwrap_err();
    ended_because(sandbox, "files and folders and may have 4000").await;
}

async fn ended_because(sandbox: &dyn Sandbox, reason: &str) {
    match sandbox.ended().await {
        SandboxEnd::Died(cause) => {
            println!("held | {cause}");
            assert!(cause.contains(reason), "{cause}");
        }
        SandboxEnd::Stopped => panic!("it was stopped without a reason"),
    }
}

/// Fills the home with a deep tree and links to the outside, and removes it.
async fn hostile_home_is_removed(
    world: &World,
    session: SessionId,
    sandbox: &dyn Sandbox,
    marker: &Path,
) {
    let deep = "cd; rm -rf bomb-* many; python3 -I -c '
import os
for _ in range(1500): os.mkdir(\"deep\"); os.chdir(\"deep\")'; chmod 0 ~/deep; echo made";
    assert_eq!(said(sandbox, deep).await, "made");
    let outside = marker.parent().unwrap();
    let made = format!(
        "ln -s {} ~/outside; mkfifo ~/pipe; echo made",
        outside.display()
    );
    assert_eq!(said(sandbox, &made).await, "made");
    world.sandboxes.remove_files(session).await.unwrap();
    assert!(!world.folder(session).exists());
    assert_eq!(fs::read_to_string(marker).unwrap(), "of the host");
    println!("held | a home with a deep tree, links and pipes is removed, and nothing else");
}

/// Uses a sandbox again and again, and returns how often and how slowly it answered.
async fn answers(sandbox: Arc<dyn Sandbox>, end: CancellationToken) -> (u32, Duration) {
    let (mut n_answers, mut longest) = (0, Duration::ZERO);
    while !end.is_cancelled() {
        let begin = Instant::now();
        said(&*sandbox, "echo x > ~/file && cat ~/file && bash -c true").await;
        longest = longest.max(begin.elapsed());
        n_answers += 1;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    (n_answers, longest)
}
