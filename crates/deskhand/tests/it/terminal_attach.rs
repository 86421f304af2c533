//! `deskhand attach`, in a terminal that `script` makes.

use std::{
    io::{Read, Write},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use deskhand_testkit::{Server, Session, TerminalClient};

use crate::{program::Place, world::serve};

const PATIENCE: Duration = Duration::from_secs(60);

/// A person at a terminal.
struct Person {
    child: Child,
    shown: Receiver<Vec<u8>>,
    seen: String,
}

impl Person {
    #[expect(
        clippy::disallowed_methods,
        reason = "the program is what is tested, in a terminal"
    )]
    fn attach(server: &Server, session: &Session, options: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_deskhand");
        let data = server.data_dir();
        let line = format!(
            "stty rows 31 cols 97; {program} --data-dir {} attach {} {options}; echo left with $?; stty -a",
            data.display(),
            session.id
        );
        let mut child = Command::new("script")
            .args(["-qfec", &line, "/dev/null"])
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = child.stdout.take().unwrap();
        let (sender, shown) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n_read @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..n_read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            shown,
            seen: String::new(),
        }
    }

    fn types(&mut self, text: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Waits until a text is shown, and returns everything so far.
    fn sees(&mut self, text: &str) -> &str {
        let deadline = Instant::now() + PATIENCE;
        while !self.seen.contains(text) {
            let left = deadline.saturating_duration_since(Instant::now());
            let piece = self.shown.recv_timeout(left);
            let piece = piece.unwrap_or_else(|_| panic!("{text:?} is not in {:?}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&piece));
        }
        &self.seen
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        // It has ended by itself if the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_is_used_left_and_found_again() {
    let server = serve(&[]);
    let session = server.client().new_plain_session("scripted/demo").await;
    session.shell("true").await;
    let mut person = Person::attach(&server, &session, "");
    person.sees("Ctrl-] leaves it running");
    person.types("stty size; echo one $((1+1))\r");
    person.sees("31 97\r\none 2\r\n");
    // Programs can paint, and nothing else.
    person.types(
        "printf '\\033[1mbold\\033[m \\033]52;c;ZXZpbA==\\a\\033]0;title\\a:%d\\n' $((2+3))\r",
    );
    let seen = person.sees(":5\r\n");
    assert!(seen.contains("\u{1b}[1mbold"), "{seen:?}");
    assert!(!seen.contains("\u{1b}]"), "{seen:?}");
    person.types("\u{1d}");
    let seen = person.sees("iexten");
    assert!(seen.contains("still running"), "{seen:?}");
    assert!(seen.contains("left with 0"), "{seen:?}");
    assert!(
        !seen.contains("-icanon") && !seen.contains("-iexten"),
        "{seen:?}"
    );

    // Somebody else sees it, and the same person finds it again.
    let mut other = TerminalClient::attach(&session, 1).await;
    other.until("one 2").await;
    let mut person = Person::attach(&server, &session, "--terminal 1");
    person.sees("one 2\r\n");
    other.type_in("echo from another $((3+4))\r").await;
    person.sees("from another 7\r\n");
    person.types("exit 3\r");
    person.sees("left with 3");

    let mut watcher = Person::attach(&server, &session, "--terminal 0 --read-only");
    watcher.sees("$ true");
    watcher.types("\u{1d}");
    watcher.sees("left with 0");
    session.terminate().await;
}

#[test]
fn attach_needs_a_terminal_and_a_session() {
    let place = Place::new();
    let id = "01890000-0000-7000-8000-000000000000";
    let ended = place.run(&["attach", id]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("attach needs a terminal"),
        "{}",
        ended.stderr
    );
    assert_eq!(place.run(&["attach", "x"]).code, Some(2));
}
