//! Files in a real sandbox: what is refused, and what a killed runner leaves.

use std::path::Path;

use bytes::Bytes;
use deskhand_core::{
    file::{FileProblemKind, FileTransfer, FileWire, FromTransfer, ToTransfer, WriteCondition},
    id::SessionId,
    sandbox::{Actor, Sandbox, StreamTarget},
};
use deskhand_sandbox::providers::DiskQuota;

use crate::support::{World, example, run, said};

const MANY_BYTES: usize = 1_000_000;

async fn begin(sandbox: &dyn Sandbox, transfer: FileTransfer) -> (FileWire, FromTransfer) {
    let stream = sandbox
        .open(StreamTarget::File, Actor::Agent)
        .await
        .unwrap();
    let mut wire = FileWire::new(stream);
    wire.send_head(&ToTransfer::Begin(transfer)).await.unwrap();
    let head = wire.head().await.unwrap();
    (wire, head)
}

fn reading(path: &str) -> FileTransfer {
    FileTransfer::Read {
        path: path.parse().unwrap(),
        range: None,
        range_of: None,
    }
}

fn writing(path: &str) -> FileTransfer {
    FileTransfer::Write {
        path: path.parse().unwrap(),
        length: None,
        condition: WriteCondition::Always,
        is_executable: false,
    }
}

/// Returns the names of files that are being written.
fn parts(home: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(home).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names
        .filter(|name| name.ends_with(".deskhand-part"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_kernel_pipes_devices_and_links_are_refused() {
    let world = World::with(|config| config.runner = example("runner"));
    let sandbox = world.start(SessionId::new()).await;
    said(
        &*sandbox,
        "cd; mkfifo pipe; ln -s /etc/hostname link; ln -s /proc/self/mem memory; ln -s /proc/self processes; echo text > file",
    )
    .await;
    for (path, kind) in [
        ("~/pipe", FileProblemKind::NotAFile),
        ("~/link", FileProblemKind::NotAFile),
        ("~/memory", FileProblemKind::NotAFile),
        ("~/processes/environ", FileProblemKind::Denied),
        ("/proc/self/mem", FileProblemKind::Denied),
        ("/proc/1/root/etc/hostname", FileProblemKind::NotAFile),
        ("/dev/null", FileProblemKind::NotAFile),
        ("~", FileProblemKind::Folder),
    ] {
        for transfer in [reading(path), writing(path)] {
            let (_, head) = begin(&*sandbox, transfer.clone()).await;
            let FromTransfer::Refused(problem) = head else {
                panic!("{transfer:?}: {head:?}");
            };
            // A process's root is a link of the kernel's, which is not followed.
            let is_magic = path.contains("/root/");
            assert!(
                is_magic || problem.kind == kind,
                "{transfer:?}: {problem:?}"
            );
        }
    }
    let (_, head) = begin(&*sandbox, reading("~/file")).await;
    assert!(
        matches!(
            head,
            FromTransfer::Reading {
                length: Some(5),
                ..
            }
        ),
        "{head:?}"
    );
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runner_killed_during_an_upload_leaves_no_partial_file() {
    let world = World::with(|config| {
        config.runner = example("runner");
        // The test reads the home from outside.
        config.disk_quota = DiskQuota::Watched;
    });
    let session = SessionId::new();
    let sandbox = world.start(session).await;
    let home = world.folder(session).join("home");
    said(&*sandbox, "echo old > ~/file.bin").await;
    let (mut wire, head) = begin(&*sandbox, writing("~/file.bin")).await;
    assert_eq!(head, FromTransfer::Writing);
    // More than fits between the two sides, so some of it is written.
    for _ in 0..16 {
        wire.send_data(Bytes::from(vec![7; MANY_BYTES]))
            .await
            .unwrap();
    }
    assert_eq!(parts(&home), Vec::<String>::new());

    run(&*sandbox, "kill -9 $PPID").await.unwrap_err();

    sandbox.ended().await;
    assert!(
        wire.head::<FromTransfer>().await.is_err(),
        "the stream broke"
    );
    assert_eq!(std::fs::read(home.join("file.bin")).unwrap(), b"old\n");
    // Nothing is left of it, and the next sandbox writes the file whole.
    assert_eq!(parts(&home), Vec::<String>::new());
    let again = world.start(session).await;
    let (mut wire, _) = begin(&*again, writing("~/file.bin")).await;
    wire.send_data(Bytes::from(vec![7; MANY_BYTES]))
        .await
        .unwrap();
    wire.send_head(&ToTransfer::End).await.unwrap();
    let written: FromTransfer = wire.head().await.unwrap();
    assert!(
        matches!(written, FromTransfer::Written { is_new: false, .. }),
        "{written:?}"
    );
    assert_eq!(
        std::fs::read(home.join("file.bin")).unwrap(),
        vec![7; MANY_BYTES]
    );
    assert_eq!(parts(&home), Vec::<String>::new());
    world.end().await;
}
