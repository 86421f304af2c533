//! Output: long, late, live, and that of background jobs.

use std::sync::{Arc, Mutex};

use deskhand_core::shell::{ShellEnding, ShellRequest};
use deskhand_runner::shell::OnOutput;
use tokio_util::sync::CancellationToken;

use super::desk::{Desk, exited};

#[tokio::test]
async fn background_jobs_go_on_and_hold_nothing_up() {
    let desk = Desk::open();
    desk.run("mkfifo go; (read x <go; echo late; exec sleep 300) & job=$!")
        .await;
    desk.run("sleep 301 &").await;
    assert_eq!(
        desk.run_for("sleep 100", 100).await.ending,
        ShellEnding::TimedOut { after_ms: 100 }
    );
    assert_eq!(desk.text("jobs -rp | wc -l").await, "2\n");
    // The output of a job between two commands is put before the next command's output.
    let go = desk.home.path().join("go");
    tokio::task::spawn_blocking(move || std::fs::write(go, "x\n").unwrap())
        .await
        .unwrap();
    desk.until("[[ $(</proc/$job/comm) == sleep ]] && touch seen")
        .await;
    assert!(desk.home.path().join("seen").exists());
}

#[tokio::test]
async fn late_output_of_a_job_comes_with_the_next_command() {
    let desk = Desk::open();
    desk.run("mkfifo go done; { read x <go; echo late; echo x >done; } &")
        .await;
    assert_eq!(
        desk.text("echo x >go; read x <done; echo now").await,
        "late\nnow\n"
    );
}

#[tokio::test]
async fn a_job_that_floods_the_output_does_not_hang_the_next_command() {
    let desk = Desk::open();
    desk.run("yes & flood=$!").await;
    let output = desk.run("echo marker; kill $flood").await;
    assert_eq!(output.ending, exited(0));
    let output = desk.run("wait; echo quiet").await;
    assert!(
        output.output.ends_with("quiet\n"),
        "{}",
        output.output.len()
    );
}

#[tokio::test]
async fn long_output_keeps_its_beginning_and_its_end() {
    let desk = Desk::open_with_output(4096);
    let output = desk
        .run("echo BEGIN; head -c 10000000 /dev/zero | tr '\\0' x; echo; echo END")
        .await;
    assert!(output.output.starts_with("BEGIN\nxxx") && output.output.ends_with("xxx\nEND\n"));
    assert_eq!(output.omitted_bytes, 10_000_000 + 11 - 4096);
    assert!(output.output.len() < 4096 + 100);
    assert_eq!(desk.text("printf 'a\\xffb'").await, "a\u{fffd}b");
}

#[tokio::test]
async fn output_is_passed_on_while_the_command_runs() {
    let desk = Desk::open();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (first, arrived) = tokio::sync::oneshot::channel();
    let first = Mutex::new(Some(first));
    let on_output: OnOutput = {
        let seen = Arc::clone(&seen);
        Arc::new(move |bytes| {
            seen.lock().unwrap().extend_from_slice(&bytes);
            if let Some(first) = first.lock().unwrap().take() {
                first.send(()).unwrap();
            }
        })
    };
    desk.run("mkfifo go").await;
    let request = ShellRequest::Run {
        command: "echo one; read x <go; echo two".to_owned(),
        timeout_ms: 20_000,
    };
    let go = desk.home.path().join("go");
    let (output, ()) = tokio::join!(
        desk.shell
            .perform(request, on_output, CancellationToken::new()),
        async {
            arrived.await.unwrap();
            tokio::task::spawn_blocking(move || std::fs::write(go, "x\n").unwrap())
                .await
                .unwrap();
        }
    );
    assert_eq!(output.unwrap().output, "one\ntwo\n");
    assert!(seen.lock().unwrap().starts_with(b"one\n"));
}
