//! Files as people list, read and write them.

use bytes::Bytes;
use deskhand_core::{
    file::{
        ByteRange, FileFrame, FileKind, FilePath, FileProblemKind, FileReply, FileRequest,
        FileStat, FileTransfer, FileWire, FolderListing, FromTransfer, ToTransfer, WriteCondition,
    },
    id::UserId,
    sandbox::{Actor, Call, ComputerError, ComputerExt, LeaseHolder, Sandbox, StreamTarget},
};

use super::{perform, said};
use crate::client::PATIENCE;

/// Larger than any piece, and without a pattern that hides a mistake.
fn large() -> Bytes {
    (0..700_001_u32)
        .map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1])
        .collect()
}

fn path(text: &str) -> FilePath {
    text.parse().unwrap()
}

async fn ask(sandbox: &dyn Sandbox, request: FileRequest) -> FileReply {
    perform(sandbox, request).await.unwrap()
}

async fn list(sandbox: &dyn Sandbox, folder: &str, after: Option<&str>) -> FolderListing {
    let request = FileRequest::List {
        path: path(folder),
        after: after.map(str::to_owned),
        limit: 2,
    };
    match ask(sandbox, request).await {
        FileReply::Listing(listing) => listing,
        other @ (FileReply::Stat(_) | FileReply::Removed | FileReply::Refused(_)) => {
            panic!("{folder}: {other:?}")
        }
    }
}

async fn refusal(sandbox: &dyn Sandbox, request: FileRequest) -> FileProblemKind {
    match ask(sandbox, request.clone()).await {
        FileReply::Refused(problem) => problem.kind,
        other @ (FileReply::Stat(_) | FileReply::Listing(_) | FileReply::Removed) => {
            panic!("{request:?}: {other:?}")
        }
    }
}

async fn open(sandbox: &dyn Sandbox, actor: Actor, transfer: FileTransfer) -> FileWire {
    let stream = sandbox.open(StreamTarget::File, actor).await.unwrap();
    let mut wire = FileWire::new(stream);
    wire.send_head(&ToTransfer::Begin(transfer)).await.unwrap();
    wire
}

async fn read(
    sandbox: &dyn Sandbox,
    transfer: FileTransfer,
) -> Result<(u64, Vec<u8>), FileProblemKind> {
    let mut wire = open(sandbox, Actor::Agent, transfer).await;
    let first = match wire.head::<FromTransfer>().await.unwrap() {
        FromTransfer::Reading { first, .. } => first,
        FromTransfer::Refused(problem) => return Err(problem.kind),
        other @ (FromTransfer::Ended | FromTransfer::Writing | FromTransfer::Written { .. }) => {
            panic!("{other:?}")
        }
    };
    let mut content = Vec::new();
    loop {
        match wire.next().await.unwrap() {
            FileFrame::Data(piece) => content.extend_from_slice(&piece),
            FileFrame::Head(head) => {
                let head: FromTransfer = serde_json::from_slice(&head).unwrap();
                assert_eq!(head, FromTransfer::Ended);
                return Ok((first, content));
            }
        }
    }
}

fn whole(file: &str) -> FileTransfer {
    FileTransfer::Read {
        path: path(file),
        range: None,
        range_of: None,
    }
}

fn writing(file: &str, length: Option<u64>, condition: WriteCondition) -> FileTransfer {
    FileTransfer::Write {
        path: path(file),
        length,
        condition,
        is_executable: false,
    }
}

async fn write(
    sandbox: &dyn Sandbox,
    transfer: FileTransfer,
    content: Bytes,
) -> Result<(FileStat, bool), FileProblemKind> {
    let mut wire = open(sandbox, Actor::Agent, transfer).await;
    match wire.head::<FromTransfer>().await.unwrap() {
        FromTransfer::Writing => {}
        FromTransfer::Refused(problem) => return Err(problem.kind),
        other @ (FromTransfer::Reading { .. }
        | FromTransfer::Ended
        | FromTransfer::Written { .. }) => panic!("{other:?}"),
    }
    wire.send_data(content).await.unwrap();
    wire.send_head(&ToTransfer::End).await.unwrap();
    match wire.head::<FromTransfer>().await.unwrap() {
        FromTransfer::Written { stat, is_new } => Ok((stat, is_new)),
        FromTransfer::Refused(problem) => Err(problem.kind),
        other @ (FromTransfer::Reading { .. } | FromTransfer::Ended | FromTransfer::Writing) => {
            panic!("{other:?}")
        }
    }
}

