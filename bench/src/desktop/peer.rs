//! `xdotool` and `scrot`, started for each step as most tools do, on a desktop without a sandbox.

#![expect(
    clippy::disallowed_methods,
    reason = "starting programs is what is measured"
)]

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use deskhand_testkit::eventually;

use super::page;
use crate::table::median;

pub(crate) struct Peer {
    pub(crate) screenshot_ms: f64,
    pub(crate) click_ms: f64,
    pub(crate) key_ms: f64,
    pub(crate) scroll_ms: f64,
    pub(crate) type_50_ms: f64,
    pub(crate) type_500_ms: f64,
}

/// Programs that end with the measurement.
struct Desktop {
    display: String,
    children: Vec<Child>,
}

pub(crate) fn measure() -> Peer {
    let folder = tempfile::tempdir().unwrap();
    let desktop = Desktop::start(folder.path());
    let picture = folder.path().join("shot.png");
    let picture = picture.to_str().unwrap();
    let (x, y) = page::NOWHERE;
    let (x, y) = (x.to_string(), y.to_string());
    let peer = Peer {
        screenshot_ms: desktop.time(20, &["scrot", "-o", "-p", picture]),
        click_ms: desktop.time(20, &["xdotool", "mousemove", &x, &y, "click", "1"]),
        key_ms: desktop.time(20, &["xdotool", "key", "shift"]),
        scroll_ms: desktop.time(20, &["xdotool", "click", "--repeat", "3", "5"]),
        type_50_ms: desktop.types(50),
        type_500_ms: desktop.types(500),
    };
    drop(desktop);
    peer
}

impl Desktop {
    fn start(folder: &Path) -> Self {
        let file = folder.join("page.html");
        std::fs::write(&file, page::html()).unwrap();
        let display = ":97".to_owned();
        let mut desktop = Self {
            display,
            children: Vec::new(),
        };
        let number = desktop.display.clone();
        desktop.spawn(&[
            "Xvnc",
            &number,
            "-geometry",
            "1024x768",
            "-depth",
            "24",
            "-SecurityTypes",
            "None",
            "-rfbport",
            "-1",
            "-rfbunixpath",
            folder.join("vnc").to_str().unwrap(),
        ]);
        eventually("the X server answers", || {
            desktop.run(&["xdotool", "getmouselocation"])
        });
        desktop.spawn(&["openbox"]);
        let profile = format!("--user-data-dir={}", folder.join("profile").display());
        let page = format!("file://{}", file.display());
        let browser = [
            "chromium",
            "--no-sandbox",
            "--test-type",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-gpu",
            "--start-maximized",
            &profile,
            &page,
        ];
        desktop.spawn(&browser);
        eventually("the page is open", || {
            desktop.run(&["xdotool", "search", "--name", "^bench"])
        });
        desktop
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env("DISPLAY", &self.display);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn spawn(&mut self, words: &[&str]) {
        let child = self
            .command(words)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", words[0]));
        self.children.push(child);
    }

    fn run(&self, words: &[&str]) -> bool {
        self.command(words).status().unwrap().success()
    }

    fn time(&self, n_times: usize, words: &[&str]) -> f64 {
        let samples = (0..n_times).map(|_| {
            let started = Instant::now();
            assert!(self.run(words), "{words:?}");
            started.elapsed().as_secs_f64() * 1_000.0
        });
        median(samples.collect())
    }

    /// Measures how long `xdotool type` takes, even if not everything arrives.
    fn types(&self, n_characters: usize) -> f64 {
        let (x, y) = page::FIELD;
        self.run(&[
            "xdotool",
            "mousemove",
            &x.to_string(),
            &y.to_string(),
            "click",
            "1",
        ]);
        self.time(3, &["xdotool", "type", &page::text(n_characters)])
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            // The process may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
