//! What is typed arrives byte for byte, whatever the script and whatever it is typed into.
//!
//! `TYPING_LINES` says how many lines, and `TYPING_SEED` which; the seed is printed.

mod text;

use std::{path::Path, time::Instant};

use deskhand_testkit::{Server, Session, Watcher, eventually};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::json;

use crate::world::{say, serve, setting};

/// How many lines are typed unless told otherwise: enough for every word of every script.
const USUAL_LINES: u64 = 90;

/// How many lines are typed in one action.
const LINES_AT_ONCE: usize = 25;

/// A text area that keeps tabs. Control and S save what it held as a file. The page's colour tells
/// how many lines have arrived: a browser goes on with what was typed long after the last key. Each
/// character takes it longer the more there are, so the area begins anew after some lines.
const PAGE: &str = "<!doctype html><meta charset=utf-8>
<body style='margin:0;background:rgb(10, 0, 0)'>
<textarea style='position:fixed;inset:100px' wrap=off spellcheck=false></textarea>
<script>
const area = document.querySelector('textarea');
let lines = 0, kept = '';
area.addEventListener('input', e => {
    if (e.inputType !== 'insertLineBreak') return;
    lines++;
    if (lines % 25 === 0) {
        kept += area.value;
        area.value = '';
    }
    document.body.style.background = `rgb(10, ${lines >> 8}, ${lines & 255})`;
});
addEventListener('keydown', e => {
    if (e.key === 'Tab') {
        e.preventDefault();
        area.setRangeText('\\t', area.selectionStart, area.selectionEnd, 'end');
    } else if (e.ctrlKey && e.key === 's') {
        e.preventDefault();
        const link = document.createElement('a');
        link.href = URL.createObjectURL(new Blob([kept, area.value]));
        link.download = 'typed.txt';
        link.click();
    }
});
</script>";
const START_PAGE: [u8; 3] = [0xf7, 0xf4, 0xee];
/// Between the letters of an address that is chosen, to be typed over.
const IN_THE_ADDRESS: (usize, usize) = (300, 55);
const CHOSEN: [u8; 3] = [0x0b, 0x57, 0xd0];
const BESIDE_THE_AREA: (usize, usize) = (20, 700);

/// The first line of the editor is its title, white on black, and nothing else is black there.
const EDITOR: &str = "xterm -geometry 120x40+0+0 -fg black -bg white -e nano --nonewlines typed.txt >/dev/null 2>&1 &";
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

    /// Does something and waits for a quiet screen, as agents do.
    async fn computer(&self, input: serde_json::Value) {
        let body = json!({"tool": "computer", "input": input, "look": true});
        let path = self.session.path("/actions");
        let done = self.session.client.post(&path, body).await.good();
        assert_eq!(done["is_error"], false, "{done}");
    }

    async fn key(&self, keys: &str) {
        self.computer(json!({"action": "key", "keys": keys})).await;
    }

    async fn click(&self, x: i32, y: i32) {
        self.computer(json!({"action": "click", "at": {"x": x, "y": y}}))
            .await;
    }

    /// Types all lines, some at a time as a model would. `arrived` waits for so many of them.
    async fn type_all(&mut self, arrived: impl AsyncFn(&mut Watcher, usize)) {
        let started = Instant::now();
        let mut n_typed = 0;
        for lines in self.lines.chunks(LINES_AT_ONCE) {
            let text = lines.concat();
            self.computer(json!({"action": "type", "text": text})).await;
            n_typed += lines.len();
            arrived(&mut self.watcher, n_typed).await;
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

/// The page's colour when so many lines have arrived.
fn colour_of(n_lines: usize) -> [u8; 3] {
    let [low, high, ..] = n_lines.to_le_bytes();
    [10, high, low]
}

#[tokio::test]
async fn every_script_arrives_in_a_text_area() {
    let mut desk = Desk::open().await;
    let page = json!({"command": "create", "path": "/home/agent/page.html", "file_text": PAGE});
    desk.session.act("editor", page).await;
    desk.key("ctrl+l").await;
    // A browser that has just come up may take its time, and what is typed before is lost.
    desk.watcher.until(IN_THE_ADDRESS, CHOSEN).await;
    desk.computer(json!({"action": "type", "text": "file:///home/agent/page.html\n"}))
        .await;
    desk.watcher.until(BESIDE_THE_AREA, colour_of(0)).await;
    desk.click(500, 400).await;
    desk.type_all(async |watcher, n_lines| {
        watcher.until(BESIDE_THE_AREA, colour_of(n_lines)).await;
    })
    .await;
    desk.key("ctrl+s").await;
    desk.expect("Downloads/typed.txt");
}

#[tokio::test]
async fn every_script_arrives_in_a_terminal_editor() {
    let mut desk = Desk::open().await;
    desk.session.shell(EDITOR).await;
    desk.watcher.until(EDITOR_TITLE, BLACK).await;
    desk.click(300, 300).await;
    desk.type_all(async |_, _| {}).await;
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
