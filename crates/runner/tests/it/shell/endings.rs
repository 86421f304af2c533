//! Commands and shells that end early.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use deskhand_core::shell::{ShellEnding, ShellOutput, ShellRequest};
use deskhand_runner::shell::{OnOutput, ShellError};
use tokio_util::sync::CancellationToken;

use super::desk::{Desk, silent};

#[tokio::test]
async fn a_command_that_ends_the_shell_is_told_as_that() {
    let desk = Desk::open();
    for (command, code, shown) in [
        ("x=1; echo out; exit 3", 3, "out\n"),
        ("set -e; false; echo not reached", 1, ""),
        ("exec ls /nonexistent 2>/dev/null", 2, ""),
        ("kill -9 $$", 137, ""),
        ("trap 'echo bye' EXIT; exit", 0, "bye\n"),
    ] {
        let output = desk.run(command).await;
        assert_eq!(output.ending, ShellEnding::ShellEnded { code }, "{command}");
        assert_eq!(output.output, shown, "{command}");
        assert_eq!(desk.text("echo \"new ${x-shell}\"").await, "new shell\n");
    }
    desk.run("cd /usr").await;
    assert_eq!(desk.run("exit 1").await.cwd, "/usr");
    assert_eq!(desk.text("pwd").await, "/usr\n");
}

#[tokio::test]
async fn a_shell_that_died_between_commands_is_replaced_and_that_is_told() {
    let desk = Desk::open();
    let pid = desk.text("echo $$").await;
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while rustix::process::test_kill_process(pid).is_ok() && Instant::now() < deadline {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        if stat.is_ok_and(|stat| stat.contains(") Z ")) {
            break;
        }
        tokio::task::yield_now().await;
    }
    let request = ShellRequest::Run {
        command: "echo not run".to_owned(),
        timeout_ms: 5_000,
    };
    let error = desk.perform(request).await.unwrap_err();
    assert!(matches!(error, ShellError::Died { code: 137 }), "{error}");
    assert_eq!(desk.text("echo back").await, "back\n");
}

#[tokio::test]
async fn a_time_out_gives_up_the_whole_command_and_keeps_the_shell() {
    let desk = Desk::open();
    std::fs::write(desk.home.path().join("slow.sh"), "sleep 100; echo sourced").unwrap();
    desk.run("kept=yes; slow() { sleep 100; echo in slow; }; nested() { while :; do slow; done; }")
        .await;
    for command in [
        "sleep 100; echo after",
        "sleep 100\necho after",
        "for i in 1 2 3; do sleep 100; done; echo after",
        "while :; do :; done; echo after",
        "slow",
        "slow; echo after",
        "nested; echo after",
        "for i in 1 2; do nested; done; echo after",
        "(sleep 100; echo sub); echo after",
        "sleep 100 | cat; echo after",
        "x=$(sleep 100); echo after",
        "sleep 100 || echo after",
        "bash -c 'sleep 100; echo inner'; echo after",
        ". ./slow.sh; echo after",
        "for i in 1 2; do slow; done",
        "for ((i = 0; i < 3; i++)); do for b in 1 2; do slow; done; done; echo after",
        "if slow; then echo yes; else echo no; fi; echo after",
        "sleep 100 & wait; echo after",
    ] {
        let output = desk.run_for(command, 100).await;
        assert_eq!(
            output.ending,
            ShellEnding::TimedOut { after_ms: 100 },
            "{command}"
        );
        assert_eq!(output.output, "", "{command}");
    }
    assert_eq!(desk.text("echo $kept $(jobs -rp | wc -l)").await, "yes 1\n");
}

#[tokio::test]
async fn stubborn_programs_are_ended_in_the_end() {
    let desk = Desk::open();
    desk.run("kept=yes").await;
    let stubborn = "python3 -c \"import signal, time
for s in (signal.SIGINT, signal.SIGTERM): signal.signal(s, lambda *a: None)
print('ready', flush=True)
while True: time.sleep(100)\"; echo after";
    let output = desk.run_for(stubborn, 500).await;
    assert_eq!(
        output.ending,
        ShellEnding::TimedOut { after_ms: 500 },
        "{output:?}"
    );
    assert!(!output.output.contains("after"), "{output:?}");
    assert_eq!(desk.text("echo $kept").await, "yes\n");
}

#[tokio::test]
async fn when_nothing_helps_the_shell_is_ended_too() {
    let desk = Desk::open();
    desk.run("cd /usr; lost=yes").await;
    // Under `set -e`, the end of the program is the end of the shell.
    let output = desk.run_for("set -e; sleep 100; echo after", 100).await;
    let ending = ShellEnding::TimedOutWithShell { after_ms: 100 };
    assert_eq!((output.output.as_str(), output.ending), ("", ending));
    let output = desk.run_for("trap '' INT; while :; do :; done", 100).await;
    assert_eq!(
        output.ending,
        ShellEnding::TimedOutWithShell { after_ms: 100 }
    );
    assert_eq!(output.cwd, "/usr");
    assert_eq!(desk.text("echo ${lost-gone}; pwd").await, "gone\n/usr\n");
}

#[tokio::test]
async fn a_stop_interrupts_the_command_and_keeps_the_shell() {
    let desk = Desk::open();
    desk.run("kept=yes").await;
    let stop = CancellationToken::new();
    let stopper = stop.clone();
    let on_output: OnOutput = Arc::new(move |_| stopper.cancel());
    let request = ShellRequest::Run {
        command: "echo begun; sleep 100; echo after".to_owned(),
        timeout_ms: 60_000,
    };
    let output = desk
        .shell
        .perform(request.clone(), on_output, stop.clone())
        .await
        .unwrap();
    assert_eq!(
        (output.output.as_str(), output.ending),
        ("begun\n", ShellEnding::Interrupted)
    );
    assert_eq!(desk.text("echo $kept").await, "yes\n");
    let error = desk
        .shell
        .perform(request, silent(), stop)
        .await
        .unwrap_err();
    assert!(matches!(error, ShellError::Cancelled));
}

#[tokio::test]
async fn a_restart_ends_everything_and_begins_at_home() {
    let desk = Desk::open();
    let job = desk.text("cd /usr; lost=yes; sleep 300 & echo $!").await;
    let ending = desk.run_for("sleep 100", 100).await.ending;
    assert_eq!(ending, ShellEnding::TimedOut { after_ms: 100 });
    let output = desk.perform(ShellRequest::Restart).await.unwrap();
    assert_eq!(
        output,
        ShellOutput {
            output: String::new(),
            omitted_bytes: 0,
            file: None,
            ending: ShellEnding::Restarted,
            cwd: desk.home(),
        }
    );
    assert_eq!(
        desk.text("echo ${lost-gone}; pwd").await,
        format!("gone\n{}\n", desk.home())
    );
    desk.until(&format!("! kill -0 {job}")).await;
}

#[tokio::test]
async fn nothing_is_left_when_the_shell_is_closed() {
    let desk = Desk::open();
    let pids = desk.text("sleep 300 & echo $$ $!").await;
    assert!(desk.tasks.end(Duration::from_secs(60)).await);
    for pid in pids.split_whitespace() {
        let deadline = Instant::now() + Duration::from_secs(60);
        let lives = || {
            std::fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|stat| !stat.contains(") Z "))
        };
        while lives() {
            assert!(Instant::now() < deadline, "{pid} lives");
            tokio::task::yield_now().await;
        }
    }
}
