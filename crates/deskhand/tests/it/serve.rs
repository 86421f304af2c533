//! `deskhand serve` and `deskhand login`.

use std::{
    fs::Permissions, io::ErrorKind, net::TcpListener, os::unix::fs::PermissionsExt, path::Path,
};

use rustix::process::Signal;

use crate::program::{Place, Started};

const ANY_PORT: &str = "127.0.0.1:0";

/// Starts a server and waits until it says where to look.
fn serve(place: &Place) -> (Started, String) {
    let server = place.start(&["serve", "--listen", ANY_PORT]);
    let line = server.says("Open");
    let page = line.split_whitespace().nth(1).unwrap().to_owned();
    (server, page)
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_server_says_where_to_look_and_clears_up_behind_it() {
    let place = Place::new();
    let (server, page) = serve(&place);
    let file = |name: &str| place.data_dir().join(name);
    assert!(page.starts_with("http://localhost:"), "{page}");
    for name in ["admin-token", "deskhand.db", "server.json", "server.sock"] {
        assert_eq!(mode(&file(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&place.data_dir()), 0o700);

    server.signal(Signal::TERM);
    let ended = server.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!file("server.json").exists() && !file("server.sock").exists());
    // What is no terminal keeps its lines, and a sign-in link is for one person.
    assert!(
        page.strip_prefix("http://localhost:")
            .unwrap()
            .parse::<u16>()
            .is_ok()
    );
    let printed = format!("{}{}", ended.stdout, ended.stderr);
    assert!(!printed.contains("code="), "{printed}");
    assert!(printed.contains("`deskhand login`"), "{printed}");
}

#[test]
fn what_others_may_read_is_taken_from_them() {
    let place = Place::new();
    let (server, _page) = serve(&place);
    server.signal(Signal::TERM);
    server.end();
    let open = |name: &str, mode: u32| {
        let path = place.data_dir().join(name);
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    };
    let files = [open("deskhand.db", 0o644), open("admin-token", 0o664)];
    let folder = open("", 0o755);
    let (server, _page) = serve(&place);
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(files.each_ref().map(|file| mode(file)), [0o600; 2]);
    server.signal(Signal::TERM);
    server.end();

    std::fs::write(place.data_dir().join("letter"), "").unwrap();
    open("", 0o755);
    let refused = place.run(&["serve", "--listen", ANY_PORT]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("chmod 700"), "{}", refused.stderr);
}

#[test]
fn plain_http_beyond_this_machine_must_be_asked_for() {
    let everywhere = ["serve", "--listen", "0.0.0.0:0"];
    let refused = Place::new().run(&everywhere);
    assert_eq!(refused.code, Some(1));
    for way_out in ["127.0.0.1", "https://", "allow_plain_http"] {
        assert!(refused.stderr.contains(way_out), "{}", refused.stderr);
    }
    for (name, value) in [
        ("DESKHAND_ALLOW_PLAIN_HTTP", "true"),
        ("DESKHAND_PUBLIC_URL", "https://desk.example"),
    ] {
        let server = Place::new().with(name, value).start(&everywhere);
        server.says("Open");
        server.signal(Signal::TERM);
        assert_eq!(server.end().code, Some(0));
    }
}

#[test]
fn login_prints_a_new_link() {
    let place = Place::new();
    let (server, page) = serve(&place);
    let login = || {
        let ended = place.run(&["login"]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout.trim().to_owned()
    };
    let (first, second) = (login(), login());
    let code = |link: &str| {
        link.strip_prefix(&*page)
            .unwrap()
            .split_once("code=")
            .unwrap()
            .1
            .to_owned()
    };
    assert_ne!(code(&first), code(&second));
    server.ctrl_c();
    assert_eq!(server.end().code, Some(0));
}

#[test]
fn login_without_a_server_says_how_to_start_one() {
    let place = Place::new();
    let ended = place.run(&["login"]);
    assert_eq!(ended.code, Some(1));
    insta::assert_snapshot!(place.neutral(&ended.stderr), @"deskhand: no server is running with the data folder HOME/.local/share/deskhand; start one with `deskhand serve`");
}

#[test]
fn a_named_server_needs_a_token_and_must_answer() {
    let place = Place::new();
    let no_token = place.run(&["login", "--server", "http://127.0.0.1:9"]);
    insta::assert_snapshot!(no_token.stderr, @"deskhand: a server was given without a token; set DESKHAND_TOKEN to one of its tokens");
    let place = place.with("DESKHAND_TOKEN", "dh_x");
    let no_answer = place.run(&["login", "--server", "http://127.0.0.1:9"]);
    let (what, _cause) = no_answer.stderr.split_once("9:").unwrap();
    insta::assert_snapshot!(what, @"deskhand: cannot reach the server at http://127.0.0.1:");
    let no_address = place.run(&["login", "--server", "localhost"]);
    insta::assert_snapshot!(no_address.stderr, @r#"deskhand: "localhost" is not the address of a server; write one such as https://desk.example or http://localhost:7878"#);
    assert_eq!(
        (no_token.code, no_answer.code, no_address.code),
        (Some(1), Some(1), Some(1))
    );
}

#[test]
fn a_server_that_was_killed_is_not_believed_in() {
    let place = Place::new();
    let (server, page) = serve(&place);
    server.signal(Signal::KILL);
    assert_eq!(server.end().code, None);
    assert!(place.data_dir().join("server.json").exists());

    // Whoever listens at its address now is sent nothing, least of all the token.
    let port = page.rsplit_once(':').unwrap().1;
    let stranger = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    stranger.set_nonblocking(true).unwrap();
    for command in ["login", "decisions"] {
        let ended = place.run(&[command]);
        assert!(
            ended.stderr.contains("no server is running"),
            "{}",
            ended.stderr
        );
    }
    let heard = stranger.accept().map_err(|error| error.kind());
    assert_eq!(heard.map(|_| ()), Err(ErrorKind::WouldBlock));
    drop(stranger);

    let (server, _link) = serve(&place);
    assert_eq!(
        place.run(&["login"]).code,
        Some(0),
        "the token is good for the next server"
    );
    server.signal(Signal::TERM);
    assert_eq!(server.end().code, Some(0));
}

#[test]
fn a_port_in_use_is_named_with_the_way_out() {
    let taken = TcpListener::bind(ANY_PORT).unwrap();
    let address = taken.local_addr().unwrap();
    let ended = Place::new().run(&["serve", "--listen", &address.to_string()]);
    assert_eq!(ended.code, Some(1));
    let message = ended.stderr.replace(&address.port().to_string(), "PORT");
    insta::assert_snapshot!(message, @"deskhand: port PORT on 127.0.0.1 is in use by another program; choose another with --listen 127.0.0.1:PORT, or stop that program");
}

#[test]
fn two_servers_never_share_a_data_folder() {
    let place = Place::new();
    let (server, _link) = serve(&place);
    let second = place.run(&["serve", "--listen", ANY_PORT]);
    assert_eq!(second.code, Some(1));
    assert!(
        second.stderr.contains("another server (process "),
        "{}",
        second.stderr
    );
    assert!(
        place.data_dir().join("server.json").exists(),
        "the first one's note stays"
    );
    server.signal(Signal::TERM);
    assert_eq!(server.end().code, Some(0));
}

#[test]
fn two_servers_never_share_a_database_file() {
    let folder = tempfile::tempdir().unwrap();
    let database = format!("sqlite://{}/shared.db", folder.path().display());
    one_server_at_a_time(&database);
}

#[tokio::test]
async fn two_servers_never_share_a_postgres_database() {
    let name = format!("one_server_{}", std::process::id());
    let database = deskhand_testkit::new_postgres_database(&name).await;
    tokio::task::spawn_blocking(move || one_server_at_a_time(&database))
        .await
        .unwrap();
}

/// Two data folders name one database: the second server is told who uses it. After `kill -9` of the first one, the
/// second starts at once.
fn one_server_at_a_time(database: &str) {
    let place = || Place::new().with("DESKHAND_DATABASE", database);
    let (first, second) = (place(), place());
    let (server, _link) = serve(&first);
    let refused = second.run(&["serve", "--listen", ANY_PORT]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    for part in [
        "another server uses the database",
        "(process ",
        "started at ",
        "stop that server first, or choose another database with --database",
    ] {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }

    server.signal(Signal::KILL);
    assert_eq!(server.end().code, None);
    let (server, _link) = serve(&second);
    server.signal(Signal::TERM);
    assert_eq!(server.end().code, Some(0));
    let (server, _link) = serve(&first);
    server.signal(Signal::TERM);
    assert_eq!(server.end().code, Some(0));
}
