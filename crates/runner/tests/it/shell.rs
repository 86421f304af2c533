//! The persistent shell, with a real bash.

mod desk;
mod endings;
mod output;

use deskhand_core::shell::{ShellOutput, ShellRequest};
use deskhand_runner::shell::ShellError;

use self::desk::{Desk, exited};

#[tokio::test]
async fn output_exit_code_and_directory_come_back() {
    let desk = Desk::open();
    let output = desk.run("echo hi; echo there >&2; false").await;
    assert_eq!(
        output,
        ShellOutput {
            output: "hi\nthere\n".to_owned(),
            omitted_bytes: 0,
            file: None,
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
        .chain(["0", "1", "2"].map(str::to_owned))
        .collect();
    // The listed directory is itself open, under the first free number.
    let is_free = |number: &String| !expected.contains(number);
    let first_free = (0..).map(|number| number.to_string()).find(is_free);
    expected.extend(first_free);
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
async fn long_commands_arrive_whole() {
    let desk = Desk::open();
    let long = "ä".repeat(200_000);
    assert_eq!(
        desk.text(&format!("x='{long}'; echo ${{#x}}")).await,
        "200000\n"
    );
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