pub(super) async fn folders_are_listed_and_changed(sandbox: &dyn Sandbox) {
    let folder = FileRequest::MakeFolder {
        path: path("~/shelf/empty"),
    };
    let made = ask(sandbox, folder).await;
    assert!(
        matches!(made, FileReply::Stat(stat) if stat.path == "/home/agent/shelf/empty" && stat.kind == FileKind::Folder)
    );
    said(
        sandbox,
        "echo one > ~/shelf/b.txt; echo three > ~/shelf/c.txt",
    )
    .await;
    let first = list(sandbox, "~/shelf", None).await;
    let names: Vec<&str> = first.entries.iter().map(FileStat::name).collect();
    assert_eq!((names, first.has_more), (vec!["b.txt", "c.txt"], true));
    assert_eq!(
        (first.entries[0].kind, first.entries[0].size),
        (FileKind::File, 4)
    );
    let second = list(sandbox, "~/shelf", Some("c.txt")).await;
    let names: Vec<&str> = second.entries.iter().map(FileStat::name).collect();
    assert_eq!((names, second.has_more), (vec!["empty"], false));

    let moving = |from: &str, to: &str| FileRequest::Move {
        from: path(from),
        to: path(to),
    };
    ask(sandbox, moving("~/shelf/b.txt", "~/shelf/empty/d.txt")).await;
    assert_eq!(said(sandbox, "cat ~/shelf/empty/d.txt").await, "one\n");
    let onto = moving("~/shelf/c.txt", "~/shelf/empty/d.txt");
    assert_eq!(refusal(sandbox, onto).await, FileProblemKind::Exists);
    let missing = moving("~/shelf/b.txt", "~/shelf/x");
    assert_eq!(refusal(sandbox, missing).await, FileProblemKind::Missing);

    let removal = |file: &str, recursive| FileRequest::Remove {
        path: path(file),
        recursive,
        version: None,
    };
    let full = removal("~/shelf", false);
    assert_eq!(refusal(sandbox, full).await, FileProblemKind::NotEmpty);
    assert_eq!(
        ask(sandbox, removal("~/shelf", true)).await,
        FileReply::Removed
    );
    let gone = FileRequest::Stat {
        path: path("~/shelf"),
    };
    assert_eq!(refusal(sandbox, gone).await, FileProblemKind::Missing);
    for stays in ["~", "/home", "/"] {
        let home = removal(stays, true);
        assert_eq!(refusal(sandbox, home).await, FileProblemKind::Denied);
    }
}

pub(super) async fn files_are_read_in_parts(sandbox: &dyn Sandbox) {
    let always = writing("~/parts/large.bin", None, WriteCondition::Always);
    let (stat, is_new) = write(sandbox, always, large()).await.unwrap();
    assert!(is_new);
    assert_eq!(stat.size, 700_001);
    let read_back = read(sandbox, whole("~/parts/large.bin")).await;
    assert!(
        read_back == Ok((0, large().to_vec())),
        "all bytes are the same"
    );
    let part = |range, range_of: Option<&str>| FileTransfer::Read {
        path: path("~/parts/large.bin"),
        range: Some(range),
        range_of: range_of.map(str::to_owned),
    };
    let middle = ByteRange::From {
        first: 300_000,
        last: Some(300_009),
    };
    let expected = (300_000, large()[300_000..300_010].to_vec());
    assert_eq!(
        read(sandbox, part(middle, None)).await,
        Ok(expected.clone())
    );
    let same = read(sandbox, part(middle, Some(&stat.version))).await;
    assert_eq!(same, Ok(expected));
    let other = read(sandbox, part(middle, Some("another"))).await.unwrap();
    assert_eq!(other.1.len(), 700_001, "the whole of another version");
    let last = read(sandbox, part(ByteRange::Last { n_bytes: 3 }, None)).await;
    assert_eq!(last, Ok((699_998, large()[699_998..].to_vec())));
    let outside = ByteRange::From {
        first: 700_001,
        last: None,
    };
    let outside = read(sandbox, part(outside, None)).await;
    assert_eq!(outside, Err(FileProblemKind::Range { size: 700_001 }));
    let missing = read(sandbox, whole("~/parts/nothing")).await;
    assert_eq!(missing, Err(FileProblemKind::Missing));
    let folder = read(sandbox, whole("~/parts")).await;
    assert_eq!(folder, Err(FileProblemKind::Folder));
}

