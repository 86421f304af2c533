use std::{
    ffi::OsStr,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
};

use bytes::Bytes;
use deskhand_core::{
    file::{
        FileKind, FilePath, FileStat, FileTransfer, FileWire, FromTransfer, ToTransfer,
        WriteCondition,
    },
    id::UserId,
    sandbox::{Actor, ByteStream, LeaseHolder},
};
use futures::{
    SinkExt,
    channel::mpsc::{Receiver, Sender},
};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{
    FileProblem, FileProblemKind as Kind, FileReply, FileRequest, perform_in,
    read::Reading,
    write::{Part, WriteEnd},
};
use crate::barrier::Barrier;

const ALWAYS: WriteEnd = WriteEnd {
    length: None,
    condition: WriteCondition::Always,
    is_executable: false,
};

fn home() -> (TempDir, String) {
    let folder = tempfile::Builder::new().prefix("home-").tempdir().unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    (folder, path)
}

fn perform(home: &str, request: &FileRequest) -> Result<FileReply, FileProblem> {
    perform_in(home, request, &CancellationToken::new())
}

fn path(text: &str) -> FilePath {
    text.parse().unwrap()
}

fn stat(home: &str, file: &str) -> Result<FileStat, FileProblem> {
    match perform(home, &FileRequest::Stat { path: path(file) })? {
        FileReply::Stat(stat) => Ok(stat),
        other @ (FileReply::Listing(_) | FileReply::Removed | FileReply::Refused(_)) => {
            panic!("{other:?}")
        }
    }
}

fn open(file: &str) -> Result<u64, Kind> {
    let reading = Reading::open(file, None, None);
    reading
        .map(|reading| reading.length)
        .map_err(|problem| problem.kind)
}

