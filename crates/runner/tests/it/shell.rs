//! The persistent shell, with a real bash.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use deskhand_core::{
    shell::{ShellEnding, ShellOutput, ShellRequest},
    tasks::Tasks,
};
use deskhand_runner::shell::{OnOutput, Shell, ShellConfig, ShellError};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A shell in a home of its own. Everything ends with it.
struct Desk {
    shell: Shell,
    home: TempDir,
    tasks: Tasks,
}

impl Desk {
    fn open() -> Self {
        Self::open_with_output(64 * 1024)
    }

    fn open_with_output(output_bytes: usize) -> Self {
        let home = tempfile::tempdir().unwrap();
        let tasks = Tasks::default();
        let config = ShellConfig {
            home: home.path().canonicalize().unwrap(),
            display: ":77".to_owned(),
            output_bytes,
        };
        Self {
            shell: Shell::start(config, &tasks).unwrap(),
            home,
            tasks,
        }
    }

    fn home(&self) -> String {
        self.home
            .path()
            .canonicalize()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    }

    async fn run(&self, command: &str) -> ShellOutput {
        self.run_for(command, 30_000).await
    }

    async fn run_for(&self, command: &str, timeout_ms: u64) -> ShellOutput {
        let request = ShellRequest::Run {
            command: command.to_owned(),
            timeout_ms,
        };
        self.perform(request).await.unwrap()
    }

    async fn perform(&self, request: ShellRequest) -> Result<ShellOutput, ShellError> {
        self.shell
            .perform(request, silent(), CancellationToken::new())
            .await
    }

    /// The output of a command that must succeed.
    async fn text(&self, command: &str) -> String {
        let output = self.run(command).await;
        assert_eq!(
            output.ending,
            ShellEnding::Exited { code: 0 },
            "{command}: {output:?}"
        );
        output.output
    }

    /// Waits for a process of this shell to come to an end, or to be there.
    async fn until(&self, command: &str) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.run(command).await.ending != (ShellEnding::Exited { code: 0 }) {
            assert!(Instant::now() < deadline, "{command} stays false");
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.tasks.shutdown().cancel();
    }
}

fn silent() -> OnOutput {
    Arc::new(|_| {})
}

fn exited(code: i32) -> ShellEnding {
    ShellEnding::Exited { code }
}

#[tokio::test]
async fn output_exit_code_and_directory_come_back() {
    let desk = Desk::open();
    let output = desk.run("echo hi; echo there >&2; false").await;
    assert_eq!(
        output,
        ShellOutput {
            output: "hi\nthere\n".to_owned(),
            omitted_bytes: 0,
            ending: exited(1),
            cwd: desk.home(),
        }
    );
}

#[tokio::test]
async fn state_stays_between_commands() {
    let desk = Desk::open();
    desk.run(
        "mkdir sub; cd sub; colour=green; greet() { echo \"hello $1\"; }; declare -a list=(a b)",
    )
    .await;
    assert_eq!(
        desk.text("greet $colour; echo ${list[1]}; pwd").await,
        format!("hello green\nb\n{}/sub\n", desk.home())
    );
    desk.run("(exit 7)").await;
    assert_eq!(desk.run("echo $?").await.output, "7\n");
}

#[tokio::test]
async fn the_environment_is_as_promised() {
    let desk = Desk::open();
    let text = desk
        .text("echo $HOME $DISPLAY $TERM $LANG ${PATH%%:*}; cat")
        .await;
    assert_eq!(
        text,
        format!("{} :77 dumb C.UTF-8 /run/deskhand/bin\n", desk.home())
    );
}

#[tokio::test]
async fn commands_do_not_see_the_private_descriptors() {
    let desk = Desk::open();
    let inherited = std::fs::read_dir("/proc/self/fdinfo")
        .unwrap()
        .filter_map(|entry| {
            let entry = entry.unwrap();
            let info = std::fs::read_to_string(entry.path()).ok()?;
            let flags = info
                .lines()
                .find_map(|line| line.strip_prefix("flags:"))?
                .trim();
            let is_private = u32::from_str_radix(flags, 8).unwrap() & 0o2_000_000 != 0;
            (!is_private).then(|| entry.file_name().into_string().unwrap())
        });
    let mut expected: Vec<String> = inherited
        .chain(["0", "1", "2", "3"].map(str::to_owned))
        .collect();
    expected.sort_unstable();
    expected.dedup();
    // The directory that is listed is itself open, under the first free number.
    let text = desk.text("ls -U /proc/self/fd | sort").await;
    let seen: Vec<&str> = text.lines().collect();
    assert!(
        seen.iter()
            .all(|number| expected.iter().any(|known| known == number)),
        "{seen:?} {expected:?}"
    );
}

