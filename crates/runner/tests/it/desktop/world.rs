//! A desktop for one test, with a page in a real browser that reports its state in its title.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use deskhand_core::{
    action::{Action, Point, ScreenSize},
    sandbox::{Acted, Frame},
    tasks::Tasks,
};
use deskhand_runner::desktop::{ActError, BrowserSettings, Desktop, DesktopConfig};
use rustix::process::Pid;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use x11rb::{
    connection::Connection,
    protocol::xproto::{AtomEnum, ConnectionExt, KeyButMask},
    rust_connection::RustConnection,
};

const DEADLINE: Duration = Duration::from_secs(60);

/// Helpers for every page: `say(text)` sets the title, and `told(value)` encodes any characters in a form that a
/// title keeps.
const SCRIPT: &str = "
    const say = text => { document.title = text; };
    const told = value => Array.from(value).map(c => c.codePointAt(0).toString(36)).join('.');
    addEventListener('load', () => requestAnimationFrame(() => requestAnimationFrame(() => {
        if (!document.title) say('ready');
    })));
";

pub(crate) struct World {
    pub(crate) desktop: Desktop,
    pub(crate) notices: mpsc::Receiver<String>,
    pub(crate) tasks: Tasks,
    folder: TempDir,
    x: RustConnection,
    root: u32,
}