fn write(file: &str, pieces: &[&'static [u8]]) -> Result<(FileStat, bool), FileProblem> {
    let part = Part::begin(file, &WriteCondition::Always, None)?;
    let (sender, receiver) = mpsc::channel(pieces.len());
    for piece in pieces {
        sender.try_send(Bytes::from_static(piece)).unwrap();
    }
    drop(sender);
    part.take_all(receiver)?.finish(&ALWAYS)
}

#[test]
fn only_regular_files_are_read_and_written() {
    let (_folder, home) = home();
    let at = |name: &str| format!("{home}/{name}");
    std::fs::write(at("file"), "text").unwrap();
    symlink(at("file"), at("link")).unwrap();
    symlink("/proc/self/environ", at("process")).unwrap();
    symlink("/proc/self", at("folder_of_process")).unwrap();
    mknodat(
        CWD,
        at("pipe"),
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert_eq!(open(&at("file")), Ok(4));
    for (name, kind) in [
        ("link", Kind::NotAFile),
        ("process", Kind::NotAFile),
        // Nobody writes to the pipe, and this does not wait for anybody.
        ("pipe", Kind::NotAFile),
        ("folder_of_process/environ", Kind::Denied),
        ("", Kind::Folder),
        ("nothing", Kind::Missing),
        ("file/below", Kind::NotAFolder),
    ] {
        let file = at(name);
        let file = file.trim_end_matches('/');
        assert_eq!(open(file), Err(kind), "{name}");
        if kind != Kind::Missing {
            write(file, &[b"x"]).expect_err(name);
        }
    }
    for file in [
        "/proc/self/environ",
        "/proc/self/fd/0",
        "/sys/kernel/mm",
        "/dev/null",
        "/dev/tty",
    ] {
        assert!(open(file).is_err(), "{file}");
        assert!(write(file, &[b"x"]).is_err(), "{file}");
    }
    assert_eq!(std::fs::read(at("file")).unwrap(), b"text");
    assert_eq!(stat(&home, "~/link").unwrap().target, Some(at("file")));
    assert_eq!(stat(&home, "~/pipe").unwrap().kind, FileKind::Other);
}

#[test]
fn a_link_to_a_folder_is_followed_inside_a_path_but_cannot_be_listed() {
    let (_folder, home) = home();
    std::fs::create_dir(format!("{home}/real")).unwrap();
    std::fs::write(format!("{home}/real/a"), "text").unwrap();
    symlink("real", format!("{home}/short")).unwrap();
    assert_eq!(open(&format!("{home}/short/a")), Ok(4));
    let list = |path: FilePath| {
        let request = FileRequest::List {
            path,
            after: None,
            limit: 10,
        };
        perform(&home, &request)
    };
    assert_eq!(list(path("~/short")).unwrap_err().kind, Kind::NotAFolder);
    assert_eq!(list(path("/proc")).unwrap_err().kind, Kind::Denied);
    // Removing the link leaves the folder.
    let remove = FileRequest::Remove {
        path: path("~/short"),
        recursive: true,
        version: None,
    };
    assert_eq!(perform(&home, &remove).unwrap(), FileReply::Removed);
    assert_eq!(open(&format!("{home}/real/a")), Ok(4));
}

#[test]
fn a_link_does_not_lead_to_hidden_files() {
    let (_folder, home) = home();
    std::fs::create_dir_all(format!("{home}/.config/deep")).unwrap();
    std::fs::write(format!("{home}/.config/deep/cookies"), "text").unwrap();
    symlink(".config", format!("{home}/settings")).unwrap();
    assert_eq!(open(&format!("{home}/.config/deep/cookies")), Ok(4));
    for hidden in ["~/settings/deep", "~/settings/deep/cookies"] {
        let problem = stat(&home, hidden).unwrap_err();
        assert_eq!(problem.kind, Kind::Denied, "{problem:?}");
    }
    let list = FileRequest::List {
        path: path("~/settings/deep"),
        after: None,
        limit: 10,
    };
    assert_eq!(perform(&home, &list).unwrap_err().kind, Kind::Denied);
}

#[test]
fn a_replaced_file_keeps_its_mode_and_gets_another_version() {
    let (_folder, home) = home();
    let file = format!("{home}/script.sh");
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let before = stat(&home, "~/script.sh").unwrap();
    let (after, is_new) = write(&file, &[b"ne", b"w!"]).unwrap();
    assert!(!is_new && after.version != before.version);
    assert_eq!(std::fs::read(&file).unwrap(), b"new!");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn the_next_write_removes_files_of_a_killed_runner() {
    let (_folder, home) = home();
    let leftover = format!("{home}/.big.iso.0123456789abcdef-0.deskhand-part");
    std::fs::write(&leftover, "half").unwrap();
    let begun = Part::begin(&format!("{home}/a"), &WriteCondition::Always, None).unwrap();
    assert!(!std::fs::exists(&leftover).unwrap());
    // A file that is not complete has no name, and the kernel removes it whoever is killed.
    write(&format!("{home}/b"), &[b"text"]).unwrap();
    assert_eq!(names(&home), ["b"]);
    drop(begun);
    assert_eq!(names(&home), ["b"]);
}

fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn a_new_file_replaces_nothing_and_can_be_executable() {
    let (_folder, home) = home();
    let file = format!("{home}/tool.sh");
    let begin = |condition: &WriteCondition| Part::begin(&file, condition, None).unwrap();
    let end = |condition: WriteCondition| WriteEnd {
        length: Some(0),
        condition,
        is_executable: true,
    };
    let late = begin(&WriteCondition::Absent);
    let replacing = begin(&WriteCondition::Always);
    let first = begin(&WriteCondition::Absent).finish(&end(WriteCondition::Absent));
    assert!(first.unwrap().1);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o700, 0o700);
    let refused = late.finish(&end(WriteCondition::Absent)).unwrap_err();
    assert_eq!(refused.kind, Kind::Changed);
    assert!(!replacing.finish(&end(WriteCondition::Always)).unwrap().1);
    assert_eq!(names(&home), ["tool.sh"]);
}

#[test]
fn a_removal_stops_when_control_changes_hands() {
    let (_folder, home) = home();
    std::fs::create_dir_all(format!("{home}/box/deep/er")).unwrap();
    std::fs::write(format!("{home}/box/deep/a"), "text").unwrap();
    symlink("/etc", format!("{home}/box/link")).unwrap();
    let remove = FileRequest::Remove {
        path: path("~/box"),
        recursive: true,
        version: None,
    };
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let refused = perform_in(&home, &remove, &cancelled).unwrap_err();
    assert_eq!(refused.kind, Kind::Leased);
    assert_eq!(names(&format!("{home}/box")), ["deep", "link"]);
    assert_eq!(perform(&home, &remove).unwrap(), FileReply::Removed);
    assert_eq!(names(&home), Vec::<String>::new());
    assert!(std::fs::exists("/etc/passwd").unwrap());
}

/// Returns the two ends of a stream.
fn streams() -> (ByteStream, ByteStream) {
    let (to_far, from_near) = futures::channel::mpsc::channel(4);
    let (to_near, from_far) = futures::channel::mpsc::channel(4);
    let end = |outgoing: Sender<Bytes>, incoming: Receiver<Bytes>| ByteStream {
        incoming: Box::pin(incoming),
        outgoing: Box::pin(outgoing.sink_map_err(std::io::Error::other)),
    };
    (end(to_far, from_far), end(to_near, from_near))
}

#[tokio::test]
async fn control_is_confirmed_after_the_writes_of_others_have_ended() {
    let (_folder, home) = home();
    let barrier = Barrier::default();
    let (near, far) = streams();
    let passage = barrier.pass(Actor::Agent);
    let mut serving = JoinSet::new();
    serving.spawn(super::transfer::serve(FileWire::new(far), passage));
    let mut wire = FileWire::new(near);
    let write = FileTransfer::Write {
        path: path(&format!("{home}/a")),
        length: None,
        condition: WriteCondition::Always,
        is_executable: false,
    };
    wire.send_head(&ToTransfer::Begin(write)).await.unwrap();
    let writing: FromTransfer = wire.head().await.unwrap();
    assert!(matches!(writing, FromTransfer::Writing), "{writing:?}");
    wire.send_data(Bytes::from_static(b"half")).await.unwrap();
    // The end may be read before or after control changes hands. Either way it is decided when that is confirmed.
    wire.send_head(&ToTransfer::End).await.unwrap();
    let holder = LeaseHolder::Person(UserId::new());
    barrier.set_holder(holder).await;
    let confirmed = names(&home);
    serving.join_all().await;
    assert_eq!(names(&home), confirmed);
}

#[test]
fn an_archive_has_everything_but_devices_and_pipes() {
    let (_folder, home) = home();
    let at = |name: &str| format!("{home}/box/{name}");
    std::fs::create_dir_all(at("deep/er")).unwrap();
    std::fs::write(at("a.txt"), "text").unwrap();
    std::fs::write(at(&format!("deep/{}", "long".repeat(50))), vec![7; 700_000]).unwrap();
    symlink("/etc/passwd", at("link")).unwrap();
    symlink("/proc", at("kernel")).unwrap();
    mknodat(
        CWD,
        at("pipe"),
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let raw = OsStr::from_bytes(b"raw\xff");
    std::fs::write(std::path::Path::new(&at("")).join(raw), "raw").unwrap();
    let packing = super::archive::Packing::open(at("").trim_end_matches('/')).unwrap();
    let (sender, mut pieces) = mpsc::channel(1000);
    packing.send_all(&sender);
    drop(sender);
    let mut frames = deskhand_core::file::FrameReader::default();
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.blocking_recv() {
        frames.push(piece.unwrap());
        while let Some(deskhand_core::file::FileFrame::Data(data)) = frames.next_frame().unwrap() {
            bytes.extend_from_slice(&data);
        }
    }
    let gzip = flate2::read::GzDecoder::new(&bytes[..]);
    let mut archive = tar::Archive::new(gzip);
    let entries = archive.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        (name, entry.size(), entry.header().entry_type())
    });
    let entries: Vec<_> = entries.collect();
    let names: Vec<String> = entries
        .iter()
        .map(|(name, _, _)| name.replace("longlong", ""))
        .collect();
    assert_eq!(
        names,
        [
            "box/",
            "box/a.txt",
            "box/deep/",
            "box/deep/er/",
            "box/deep/",
            "box/kernel",
            "box/link",
            "box/raw\u{fffd}"
        ]
    );
    assert_eq!((entries[1].1, entries[4].1), (4, 700_000));
    assert!(entries[5].2.is_symlink(), "links are kept as links");
}
