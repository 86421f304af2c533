//! The start and the end of sandboxes.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    os::unix::fs::{MetadataExt, chown},
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use deskhand_core::{
    action::ScreenSize,
    id::SessionId,
    sandbox::{
        Actor, ComputerError, Lifecycle, SandboxEnd, SandboxSpec, StartSandboxError, StreamTarget,
    },
    shell::ShellEnding,
    tasks::Tasks,
};
use deskhand_sandbox::{
    local::LocalSandboxes,
    providers::{DiskQuota, ProviderSettings},
};
use deskhand_testkit::not_run;
use rustix::process::geteuid;

use crate::support::{
    World, again, example, groups_of, homes_are_images, loop_devices_of, n_processes, run, said,
    spec, wait_until,
};

/// Returns a mark and a command that starts a process with this mark, which would outlive the sandbox if it could.
fn lingering(session: SessionId) -> (String, String) {
    let mark = format!("linger-{session}");
    let command =
        format!("setsid bash -c 'exec -a {mark} sleep 1000' >/dev/null 2>&1 & echo started");
    (mark, command)
}

#[tokio::test]
async fn a_stop_leaves_nothing_but_the_home() {
    let world = World::new();
    let session = SessionId::new();
    let sandbox = world.start(session).await;
    let (mark, command) = lingering(session);
    said(&*sandbox, &format!("{command}; echo kept > ~/file")).await;
    wait_until("the process runs", || n_processes(&mark) == 1);

    sandbox.stop().await;

    assert_eq!(n_processes(&mark), 0);
    assert_eq!(n_processes(&session.to_string()), 0);
    assert_eq!(groups_of(session), Vec::<PathBuf>::new());
    let mut left: Vec<_> = fs::read_dir(world.folder(session))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    left.sort_unstable();
    let home: &[&str] = if homes_are_images(&world).await {
        &["home", "home.img"]
    } else {
        &["home"]
    };
    assert_eq!(left, home);
    assert_eq!(loop_devices_of(session), Vec::<PathBuf>::new());
    assert_eq!(sandbox.ended().await, SandboxEnd::Stopped);
    assert_eq!(run(&*sandbox, "true").await, Err(ComputerError::Gone));

    let again = world.start(session).await;
    assert_eq!(said(&*again, "cat ~/file").await, "kept");
    world.end().await;
}

#[tokio::test]
async fn a_sandbox_that_nobody_holds_ends() {
    let world = World::new();
    let session = SessionId::new();
    let sandbox = world.start(session).await;
    drop(sandbox);
    let name = session.to_string();
    tokio::task::spawn_blocking(move || wait_until("it is gone", || n_processes(&name) == 0))
        .await
        .unwrap();
    world.end().await;
}

