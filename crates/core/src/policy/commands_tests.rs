use super::*;

fn read(text: &str) -> Vec<Command> {
    split(text, &Fuel::for_text(text))
}

fn texts(text: &str) -> Vec<String> {
    let commands = read(text);
    let all = commands.iter().flat_map(Command::with_inner);
    all.map(|command| command.text.clone()).collect()
}

fn words(text: &str) -> Vec<String> {
    read(text).remove(0).words().to_vec()
}

#[test]
fn commands_are_told_apart() {
    assert_eq!(texts("ls"), ["ls"]);
    assert_eq!(texts("a && b; c | d &\ne"), ["a", "b", "c", "d", "e"]);
    assert_eq!(texts("echo 'a; b' \"c | d\""), ["echo 'a; b' \"c | d\""]);
    assert_eq!(texts("make 2>&1 &>log"), ["make 2>&1 &>log"]);
    assert_eq!(texts("(cd a; b)"), ["cd a", "b"]);
    assert_eq!(
        texts("echo \"$(rm x) `y`\""),
        ["echo \"$(rm x) `y`\"", "rm x", "y"]
    );
    assert_eq!(texts("a\\;b )) c"), ["a\\;b", "c"]);
    assert_eq!(texts("a # b; c\nd"), ["a", "d"]);
    assert_eq!(texts("{ a; b; } | c"), ["a", "b", "c"]);
    assert_eq!(
        texts("diff <(a) <(b | c)"),
        ["diff <(a) <(b | c)", "a", "b", "c"]
    );
    assert_eq!(
        texts("x $((1 << 2)) ${y:-$(z)}"),
        ["x $((1 << 2)) ${y:-$(z)}", "z"]
    );
    assert_eq!(texts(" \n "), [""; 0]);
}

#[test]
fn here_documents_are_data_unless_a_shell_reads_them() {
    let text = "cat > a <<'END' && b\nsudo x\nEND\nc";
    assert_eq!(texts(text), ["cat > a <<'END'", "b", "c"]);
    let text = "bash -s <<-END\n\tsudo x\n\tEND\nc";
    assert_eq!(texts(text), ["bash -s <<-END", "sudo x", "c"]);
    let text = "cat <<END\n$(sudo x) 'y'\nEND";
    assert_eq!(texts(text), ["cat <<END", "sudo x"]);
    assert_eq!(read("cat <<< 'a b'")[0].documents, ["a b"]);
}

#[test]
fn words_are_what_a_shell_would_make_of_them() {
    assert_eq!(words("'r'm \"a b\" c\\ d"), ["rm", "a b", "c d"]);
    assert_eq!(
        words("cp a{,.bak} {x,y}z > out"),
        ["cp", "a", "a.bak", "xz", "yz"]
    );
    assert_eq!(
        words("$'\\x6cs' $HOME \"${HOME}/a\" $OTHER"),
        ["ls", "/home/agent", "/home/agent/a", "$OTHER"]
    );
    let commands = read("X='git push'; $X -f");
    assert_eq!(commands[1].words(), ["git", "push", "-f"]);
}

#[test]
fn the_program_stands_behind_what_wraps_it() {
    for (text, program) in [
        ("rm x", "rm"),
        ("/bin/rm x", "rm"),
        ("A=1 B_2=x env -u C nohup rm x", "rm"),
        ("'r'm x", "rm"),
        ("then rm x", "rm"),
        ("timeout -k 5 30 nice -n 10 rm x", "rm"),
        ("xargs -0 -I {} -n1 rm {}", "rm"),
        ("command -v rm", "command"),
        ("A=1", ""),
    ] {
        assert_eq!(read(text)[0].program(), program, "{text}");
    }
}

#[test]
fn any_text_is_read_to_its_end() {
    for text in [
        "(((((((((((((((((((((((((((((( a",
        "$($($($($($($($($($($($($($($($(a",
        "'",
        "\"$(",
        "`",
        "<<",
        "<<<",
        "a <<X",
        "${",
        "$((",
        "))))}}",
        "{{{{,,,}",
        "\\",
        "$'",
        "$'\\x",
        "a\u{e000}b",
        ">(",
        "|||&&&;;;",
        "eval eval eval eval 'eval a'",
    ] {
        let _commands = texts(text);
    }
    let deep = [
        "bash <<A\n",
        "$(",
        "`",
        "(",
        "${x:-",
        "eval ",
        "sh|",
        "a;",
        "{a,b}",
    ];
    for part in deep {
        let _commands = texts(&part.repeat(20_000));
    }
}