pub(super) async fn files_are_written_whole_or_not_at_all(sandbox: &dyn Sandbox) {
    let file = "~/whole/note.txt";
    let short = Bytes::from_static(b"short\n");
    let longer = writing(file, Some(100), WriteCondition::Always);
    let refused = write(sandbox, longer, short.clone()).await;
    assert_eq!(refused, Err(FileProblemKind::Incomplete));
    // A stream that breaks off leaves nothing.
    let mut wire = open(
        sandbox,
        Actor::Agent,
        writing(file, None, WriteCondition::Always),
    )
    .await;
    assert_eq!(
        wire.head::<FromTransfer>().await.unwrap(),
        FromTransfer::Writing
    );
    wire.send_data(short.clone()).await.unwrap();
    drop(wire);
    let missing = FileRequest::Stat { path: path(file) };
    assert_eq!(refusal(sandbox, missing).await, FileProblemKind::Missing);

    // The conditions.
    let absent = || writing(file, Some(6), WriteCondition::Absent);
    let (stat, is_new) = write(sandbox, absent(), short.clone()).await.unwrap();
    assert!(is_new);
    let again = write(sandbox, absent(), short).await;
    assert_eq!(again, Err(FileProblemKind::Changed));
    let version = || writing(file, None, WriteCondition::Version(stat.version.clone()));
    let (_, is_new) = write(sandbox, version(), Bytes::from_static(b"second\n"))
        .await
        .unwrap();
    assert!(!is_new);
    let stale = write(sandbox, version(), Bytes::from_static(b"third\n")).await;
    assert_eq!(stale, Err(FileProblemKind::Changed));
    assert_eq!(said(sandbox, "cat ~/whole/note.txt").await, "second\n");
    // Nothing temporary is left, as soon as the broken stream is noticed.
    let alone = async { while list(sandbox, "~/whole", None).await.entries.len() > 1 {} };
    tokio::time::timeout(PATIENCE, alone).await.unwrap();
}

pub(super) async fn the_lease_holds_for_files(sandbox: &dyn Sandbox) {
    let holder = UserId::new();
    let always = || writing("~/leased.txt", None, WriteCondition::Always);
    let mut cut_off = open(sandbox, Actor::Agent, always()).await;
    assert_eq!(
        cut_off.head::<FromTransfer>().await.unwrap(),
        FromTransfer::Writing
    );
    sandbox.set_lease_holder(LeaseHolder::Person(holder)).await;
    let leased = |head: FromTransfer| matches!(head, FromTransfer::Refused(problem) if problem.kind == FileProblemKind::Leased);
    assert!(
        leased(cut_off.head().await.unwrap()),
        "a write under way is cut off"
    );
    let mut reading = open(sandbox, Actor::Agent, whole("~/parts/large.bin")).await;
    assert!(leased(reading.head().await.unwrap()), "others read nothing");
    let stat = || FileRequest::Stat {
        path: path("~/parts/large.bin"),
    };
    let looked = perform(sandbox, stat()).await;
    assert_eq!(looked, Err(ComputerError::Refused { was_begun: false }));
    let own = sandbox
        .perform(Call::by(Actor::Person(holder)), stat())
        .await;
    assert!(matches!(own, Ok(FileReply::Stat(_))), "{own:?}");
    let mut own = open(sandbox, Actor::Person(holder), whole("~/parts/large.bin")).await;
    let own: FromTransfer = own.head().await.unwrap();
    assert!(matches!(own, FromTransfer::Reading { .. }), "{own:?}");
    sandbox.set_lease_holder(LeaseHolder::Nobody).await;
    let left = FileRequest::Stat {
        path: path("~/leased.txt"),
    };
    assert_eq!(refusal(sandbox, left).await, FileProblemKind::Missing);
}