impl World {
    /// Starts a desktop with nothing on it.
    pub(crate) async fn empty() -> Self {
        let world = Self::start(ScreenSize::default(), Vec::new(), TempDir::new().unwrap()).await;
        // The window manager may miss a window that opens while it starts.
        let give_up_at = Instant::now() + DEADLINE;
        while world
            .property(world.root, "_NET_SUPPORTING_WM_CHECK")
            .is_empty()
        {
            assert!(Instant::now() < give_up_at, "no window manager");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        world
    }

    /// Starts a desktop whose browser shows only this page, and waits until it is painted.
    pub(crate) async fn with_page(body: &str) -> Self {
        Self::with_page_on(ScreenSize::default(), body).await
    }

    /// Like [`Self::with_page`], on a screen of this size.
    pub(crate) async fn with_page_on(screen: ScreenSize, body: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let page = write_page(folder.path(), body);
        let mut browser = browser(folder.path());
        browser.push(format!("--app=file://{}", page.display()));
        let world = Self::start(screen, browser, folder).await;
        world.title("ready").await;
        world
    }

    /// Starts a desktop whose browser shows this page and its own bars, and speaks DevTools.
    pub(crate) async fn with_page_and_bars(body: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let page = write_page(folder.path(), body);
        let mut browser = browser(folder.path());
        browser.push("--remote-debugging-pipe".to_owned());
        browser.push(format!("file://{}", page.display()));
        let world = Self::start(ScreenSize::default(), browser, folder).await;
        world.title_after("ready").await;
        world
    }

    async fn start(screen: ScreenSize, browser: Vec<String>, folder: TempDir) -> Self {
        let tasks = Tasks::default();
        let (sender, notices) = mpsc::channel(16);
        let config = DesktopConfig {
            screen,
            // Longer than usual, since other tests keep the machine busy.
            settle_quiet: Duration::from_millis(250),
            settle_max: Duration::from_secs(2),
            browser,
            browser_settings: BrowserSettings {
                home: folder.path().to_owned(),
                allows_scripts: true,
                viewport: None,
            },
            runtime_dir: folder.path().join("run"),
            variables: BTreeMap::new(),
            browser_variables: BTreeMap::new(),
        };
        let desktop = Desktop::start(config, tasks.clone(), sender).await.unwrap();
        let (x, screen) = RustConnection::connect(Some(desktop.display())).unwrap();
        let root = x.setup().roots[screen].root;
        let world = Self {
            desktop,
            notices,
            tasks,
            folder,
            x,
            root,
        };
        until("the window manager is up", || {
            !world.property(root, "_NET_SUPPORTING_WM_CHECK").is_empty()
        })
        .await;
        world
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) async fn act(&self, action: Action) -> Result<Acted, ActError> {
        let acted = self
            .desktop
            .act(&action, false, None, CancellationToken::new())
            .await?;
        assert_eq!(acted.frame, None);
        Ok(acted)
    }

    pub(crate) async fn act_and_look(&self, action: Action) -> (Acted, Frame) {
        self.act_and_show(action, None).await
    }

    /// The same, with a picture of this size.
    pub(crate) async fn act_and_show(
        &self,
        action: Action,
        shown: Option<ScreenSize>,
    ) -> (Acted, Frame) {
        let acted = self
            .desktop
            .act(&action, true, shown, CancellationToken::new())
            .await;
        let mut acted = acted.unwrap();
        let frame = acted.frame.take().unwrap();
        (acted, frame)
    }

    pub(crate) async fn click(&self, x: i32, y: i32) -> Acted {
        self.act(click_at(x, y)).await.unwrap()
    }

    pub(crate) async fn type_text(&self, text: &str) {
        let text = text.to_owned();
        self.act(Action::Type { text }).await.unwrap();
    }

    pub(crate) async fn key(&self, keys: &str) {
        let keys = keys.to_owned();
        self.act(Action::Key { keys, repeat: 1 }).await.unwrap();
    }

    /// Waits until a window has this title, not counting the browser's own name.
    pub(crate) async fn title(&self, wanted: &str) {
        self.wait_for(wanted, |titles| titles.iter().any(|title| title == wanted))
            .await;
    }

    /// Waits until a window's title begins like this, and returns the rest.
    pub(crate) async fn title_after(&self, prefix: &str) -> String {
        let titles = self
            .wait_for(prefix, |titles| {
                titles.iter().any(|title| title.starts_with(prefix))
            })
            .await;
        let mut rests = titles.iter().filter_map(|title| title.strip_prefix(prefix));
        rests.next().unwrap().to_owned()
    }

    async fn wait_for(&self, what: &str, reached: impl Fn(&[String]) -> bool) -> Vec<String> {
        let give_up_at = Instant::now() + DEADLINE;
        loop {
            let titles = self.titles();
            if reached(&titles) {
                return titles;
            }
            assert!(
                Instant::now() < give_up_at,
                "no window is called {what:?}, only {titles:?}"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Returns the window whose title begins like this.
    pub(crate) fn window(&self, prefix: &str) -> u32 {
        let clients = self.property(self.root, "_NET_CLIENT_LIST");
        let (windows, _) = clients.as_chunks::<4>();
        let mut windows = windows.iter().map(|window| u32::from_ne_bytes(*window));
        let is_it = |window: &u32| {
            self.property(*window, "_NET_WM_NAME")
                .starts_with(prefix.as_bytes())
        };
        windows.find(is_it).unwrap()
    }

    /// Takes a window from the screen without telling its program.
    pub(crate) fn unmap(&self, window: u32) {
        self.x.unmap_window(window).unwrap().check().unwrap();
    }

    /// Returns the window that owns a selection such as the clipboard, or zero.
    pub(crate) fn owner_of(&self, selection: &str) -> u32 {
        let atom = self.x.intern_atom(false, selection.as_bytes()).unwrap();
        let atom = atom.reply().unwrap().atom;
        let owner = self.x.get_selection_owner(atom).unwrap();
        owner.reply().unwrap().owner
    }

    /// Returns the titles of all windows that the window manager knows.
    pub(crate) fn titles(&self) -> Vec<String> {
        let clients = self.property(self.root, "_NET_CLIENT_LIST");
        let (windows, _) = clients.as_chunks::<4>();
        windows
            .iter()
            .map(|window| {
                let window = u32::from_ne_bytes(*window);
                let names = ["_NET_WM_NAME", "WM_NAME"].map(|name| self.property(window, name));
                let name = names.into_iter().find(|name| !name.is_empty());
                String::from_utf8(name.unwrap_or_default()).unwrap()
            })
            .collect()
    }

    fn property(&self, window: u32, name: &str) -> Vec<u8> {
        let atom = self.x.intern_atom(false, name.as_bytes()).unwrap();
        let atom = atom.reply().unwrap().atom;
        let property = self
            .x
            .get_property(false, window, atom, AtomEnum::ANY, 0, 65_536)
            .unwrap();
        // A window that has just closed has no properties.
        property
            .reply()
            .map(|reply| reply.value)
            .unwrap_or_default()
    }

    pub(crate) fn caps_lock_is_on(&self) -> bool {
        let pointer = self.x.query_pointer(self.root).unwrap().reply().unwrap();
        pointer.mask.contains(KeyButMask::LOCK)
    }

    /// Runs a program on the desktop and waits for its end.
    #[expect(clippy::disallowed_methods, reason = "tests start what a person would")]
    pub(crate) async fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = tokio::process::Command::new(program)
            .args(arguments)
            .env("DISPLAY", self.desktop.display())
            .output();
        let output = output.await.unwrap();
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {output:?}"
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts a program on the desktop. It is killed when the handle is dropped.
    #[expect(clippy::disallowed_methods, reason = "tests start what a person would")]
    pub(crate) fn open(&self, program: &str, arguments: &[&str]) -> tokio::process::Child {
        tokio::process::Command::new(program)
            .args(arguments)
            .env("DISPLAY", self.desktop.display())
            .current_dir(self.folder())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    /// Ends all programs and waits for them.
    pub(crate) async fn end(self) {
        assert!(self.tasks.end(DEADLINE).await, "a program did not end");
    }
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let give_up_at = Instant::now() + DEADLINE;
    while !is_true() {
        assert!(Instant::now() < give_up_at, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn write_page(folder: &Path, body: &str) -> PathBuf {
    let page = folder.join("page.html");
    let html = format!(
        "<!doctype html><meta charset=utf-8><style>body{{margin:0;background:#fff}}</style>\
         <script>{SCRIPT}</script>{body}"
    );
    std::fs::write(&page, html).unwrap();
    page
}

fn browser(folder: &Path) -> Vec<String> {
    // The browser is killed at the end and would leave its temporary files.
    let temporary = format!("TMPDIR={}", folder.display());
    let mut argv: Vec<String> = [
        "env",
        &temporary,
        "chromium",
        "--no-sandbox",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-gpu",
        "--disable-quic",
        // The sandbox sets these too.
        "--disable-features=RenderDocument,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
        "--test-type",
    ]
    .map(str::to_owned)
    .to_vec();
    argv.push(format!(
        "--user-data-dir={}",
        folder.join("profile").display()
    ));
    argv
}

pub(crate) fn at(x: i32, y: i32) -> Point {
    Point { x, y }
}

pub(crate) fn click_at(x: i32, y: i32) -> Action {
    Action::Click {
        button: deskhand_core::action::Button::Left,
        count: 1,
        at: Some(at(x, y)),
        modifiers: Vec::new(),
    }
}

/// Encodes a text in the way that pages do.
pub(crate) fn told(text: &str) -> String {
    let points: Vec<String> = text.chars().map(|c| base36(c.into())).collect();
    points.join(".")
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        digits.push(char::from_digit(number % 36, 36).unwrap());
        number /= 36;
    }
    digits.iter().rev().collect()
}

/// Decodes the output of [`told`].
pub(crate) fn untold(told: &str) -> String {
    told.split('.')
        .filter_map(|digits| u32::from_str_radix(digits, 36).ok())
        .filter_map(char::from_u32)
        .collect()
}

/// Returns the processes with this name that have `mark` on their command line.
pub(crate) fn pids(name: &str, mark: &str) -> Vec<Pid> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| {
            let pid = process.file_name().to_str()?.parse().ok()?;
            let read = |file: &str| std::fs::read(process.path().join(file)).unwrap_or_default();
            let command = String::from_utf8_lossy(&read("cmdline")).into_owned();
            let is_it = command.split('\0').next()?.ends_with(name) && command.contains(mark);
            is_it.then(|| Pid::from_raw(pid)).flatten()
        })
        .collect()
}
