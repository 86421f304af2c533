//! What is typed arrives byte for byte, whatever the script and whatever it is typed into.
//!
//! `TYPING_LINES` says how many lines, and `TYPING_SEED` which; the seed is printed.

mod text;

use std::{path::Path, time::Instant};

use deskhand_testkit::{Server, Session, Watcher, eventually};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::json;

use crate::world::{say, serve, setting};

/// How many lines are typed unless told otherwise. The goal is 500, which takes a minute.
const USUAL_LINES: u64 = 45;

/// How many lines are typed in one action.
const LINES_AT_ONCE: usize = 25;

/// A text area that keeps tabs, and is saved as a file by Control and S.
const PAGE: &str = "<!doctype html><meta charset=utf-8>
<body style='margin:0;background:#0a64c8'>
<textarea style='position:fixed;inset:100px' spellcheck=false autofocus></textarea>
<script>
const area = document.querySelector('textarea');
addEventListener('keydown', e => {
    if (e.key === 'Tab') {
        e.preventDefault();
        area.setRangeText('\\t', area.selectionStart, area.selectionEnd, 'end');
    } else if (e.ctrlKey && e.key === 's') {
        e.preventDefault();
        const link = document.createElement('a');
        link.href = URL.createObjectURL(new Blob([area.value]));
        link.download = 'typed.txt';
        link.click();
    }
});
</script>";
const START_PAGE: [u8; 3] = [0xf7, 0xf4, 0xee];
const PAGE_COLOUR: [u8; 3] = [0x0a, 0x64, 0xc8];
const BESIDE_THE_AREA: (usize, usize) = (20, 700);

/// The first line of the editor is its title, white on black, and nothing else is black there.
const EDITOR: &str =
    "xterm -geometry 120x40+0+0 -fg black -bg white -e nano typed.txt >/dev/null 2>&1 &";
const EDITOR_TITLE: (usize, usize) = (200, 29);
const BLACK: [u8; 3] = [0; 3];

struct Desk {
    server: Server,
    session: Session,
    watcher: Watcher,
    lines: Vec<String>,
}

impl Desk {
    async fn open() -> Self {
        let n_lines = setting("TYPING_LINES").unwrap_or(USUAL_LINES);
        let seed = setting("TYPING_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
        say(&format!("TYPING_SEED={seed} TYPING_LINES={n_lines}"));
        let n_lines = usize::try_from(n_lines).unwrap();
        let lines = text::lines(n_lines, &mut StdRng::seed_from_u64(seed));
        let server = serve(&[]);
        let session = server.client().new_session("scripted/demo").await;
        let mut watcher = Watcher::open(&session).await;
        // The browser comes up by itself, and later would be over any other window.
        watcher.until(BESIDE_THE_AREA, START_PAGE).await;
        Self {
            server,
            session,
            watcher,
            lines,
        }
    }

    async fn computer(&self, input: serde_json::Value) {
        let done = self.session.act("computer", input).await;
        assert_eq!(done["is_error"], false, "{done}");
    }

    async fn key(&self, keys: &str) {
        self.computer(json!({"action": "key", "keys": keys})).await;
    }

    async fn click(&self, x: i32, y: i32) {
        self.computer(json!({"action": "click", "at": {"x": x, "y": y}}))
            .await;
    }

    /// Types all lines, some at a time as a model would.
    async fn type_all(&self) {
        let started = Instant::now();
        for lines in self.lines.chunks(LINES_AT_ONCE) {
            let text = lines.concat();
            self.computer(json!({"action": "type", "text": text})).await;
        }
        say(&format!(
            "typed in {:.1} s",
            started.elapsed().as_secs_f64()
        ));
    }

    /// Waits for a file in the home folder, and holds it against the lines.
    fn expect(&self, file: &str) {
        let path = self.server.home_of(&self.session).join(file);
        eventually("the text is saved", || path.exists());
        compare(&self.lines, &path);
    }
}

#[tokio::test]
async fn every_script_arrives_in_a_text_area() {
    let mut desk = Desk::open().await;
    let page = json!({"command": "create", "path": "/home/agent/page.html", "file_text": PAGE});
    desk.session.act("editor", page).await;
    desk.key("ctrl+l").await;
    desk.computer(json!({"action": "type", "text": "file:///home/agent/page.html\n"}))
        .await;
    desk.watcher.until(BESIDE_THE_AREA, PAGE_COLOUR).await;
    desk.click(500, 400).await;
    desk.type_all().await;
    desk.key("ctrl+s").await;
    desk.expect("Downloads/typed.txt");
}

#[tokio::test]
async fn every_script_arrives_in_a_terminal_editor() {
    let mut desk = Desk::open().await;
    desk.session.shell(EDITOR).await;
    desk.watcher.until(EDITOR_TITLE, BLACK).await;
    desk.click(300, 300).await;
    desk.type_all().await;
    desk.key("ctrl+o Return ctrl+x").await;
    desk.expect("typed.txt");
}

/// Names the first line that is not as it was typed: all of them would fill pages.
fn compare(lines: &[String], path: &Path) {
    let saved = std::fs::read_to_string(path).unwrap();
    let saved: Vec<&str> = saved.split_inclusive('\n').collect();
    for (n, (line, saved)) in lines.iter().zip(&saved).enumerate() {
        assert_eq!(line, saved, "line {}", n + 1);
    }
    assert_eq!(lines.len(), saved.len(), "lines are missing or too many");
}
