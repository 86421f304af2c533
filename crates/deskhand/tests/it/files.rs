//! Files with real sandboxes: `deskhand cp`, archives, and deaths in the middle of transfers.

use std::{
    io::Read,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    time::Duration,
};

use bytes::Bytes;
use deskhand_testkit::{Server, Session, eventually, processes_with_mount};
use futures::{StreamExt, channel::mpsc};
use reqwest::{Body, Method, Response};
use tokio::task::JoinSet;

use crate::{
    program::{Ended, Place},
    world::serve,
};

/// The piece of a slow upload, and the number of pieces: more than fits between the client and the disk.
const PIECE: &[u8] = &[7; 256 * 1024];
const N_PIECES: usize = 64;

async fn session(server: &Server) -> Session {
    let session = server.client().new_plain_session("scripted/demo").await;
    session.shell("true").await;
    session
}

fn cp(server: &Server, from: &str, to: &str) -> Ended {
    let data = server.data_dir();
    Place::new().run(&["--data-dir", data.to_str().unwrap(), "cp", from, to])
}

fn good(ended: Ended) -> String {
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    ended.stdout + &ended.stderr
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

async fn get(session: &Session, path: &str) -> Response {
    let path = session.path(&format!("/files/{path}"));
    session.client.request(Method::GET, &path, &[], "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_are_copied_both_ways() {
    let server = serve(&[]);
    let session = session(&server).await;
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("box");
    std::fs::create_dir_all(source.join("deep/empty")).unwrap();
    std::fs::write(source.join("a.txt"), "text").unwrap();
    std::fs::write(source.join("deep/run.sh"), "#!/bin/sh\necho ran\n").unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(source.join("deep/run.sh"), executable).unwrap();
    symlink("/etc/passwd", source.join("link")).unwrap();

    let remote = format!("{}:", session.id);
    let said = good(cp(&server, source.to_str().unwrap(), &remote));
    assert!(
        said.contains("1 link or other special file was left out"),
        "{said}"
    );
    let seen = session
        .shell("cd ~/box; ./deep/run.sh; cat a.txt; ls -d deep/empty; test -x a.txt || echo plain")
        .await;
    assert_eq!(seen.trim(), "ran\ntextdeep/empty\nplain");

    // Back again, with something that the desktop cannot read.
    session
        .shell("cd ~/box; echo hidden > secret; chmod 000 secret; ln -s a.txt link")
        .await;
    let target = place.path().join("back");
    let said = good(cp(
        &server,
        &format!("{remote}box"),
        target.to_str().unwrap(),
    ));
    assert!(said.contains("1 link was left out"), "{said}");
    // Root reads everything.
    let is_root = session.shell("cat ~/box/secret").await.contains("hidden");
    assert_eq!(
        said.contains("no permission for /home/agent/box/secret"),
        !is_root,
        "{said}"
    );
    assert_eq!(std::fs::read(target.join("a.txt")).unwrap(), b"text");
    assert_eq!(mode(&target.join("deep/run.sh")) & 0o100, 0o100);
    assert_eq!(mode(&target.join("a.txt")) & 0o111, 0);
    assert!(target.join("deep/empty").is_dir());
    assert!(!target.join("link").exists());

    // Single files, and one that is not there.
    let one = place.path().join("one.txt");
    good(cp(
        &server,
        &format!("{remote}box/a.txt"),
        one.to_str().unwrap(),
    ));
    assert_eq!(std::fs::read(&one).unwrap(), b"text");
    let missing = cp(&server, &format!("{remote}nothing"), one.to_str().unwrap());
    assert_ne!(missing.code, Some(0));
    assert_eq!(std::fs::read(&one).unwrap(), b"text");
    session.terminate().await;
}

#[tokio::test]
async fn a_folder_is_downloaded_as_an_archive() {
    let server = serve(&[]);
    let session = session(&server).await;
    session
        .shell("mkdir -p ~/box; echo text > ~/box/a.txt; touch \"$(printf '/home/agent/box/raw\\xff')\"")
        .await;
    let answer = get(&session, "~/box?archive=tar.gz").await;
    assert_eq!(answer.headers()["content-type"], "application/gzip");
    let disposition = answer.headers()["content-disposition"].to_str().unwrap();
    assert!(disposition.contains("box.tar.gz"), "{disposition}");
    let packed = answer.bytes().await.unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&packed[..]));
    let mut entries = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = String::new();
        entry.read_to_string(&mut content).unwrap();
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        entries.push((name, content));
    }
    let entries: Vec<(&str, &str)> = entries
        .iter()
        .map(|(name, content)| (name.as_str(), content.as_str()))
        .collect();
    assert_eq!(
        entries,
        [
            ("box/", ""),
            ("box/a.txt", "text\n"),
            ("box/raw\u{fffd}", "")
        ]
    );
    session.terminate().await;
}

