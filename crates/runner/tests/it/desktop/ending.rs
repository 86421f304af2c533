//! Tests what happens when programs of the desktop end.

use std::time::Duration;

use deskhand_core::action::Action;
use deskhand_runner::desktop::ActError;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::world::{World, pids, until};

const DEADLINE: Duration = Duration::from_secs(60);

/// Returns all processes of the group that a process leads.
fn group_of(pid: Pid) -> Vec<Pid> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| {
            let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
            // After the name, which may contain anything, come the state, the parent and the group.
            let mut after_name = stat.rsplit_once(") ")?.1.split(' ');
            let group = after_name.nth(2)?.parse().ok()?;
            let id = process.file_name().to_str()?.parse().ok()?;
            (Pid::from_raw(group)? == pid)
                .then(|| Pid::from_raw(id))
                .flatten()
        })
        .collect()
}

async fn gone(pids: &[Pid]) {
    until("all programs are gone", || {
        pids.iter().all(|pid| test_kill_process(*pid).is_err())
    })
    .await;
}

fn x_server(world: &World) -> Pid {
    let socket = world.desktop.vnc_socket().to_str().unwrap();
    let found = pids("Xvnc", socket);
    assert_eq!(found.len(), 1);
    found[0]
}

#[tokio::test]
async fn without_its_x_server_the_desktop_has_ended() {
    let world = World::empty().await;
    kill_process(x_server(&world), Signal::KILL).unwrap();
    let end = tokio::time::timeout(DEADLINE, world.desktop.ended()).await;
    assert_eq!(end.unwrap(), "The X server ended (signal: 9 (SIGKILL)).");
    for action in [Action::Screenshot, Action::CursorPosition] {
        let error = world.act(action).await.unwrap_err();
        assert!(matches!(error, ActError::Ended), "{error:?}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_browser_that_is_closed_is_told_and_the_desktop_goes_on() {
    let mut world = World::with_page("<p>hello</p>").await;
    world.key("alt+F4").await;
    let notice = tokio::time::timeout(DEADLINE, world.notices.recv()).await;
    assert_eq!(notice.unwrap().unwrap(), "The browser was closed.");
    world.act_and_look(Action::Screenshot).await;
    world.end().await;
}

#[tokio::test]
async fn a_window_manager_that_dies_is_started_again() {
    let mut world = World::with_page("<p>hello</p>").await;
    let mark = &world.folder().to_str().unwrap().to_owned();
    let openbox = pids("openbox", mark);
    assert_eq!(openbox.len(), 1);
    // A window manager counts as broken if it did not live for a second.
    tokio::time::sleep(Duration::from_secs(1)).await;
    kill_process(openbox[0], Signal::KILL).unwrap();
    let notice = tokio::time::timeout(DEADLINE, world.notices.recv()).await;
    assert_eq!(
        notice.unwrap().unwrap(),
        "The window manager ended (signal: 9 (SIGKILL)) and was restarted."
    );
    // A newly started program has no command line for a moment.
    until("there is one again", || {
        let again = pids("openbox", mark);
        again.len() == 1 && again != openbox
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn all_programs_end_with_the_desktop() {
    let world = World::with_page("<p>hello</p>").await;
    let browser = pids("chromium", world.folder().to_str().unwrap());
    let mut programs = group_of(browser[0]);
    assert!(programs.len() > 2, "the browser has processes of its own");
    programs.push(x_server(&world));
    let World { desktop, .. } = world;
    drop(desktop);
    gone(&programs).await;
}

#[tokio::test]
async fn an_x_server_that_cannot_start_says_why() {
    let folder = tempfile::TempDir::new().unwrap();
    let config = deskhand_runner::desktop::DesktopConfig {
        screen: deskhand_core::action::ScreenSize {
            width: 0,
            height: 0,
        },
        settle_quiet: Duration::from_millis(60),
        settle_max: Duration::from_secs(2),
        browser: Vec::new(),
        browser_settings: deskhand_runner::desktop::BrowserSettings::default(),
        runtime_dir: folder.path().to_owned(),
        variables: std::collections::BTreeMap::new(),
        browser_variables: std::collections::BTreeMap::new(),
    };
    let tasks = deskhand_core::tasks::Tasks::default();
    let (notices, _) = tokio::sync::mpsc::channel(1);
    let started = deskhand_runner::desktop::Desktop::start(config, tasks, notices).await;
    let error = started.unwrap_err().to_string();
    assert!(error.starts_with("the X server did not start: "), "{error}");
}