#[tokio::test]
async fn awkward_commands_leave_the_shell_usable() {
    let desk = Desk::open();
    for (command, code, shown) in [
        ("echo \"", 2, "unexpected EOF"),
        (
            "if fi",
            2,
            "line 1: syntax error near unexpected token `fi'",
        ),
        ("echo ok\nnope", 127, "line 2: nope: command not found"),
        ("cat <<EOF\nheld $((1+1))\nEOF", 0, "held 2"),
        (
            "printf 'a\\0b'; printf '%s 0 /\\0' 0123456789abcdef",
            0,
            "0123456789abcdef 0 /",
        ),
        ("break", 0, ""),
        ("break 2", 0, ""),
        ("continue 3", 0, ""),
        ("return 3", 2, "can only `return'"),
        ("read line; echo \"got $? $line\"", 0, "got 1"),
        (
            "exec 3>&1 4>&2 10>ten 11>eleven 12>twelve 13>thirteen 88>a 89>b 0</etc/passwd",
            0,
            "",
        ),
        (
            "trap 'echo bye' EXIT; trap '' TERM; trap 'echo dbg >/dev/null' DEBUG",
            0,
            "",
        ),
        ("trap - DEBUG", 0, ""),
        (
            "IFS=x TMOUT=1; set -u -f -C; shopt -s expand_aliases nullglob; alias read=false",
            0,
            "",
        ),
        (
            "read() { echo mine; }; printf() { echo mine; }; eval() { echo mine; }; exec 1>&1",
            0,
            "",
        ),
        ("cd /tmp; unset PWD", 0, ""),
        ("# nothing but a comment", 0, ""),
        ("", 0, ""),
    ] {
        let output = desk.run(command).await;
        assert_eq!(output.ending, exited(code), "{command}: {output:?}");
        assert!(output.output.contains(shown), "{command}: {output:?}");
        let echo = desk.run("echo still here").await;
        assert_eq!(
            (echo.output.as_str(), echo.ending),
            ("still here\n", exited(0)),
            "after {command}"
        );
    }
}

#[tokio::test]
async fn tracing_shows_the_command_and_nothing_of_ours() {
    let desk = Desk::open();
    assert_eq!(desk.text("set -x; echo a").await, "++ echo a\na\n");
    assert_eq!(desk.text("echo b").await, "++ echo b\nb\n");
    desk.run("set +x").await;
    assert_eq!(desk.text("echo c").await, "c\n");
}

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
    let deadline = Instant::now() + Duration::from_secs(5);
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
    // Under `set -e` the end of the program is the end of the shell.
    let output = desk.run_for("set -e; sleep 100; echo after", 100).await;
    let ending = ShellEnding::TimedOutWithShell { after_ms: 100 };
    assert_eq!((output.output.as_str(), output.ending), ("", ending));
    let started = Instant::now();
    let output = desk.run_for("trap '' INT; while :; do :; done", 100).await;
    assert_eq!(
        output.ending,
        ShellEnding::TimedOutWithShell { after_ms: 100 }
    );
    assert!(started.elapsed() < Duration::from_secs(4));
    assert_eq!(output.cwd, "/usr");
    assert_eq!(desk.text("echo ${lost-gone}; pwd").await, "gone\n/usr\n");
}

#[tokio::test]
async fn background_jobs_go_on_and_hold_nothing_up() {
    let desk = Desk::open();
    let started = Instant::now();
    desk.run("mkfifo go; (read x <go; echo late; exec sleep 300) & job=$!")
        .await;
    desk.run("sleep 301 &").await;
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(
        desk.run_for("sleep 100", 100).await.ending,
        ShellEnding::TimedOut { after_ms: 100 }
    );
    assert_eq!(desk.text("jobs -rp | wc -l").await, "2\n");
    // What a job writes between two commands stands before the next command's output.
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
async fn long_commands_arrive_whole() {
    let desk = Desk::open();
    let long = "ä".repeat(200_000);
    assert_eq!(
        desk.text(&format!("x='{long}'; echo ${{#x}}")).await,
        "200000\n"
    );
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
    let output = desk.perform(ShellRequest::Restart).await.unwrap();
    assert_eq!(
        output,
        ShellOutput {
            output: String::new(),
            omitted_bytes: 0,
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
    assert!(desk.tasks.end(Duration::from_secs(5)).await);
    for pid in pids.split_whitespace() {
        let deadline = Instant::now() + Duration::from_secs(5);
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

#[tokio::test]
async fn impossible_requests_are_refused() {
    let desk = Desk::open();
    let nul = ShellRequest::Run {
        command: "echo \0".to_owned(),
        timeout_ms: 1_000,
    };
    assert!(matches!(desk.perform(nul).await, Err(ShellError::Nul)));
    for timeout_ms in [0, 1_800_001] {
        let request = ShellRequest::Run {
            command: "echo".to_owned(),
            timeout_ms,
        };
        assert!(matches!(
            desk.perform(request).await,
            Err(ShellError::BadTimeout(_))
        ));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_trip_is_quick() {
    let desk = Desk::open();
    desk.run("echo warm").await;
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..200 {
        let started = Instant::now();
        assert_eq!(desk.run("echo hi").await.output, "hi\n");
        times.push(started.elapsed());
    }
    times.sort_unstable();
    let median = times[times.len() / 2];
    // Far above what it takes on an idle machine, so that a busy one does not fail.
    assert!(median < Duration::from_millis(20), "{median:?}");
}