/// Begins an upload that goes on for as long as the sender lives, and waits until some of it is on its way.
async fn slow_upload(session: &Session, path: &str) -> (mpsc::Sender<Bytes>, JoinSet<()>) {
    let (mut sender, pieces) = mpsc::channel::<Bytes>(0);
    let body = Body::wrap_stream(pieces.map(Ok::<_, std::io::Error>));
    let path = session.path(&format!("/files/{path}"));
    let client = session.client.clone();
    // It ends with an error when the server or the desktop dies.
    let mut upload = JoinSet::new();
    upload.spawn(async move {
        let _ = client.try_request(Method::PUT, &path, body).await;
    });
    for _ in 0..N_PIECES {
        let sent = futures::SinkExt::send(&mut sender, Bytes::from_static(PIECE));
        sent.await.unwrap();
    }
    (sender, upload)
}

/// Returns the names of everything in a home but what the desktop itself puts there.
fn names(home: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(home).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names
        .filter(|name| name.contains("big") || name.contains("part"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_transfer_leaves_a_partial_file_when_a_process_is_killed() {
    let mut server = serve(&[]);
    let session = session(&server).await;
    let home = server.home_of(&session);
    let nothing = Vec::<String>::new();
    session.shell("head -c 200000000 /dev/zero > ~/large").await;

    // The desktop dies in the middle of an upload and of a download.
    let uploading = slow_upload(&session, "~/big.bin").await;
    let mut download = get(&session, "~/large").await;
    assert!(download.chunk().await.unwrap().is_some());
    assert_eq!(names(&home), nothing);
    let runner = processes_with_mount(&session.id);
    let runner = runner.iter().find(|(_, line)| line.contains(" runner"));
    deskhand_testkit::kill(runner.map(|(pid, _)| *pid).unwrap());
    assert!(
        broken(&mut download).await,
        "the download ended as if whole"
    );
    eventually("the desktop is gone", || {
        processes_with_mount(&session.id).is_empty()
    });
    assert_eq!(names(&home), nothing);
    drop(uploading);

    // The server dies in the middle of an upload, a download and a copy.
    session.shell("true").await;
    let uploading = slow_upload(&session, "~/big.bin").await;
    let mut download = get(&session, "~/large").await;
    assert!(download.chunk().await.unwrap().is_some());
    let place = tempfile::tempdir().unwrap();
    let copied = place.path().join("large");
    let data = server.data_dir();
    let own = Place::new();
    let copying = own.start(&[
        "--data-dir",
        data.to_str().unwrap(),
        "cp",
        &format!("{}:large", session.id),
        copied.to_str().unwrap(),
    ]);
    eventually("the copy has begun", || {
        std::fs::read_dir(place.path()).unwrap().count() > 0
    });
    server.kill();
    assert!(
        broken(&mut download).await,
        "the download ended as if whole"
    );
    let ended = copying.end();
    // It may have been quick.
    let is_whole = ended.code == Some(0);
    assert_eq!(copied.exists(), is_whole, "{}", ended.stderr);
    assert_eq!(
        std::fs::read_dir(place.path()).unwrap().count(),
        usize::from(is_whole)
    );
    eventually("the desktop is gone", || {
        processes_with_mount(&session.id).is_empty()
    });
    assert_eq!(names(&home), nothing);
    drop(uploading);

    server.start_again();
    let session = server.client().session(&session.id);
    assert_eq!(
        session.shell("ls ~ | grep big; echo none").await.trim(),
        "none"
    );
    session.terminate().await;
}

/// Reads on, and returns true if the answer broke off.
async fn broken(download: &mut Response) -> bool {
    let rest = async {
        loop {
            match download.chunk().await {
                Ok(Some(_)) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    };
    let rest = tokio::time::timeout(Duration::from_secs(60), rest).await;
    rest.unwrap()
}
