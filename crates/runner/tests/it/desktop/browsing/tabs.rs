//! Tabs, dialogs, and pages that do not open.

use deskhand_core::browser::{
    Browse, BrowserChange, BrowserFinding, BrowserVerb, PagePlace, TabNumber,
};

use super::{Desk, click};

fn answer(accept: bool, text: Option<&str>) -> BrowserVerb {
    BrowserVerb::AnswerDialog {
        accept,
        text: text.map(str::to_owned),
    }
}

/// Kills the processes of the browser whose command line is like this.
fn kill(desk: &Desk, is_wanted: impl Fn(&str) -> bool) {
    let folder = desk.world.folder().to_str().unwrap().to_owned();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let name = process.file_name().to_string_lossy().into_owned();
        let Ok(pid) = name.parse::<i32>() else {
            continue;
        };
        if is_wanted(&command_line(pid)) && belongs_to(pid, &folder) {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            // It may have ended meanwhile.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

fn command_line(pid: i32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns true if a process, or one of its ancestors, has a folder in its command line.
fn belongs_to(pid: i32, folder: &str) -> bool {
    let mut pid = pid;
    while pid > 1 {
        if command_line(pid).contains(folder) {
            return true;
        }
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(") ").next().unwrap_or_default();
        let parent = after_name.split(' ').nth(1);
        pid = parent.and_then(|parent| parent.parse().ok()).unwrap_or(0);
    }
    false
}

fn in_tab(tab: TabNumber, verb: BrowserVerb) -> Browse {
    Browse {
        tab: Some(tab),
        ..Browse::new(verb)
    }
}

pub(super) async fn pop_ups_dialogs_and_tabs(desk: &Desk) {
    let first = desk.open("/tabs").await.page.unwrap().tab;
    let alert = PagePlace::Element(desk.find("Alert").await);
    let shown = desk.verb(click(alert)).await.page.unwrap().dialog.unwrap();
    assert_eq!((&*shown.kind, &*shown.message), ("alert", "look here"));
    let blocked = desk.try_verb(BrowserVerb::ReadText).await;
    assert!(blocked.unwrap_err().to_string().contains("answer it first"));
    desk.verb(answer(true, None)).await;
    desk.says("alerted").await;
    desk.click("Ask").await;
    desk.verb(answer(true, Some("Ada"))).await;
    desk.says("name Ada").await;
    let BrowserFinding::Console(entries) = desk.verb(BrowserVerb::Console).await.finding else {
        panic!("not the console");
    };
    assert_eq!((&*entries[0].level, &*entries[0].text), ("error", "bad 7"));
    let BrowserFinding::Network(requests) = desk.verb(BrowserVerb::Network).await.finding else {
        panic!("not the requests");
    };
    let asked = requests
        .iter()
        .find(|one| one.url.ends_with("/tabs"))
        .unwrap();
    assert_eq!((&*asked.method, asked.status), ("GET", Some(200)));

    let opened = desk.click("Open pop-up").await;
    let is_opening = |change: &BrowserChange| matches!(change, BrowserChange::TabOpened { .. });
    assert!(opened.changes.iter().any(is_opening), "{opened:?}");
    let popup = opened.page.unwrap().tab;
    assert_ne!(popup, first);
    desk.wait_for("The pop-up").await;
    desk.verb(BrowserVerb::CloseTab).await;
    desk.browse(&in_tab(first, BrowserVerb::SelectTab))
        .await
        .unwrap();

    // The page asks before it is left.
    desk.click("Stay").await;
    desk.says("armed").await;
    let asks = desk.open("/popup").await.page.unwrap().dialog.unwrap();
    assert_eq!(asks.kind, "beforeunload");
    desk.verb(answer(false, None)).await;
    desk.says("armed").await;
    desk.open("/popup").await;
    desk.verb(answer(true, None)).await;
    desk.wait_for("The pop-up").await;
    let back = desk.verb(BrowserVerb::Back).await.page.unwrap();
    assert!(back.url.ends_with("/tabs"), "{back:?}");
    let forward = desk.verb(BrowserVerb::Forward).await.page.unwrap();
    assert!(forward.url.ends_with("/popup"), "{forward:?}");
    let state = "state.json".to_owned();
    desk.verb(BrowserVerb::Script {
        text: "localStorage.setItem('a', 'b')".to_owned(),
    })
    .await;
    desk.verb(BrowserVerb::SaveState {
        path: state.clone(),
    })
    .await;
    desk.verb(BrowserVerb::Script {
        text: "localStorage.clear()".to_owned(),
    })
    .await;
    desk.verb(BrowserVerb::LoadState { path: state }).await;
    let told = desk
        .verb(BrowserVerb::Script {
            text: "localStorage.a".to_owned(),
        })
        .await;
    assert_eq!(told.finding, BrowserFinding::Value("\"b\"".to_owned()));
}

pub(super) async fn dialogs_are_answered_with_the_keyboard(desk: &Desk) {
    let press = |keys: &str| BrowserVerb::Press {
        keys: keys.to_owned(),
        repeat: 1,
    };
    desk.open("/tabs").await;
    desk.click("Alert").await;
    let other = desk.try_verb(press("Tab")).await.unwrap_err();
    assert!(other.to_string().contains("answer it first"), "{other}");
    desk.verb(press("Return")).await;
    desk.says("alerted").await;
    desk.click("Ask").await;
    let name = BrowserVerb::Type {
        at: None,
        text: "Grace".to_owned(),
        submit: false,
    };
    desk.verb(name).await;
    desk.verb(press("Enter")).await;
    desk.says("name Grace").await;
    desk.click("Ask").await;
    desk.verb(press("Escape")).await;
    desk.says("name null").await;
}

pub(super) async fn a_browser_that_is_closed_comes_back(desk: &Desk) {
    let closed = desk.verb(BrowserVerb::Close).await;
    assert_eq!((closed.page, closed.tabs), (None, Vec::new()));
    let opened = desk.open("/popup").await;
    assert!(
        opened.changes.contains(&BrowserChange::BrowserRestarted),
        "{opened:?}"
    );
    desk.wait_for("The pop-up").await;
}

pub(super) async fn pages_that_do_not_open_are_reported(desk: &Desk) {
    let url = "http://127.0.0.1:1/".parse().unwrap();
    let refused = desk.try_verb(BrowserVerb::Navigate { url }).await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.starts_with("could not open the page: net::"),
        "{refused}"
    );
}

pub(super) async fn a_crash_is_reported_and_recovered(desk: &Desk) {
    desk.open("/rtl").await;
    kill(desk, |line| line.contains("--type=renderer"));
    let refused = desk.try_verb(BrowserVerb::Wait {
        until: deskhand_core::browser::PageCondition::Text("never there".to_owned()),
        timeout_ms: 60_000,
    });
    let refused = refused.await.unwrap_err().to_string();
    assert!(refused.contains("crashed"), "{refused}");
    desk.verb(BrowserVerb::Reload).await;
    desk.click("اضغط").await;
    desk.says("rtl").await;

    kill(desk, |line| {
        line.contains("--user-data-dir") && !line.contains("--type=")
    });
    // The end is noticed as soon as the browser's end of the socket closes.
    let lost = desk.try_verb(BrowserVerb::ReadText).await;
    let url = desk.site.url("/rtl").parse().unwrap();
    let again = desk.try_verb(BrowserVerb::Navigate { url }).await;
    let is_restart = |change: &BrowserChange| matches!(change, BrowserChange::BrowserRestarted);
    let browsed = [lost.ok(), again.ok()].into_iter().flatten();
    let changes: Vec<_> = browsed.flat_map(|browsed| browsed.changes).collect();
    assert!(changes.iter().any(is_restart), "{changes:?}");
    desk.click("اضغط").await;
    desk.says("rtl").await;
}