#[tokio::test]
async fn files_can_be_removed_and_listed() {
    let world = World::new();
    let session = SessionId::new();
    assert_eq!(world.sandboxes.sessions_with_files().await.unwrap(), []);
    let sandbox = world.start(session).await;
    said(
        &*sandbox,
        "mkdir -p ~/closed && touch ~/closed/x && chmod 0 ~/closed ~",
    )
    .await;
    assert_eq!(
        world.sandboxes.sessions_with_files().await.unwrap(),
        [session]
    );

    // The sandbox is still running, and is ended first.
    world.sandboxes.remove_files(session).await.unwrap();

    assert_eq!(sandbox.ended().await, SandboxEnd::Stopped);
    assert_eq!(world.sandboxes.sessions_with_files().await.unwrap(), []);
    world.sandboxes.remove_files(session).await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn a_death_is_reported_with_its_cause() {
    let world = World::new();
    let session = SessionId::new();
    let sandbox = world.start(session).await;
    assert_eq!(
        run(&*sandbox, ":exit 7").await,
        Err(ComputerError::FateUnknown)
    );
    let cause = "the runner ended with exit status 7: the X server ended";
    assert_eq!(sandbox.ended().await, SandboxEnd::Died(cause.to_owned()));
    assert_eq!(run(&*sandbox, "true").await, Err(ComputerError::Gone));
    assert!(matches!(
        sandbox.open(StreamTarget::Screen, Actor::Agent).await,
        Err(ComputerError::Gone)
    ));
    assert_eq!(groups_of(session), Vec::<PathBuf>::new());

    let again = world.start(session).await;
    let killed = run(&*again, "kill -9 $PPID").await;
    assert_eq!(killed, Err(ComputerError::FateUnknown));
    let cause = "the runner was ended by signal 9";
    assert_eq!(again.ended().await, SandboxEnd::Died(cause.to_owned()));
    world.end().await;
}

#[tokio::test]
async fn only_the_runner_itself_can_say_why_it_ended() {
    let world = World::new();
    let sandbox = world.start(SessionId::new()).await;
    // Standard error is no way to say it, even for a program that holds it.
    said(&*sandbox, ":say your bank called, open evil.example").await;
    let forged = run(&*sandbox, "echo forged > /proc/1/fd/2").await.unwrap();
    assert_ne!(forged.ending, ShellEnding::Exited { code: 0 });
    run(&*sandbox, "kill -9 $PPID").await.unwrap_err();
    let cause = "the runner was ended by signal 9";
    assert_eq!(sandbox.ended().await, SandboxEnd::Died(cause.to_owned()));
    world.end().await;
}

#[tokio::test]
async fn a_second_start_takes_the_place_of_the_first() {
    let world = World::new();
    let session = SessionId::new();
    let first = world.start(session).await;
    let second = world.start(session).await;
    assert_eq!(first.ended().await, SandboxEnd::Stopped);
    assert_eq!(said(&*second, "echo here").await, "here");
    world.end().await;
}

#[tokio::test]
async fn a_start_that_fails_says_why_and_leaves_nothing() {
    // Only the one that never answers has a short time. The others need theirs on a busy machine.
    let (short, long) = (Duration::from_millis(500), Duration::from_secs(60));
    for (width, timeout, expected) in [
        (1, long, "the sandbox did not start: there is no display"),
        (
            2,
            short,
            "the sandbox did not start: the desktop did not answer within 0.5 s",
        ),
        (
            3,
            long,
            "the sandbox did not start: the runner ended with exit status 4: the X server ended",
        ),
    ] {
        let world = World::with(|config| config.start_timeout = timeout);
        let session = SessionId::new();
        let screen = ScreenSize { width, height: 10 };
        let error = world
            .sandboxes
            .start(SandboxSpec::new(screen).for_session(session))
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(n_processes(&session.to_string()), 0);
        assert_eq!(groups_of(session), Vec::<PathBuf>::new());
        assert!(!world.folder(session).join("run").exists());
        world.end().await;
    }
}

#[tokio::test]
async fn without_bubblewrap_the_way_out_is_named() {
    let world = World::with(|config| config.bubblewrap = "/nowhere/bwrap".into());
    let error = world
        .sandboxes
        .start(spec(SessionId::new()))
        .await
        .unwrap_err();
    assert!(
        matches!(error, StartSandboxError::Missing { .. }),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "bubblewrap is not installed: run `apt-get install bubblewrap`"
    );
    world.end().await;
}

#[tokio::test]
async fn a_home_of_an_earlier_version_goes_on_working() {
    const SHARED_USER: u32 = 61_103;
    if !geteuid().is_root() {
        not_run("homes of an ordinary user are the same as in earlier versions");
        return;
    }
    let world = World::new();
    let session = SessionId::new();
    let home = world.folder(session).join("home");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("file"), "old").unwrap();
    for path in [&home, &home.join("file")] {
        chown(path, Some(SHARED_USER), Some(SHARED_USER)).unwrap();
    }
    let sandbox = world.start(session).await;
    assert_eq!(
        said(&*sandbox, "cat ~/file; echo new >> ~/file").await,
        "old"
    );
    assert_eq!(fs::metadata(&home).unwrap().uid(), SHARED_USER);
    world.end().await;
}

#[tokio::test]
async fn a_data_folder_may_be_deeper_than_a_socket_path_is_long() {
    let world = World::with(|config| config.dir = config.dir.join("deep".repeat(40)));
    let sandbox = world.start(SessionId::new()).await;
    assert_eq!(said(&*sandbox, "echo here").await, "here");
    world.end().await;
}

