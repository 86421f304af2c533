//! Terminals with real shells: two people, replay, sizes, much output, control, and deaths.

use deskhand_api::terminals::TerminalsView;
use deskhand_core::terminal::{ReadOnly, TerminalEnd};
use deskhand_testkit::{Server, Session, TerminalClient, eventually, processes_with_mount};
use serde_json::json;

use crate::world::serve;

/// Prints, so that a text is found in the output of a command and not in the echo of it.
const WORK: &str = r#"
turns:
  - steps:
      - calls:
          - bash: {command: "echo the agent says $((40+2)); false"}
      - text: "done"
"#;

async fn guest(session: &Session, name: &str) -> Session {
    let client = session.client.new_user(name).await;
    let path = session.path(&format!("/people/{name}"));
    session
        .client
        .put(&path, json!({"right": "drive"}))
        .await
        .good();
    client.session(&session.id)
}

#[tokio::test]
async fn people_share_real_shells() {
    let server = serve(&[("work", WORK)]);
    let session = server.client().new_plain_session("scripted/work").await;
    let bobs = guest(&session, "bob").await;
    let mut own = TerminalClient::open(&session).await;
    own.type_in("cd /tmp; x=from-admin; stty size\r").await;
    own.until("24 80\r\n").await;
    let mut others = TerminalClient::attach(&bobs, 1).await;
    others.until("24 80\r\n").await;
    others.resize(101, 33).await;
    others
        .type_in("stty size; echo $x in $PWD, $((6*7))\r")
        .await;
    own.until("33 101\r\nfrom-admin in /tmp, 42\r\n").await;
    own.until_state(|it| it.terminal.size.cols == 101).await;

    // Keys arrive as keys: an interrupt, and the end of input.
    own.type_in("echo go $((1+1)); sleep 1000\r").await;
    own.until("go 2").await;
    // Between two commands, a shell may miss an interrupt.
    let is_asleep = || {
        let all = processes_with_mount(&session.id);
        all.iter().any(|(_, line)| line.starts_with("sleep 1000"))
    };
    eventually("the command sleeps", is_asleep);
    own.type_in("\u{3}").await;
    own.until("^C").await;
    own.type_in("echo interrupted $?\r").await;
    others.until("interrupted 130").await;
    own.type_in("exit 7\r").await;
    others
        .until_state(|it| it.read_only == Some(ReadOnly::Ended))
        .await;
    assert_eq!(others.terminal.ended, Some(TerminalEnd::Exited { code: 7 }));
    let mut late = TerminalClient::attach(&session, 1).await;
    late.until("from-admin in /tmp, 42").await;
    assert_eq!(late.terminal.ended, Some(TerminalEnd::Exited { code: 7 }));

    // The agent's shell is watched as it works.
    let mut agent = TerminalClient::attach(&bobs, 0).await;
    session.prompt("work").await;
    let shown = agent.until("[exit code 1]").await;
    assert!(shown.contains("$ echo the agent says"), "{shown}");
    assert!(shown.contains("the agent says 42\r\n"), "{shown}");

    // What is killed is gone with all its programs.
    let mut killed = TerminalClient::open(&session).await;
    killed.type_in("sleep 4711 & sleep 4712\r").await;
    let sleeps = || {
        let all = processes_with_mount(&session.id);
        let is_sleep = |line: &str| line.contains("sleep 471");
        all.iter().filter(|(_, line)| is_sleep(line)).count()
    };
    eventually("both sleep", || sleeps() == 2);
    session
        .client
        .delete(&session.path("/terminals/2"))
        .await
        .good();
    assert_eq!(killed.closed().await.0, 1000);
    eventually("none sleeps", || sleeps() == 0);
    session.terminate().await;
}

#[tokio::test]
async fn slow_readers_skip_output_and_do_not_slow_down_others() {
    let server = serve(&[]);
    let session = server.client().new_plain_session("scripted/demo").await;
    let mut noisy = TerminalClient::open(&session).await;
    let mut quiet = TerminalClient::open(&session).await;
    quiet.type_in("PS1=; stty -echo\r").await;
    // It goes on until the others were answered. Nobody reads it meanwhile.
    let flood = "n=0; until [ -e answered ]; do head -c 1000000 /dev/zero | tr '\\0' 'x' | fold -w 99; \
                 echo $((n += 1)) > megabytes; done; echo over $((1+1))";
    noisy.type_in(&format!("{flood}\r")).await;
    for n in 0..40 {
        quiet.type_in(&format!("echo answer {n} $((1+1))\r")).await;
        quiet.until(&format!("answer {n} 2")).await;
    }
    let enough = "until [ \"$(cat ~/megabytes)\" -ge 30 ]; do sleep 0.02; done; touch ~/answered";
    session.shell(enough).await;
    noisy.until("over 2\r\n").await;
    assert!(noisy.n_missed > 0, "it read everything");
    assert!(noisy.output.len() < 30_000_000, "{}", noisy.output.len());
    let late = TerminalClient::attach(&session, 1)
        .await
        .until("over 2\r\n")
        .await;
    assert!(
        late.starts_with('x') && late.len() <= 1024 * 1024,
        "{}",
        late.len()
    );
    session.terminate().await;
}

#[tokio::test]
async fn a_person_with_control_has_terminals_of_their_own() {
    let server = serve(&[]);
    let session = server.client().new_session("scripted/demo").await;
    let bobs = guest(&session, "bob").await;
    session
        .shell("echo 'echo spied >> ~/spied' > ~/.bashrc")
        .await;
    // Return would run a command of the agent's, and the terminal would be another.
    let macros = r#"echo '"\C-m": "; touch ~/hooked\C-j"' > ~/.inputrc"#;
    session.shell(macros).await;
    session
        .shell("infocmp -x xterm-256color > /tmp/x && tic -x -o ~/.terminfo /tmp/x && ls ~/.terminfo/x/xterm-256color")
        .await;
    let mut before = TerminalClient::open(&session).await;
    // A program that takes the place of the shell, and one that counts.
    before
        .type_in("unset HISTFILE; (while sleep 0.05; do echo tick >> ~/ticks; done) & echo on $((1+1)); exec cat\r")
        .await;
    before.until("on 2").await;
    before.type_in("in front\r").await;
    before.until("in front\r\nin front").await;
    bobs.take_control(60).await.good();
    before
        .until_state(|it| it.read_only == Some(ReadOnly::Control))
        .await;
    let mut own = TerminalClient::open(&bobs).await;
    own.type_in("n=$(wc -l < ~/ticks); sleep 0.3; echo $(($(wc -l < ~/ticks) - n)) ticks\r")
        .await;
    own.until("0 ticks\r\n").await;
    // It has read no file that the agent wrote, and leaves none for the agent to read.
    own.type_in("history -w; ls -a ~; infocmp | head -1; echo $(wc -l < ~/spied) spied\r")
        .await;
    let listed = own.until("1 spied\r\n").await;
    assert!(!listed.contains(".bash_history"), "{listed}");
    assert!(!listed.contains("hooked"), "{listed}");
    assert!(listed.contains(".inputrc"), "{listed}");
    assert!(listed.contains("terminfo/x/xterm-256color"), "{listed}");
    assert!(!listed.contains("/.terminfo/"), "{listed}");
    bobs.hand_back().await.good();

    // The program goes on.
    before.until_state(|it| it.read_only.is_none()).await;
    before.forget();
    before.type_in("still here\r").await;
    before.until("still here\r\nstill here").await;
    session.terminate().await;
}

#[tokio::test]
async fn terminals_outlive_a_broken_connection_and_end_with_their_sandbox() {
    let mut server = serve(&[]);
    let session = server.client().new_plain_session("scripted/demo").await;
    let mut terminal = TerminalClient::open(&session).await;
    terminal.type_in("echo kept $((1+1)); x=kept\r").await;
    terminal.until("kept 2").await;
    drop(terminal);
    let mut terminal = TerminalClient::attach(&session, 1).await;
    terminal.until("kept 2").await;
    terminal.type_in("echo $x again\r").await;
    terminal.until("kept again").await;

    kill_runner(&session);
    assert_eq!(terminal.closed().await.0, 1000);
    let refused = session.client.upgrade(&session.path("/terminals/1")).await;
    assert_eq!(refused.status, 409, "{}", refused.code());

    TerminalClient::open(&session).await;
    server.kill();
    eventually("nothing is left", || {
        processes_with_mount(&session.id).is_empty()
    });
    server.start_again();
    let session = again(&server, &session);
    let path = session.path("/terminals");
    let left: TerminalsView = session.client.get(&path).await.view();
    assert_eq!(left.terminals.len(), 0);
    session.terminate().await;
}

fn again(server: &Server, session: &Session) -> Session {
    server.client().session(&session.id)
}

fn kill_runner(session: &Session) {
    let runner = processes_with_mount(&session.id);
    let runner = runner.iter().find(|(_, line)| line.contains(" runner"));
    let pid = runner.map(|(pid, _)| *pid).unwrap();
    deskhand_testkit::kill(pid);
}