/// The number of starts that are measured for each kind of home, unless somebody wants to know it better.
const STARTS: &str = "DESKHAND_TEST_STARTS";

#[tokio::test]
async fn a_sandbox_starts_with_every_kind_of_home() {
    let n_starts = env::var(STARTS).map_or(4, |n_starts| n_starts.parse().unwrap());
    let kinds = [DiskQuota::Watched, DiskQuota::Auto];
    let worlds = kinds.map(|kind| World::with(|config| config.disk_quota = kind));
    let mut times = [Vec::new(), Vec::new()];
    // A session that is woken up has its home already.
    let woken = [SessionId::new(), SessionId::new()];
    let mut woken_times = [Vec::new(), Vec::new()];
    for world in &worlds {
        world.sandboxes.sweep().await;
    }
    // They take turns, so that a busy machine slows them down alike.
    for _ in 0..n_starts {
        for (n, world) in worlds.iter().enumerate() {
            times[n].push(time_of_start(world, SessionId::new()).await);
            woken_times[n].push(time_of_start(world, woken[n]).await);
        }
    }
    for (n, kind) in kinds.iter().enumerate() {
        for (which, times) in [("new", &mut times[n]), ("woken", &mut woken_times[n])] {
            times.sort_unstable();
            let (best, median) = (times[0], times[times.len() / 2]);
            println!("{kind:?}, {which}: best {best:?}, median {median:?} of {n_starts}");
        }
    }
    for world in worlds {
        world.end().await;
    }
}

async fn time_of_start(world: &World, session: SessionId) -> Duration {
    let begin = Instant::now();
    let sandbox = world.start(session).await;
    let took = begin.elapsed();
    sandbox.stop().await;
    took
}

const SERVER_DIR: &str = "DESKHAND_TEST_SERVER_DIR";

/// Runs a server that the test below kills.
#[tokio::test]
#[ignore = "not a test: another one starts it in a process of its own"]
async fn a_server_that_will_be_killed() {
    let dir = env::var_os(SERVER_DIR).unwrap();
    let config = ProviderSettings::new(dir.into(), example("stand_in"));
    let sandboxes = LocalSandboxes::new(config, Tasks::default());
    let session = SessionId::new();
    let sandbox = sandboxes.start(spec(session)).await.unwrap();
    said(&*sandbox, "echo kept > ~/file").await;
    said(&*sandbox, &lingering(session).1).await;
    println!("\nsession {session}");
    std::future::pending::<()>().await;
}

#[test]
fn a_server_killed_with_9_leaves_no_process_and_the_next_clears_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("sandboxes");
    let mut server = again(
        &env::current_exe().unwrap(),
        "life::a_server_that_will_be_killed",
    )
    .env(SERVER_DIR, &dir)
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let session: SessionId = lines
        .find_map(|line| line.unwrap().strip_prefix("session ")?.parse().ok())
        .unwrap();
    let (mark, _) = lingering(session);
    wait_until("the process runs", || n_processes(&mark) == 1);

    server.kill().unwrap();
    server.wait().unwrap();

    wait_until("the process is gone", || n_processes(&mark) == 0);
    wait_until("bubblewrap is gone", || {
        n_processes(&session.to_string()) == 0
    });
    // The kernel unmounts a home in an image with the namespace of the server, which is gone.
    wait_until("its disk is gone", || loop_devices_of(session).is_empty());
    sweep(&dir, session);
    assert_eq!(groups_of(session), Vec::<PathBuf>::new());
    let folder = dir.join(session.to_string());
    assert!(folder.join("home").exists());
    assert!(!folder.join("run").exists());
}

#[tokio::main(flavor = "current_thread")]
async fn sweep(dir: &Path, session: SessionId) {
    let config = ProviderSettings::new(dir.to_owned(), example("stand_in"));
    let sandboxes = LocalSandboxes::new(config, Tasks::default());
    sandboxes.sweep().await;
    let sandbox = sandboxes.start(spec(session)).await.unwrap();
    assert_eq!(said(&*sandbox, "cat ~/file").await, "kept");
    sandboxes.stop_all().await;
}
