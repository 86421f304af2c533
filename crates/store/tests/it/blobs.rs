//! Pictures in files.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use deskhand_core::blob::{BlobError, BlobFormat, BlobName, Blobs};
use deskhand_store::FolderBlobs;

#[tokio::test]
async fn the_same_bytes_are_kept_once_under_one_name() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = FolderBlobs::open(dir.path().join("blobs")).unwrap();
    let first = blobs
        .put(Bytes::from_static(b"picture"), BlobFormat::Png)
        .await
        .unwrap();
    let second = blobs
        .put(Bytes::from_static(b"picture"), BlobFormat::Png)
        .await
        .unwrap();
    assert_eq!(first, second);
    let digest = "2cea274d0bedc39ec4ab6ba9e59ec889e3ed6fb56a1cf088a64d9b383378dc97";
    assert_eq!(first.as_str(), format!("{digest}.png"));
    assert_eq!(&*blobs.get(&first).await.unwrap(), b"picture");
    let folder = dir.path().join("blobs").join(&first.as_str()[..2]);
    assert_eq!(
        std::fs::read_dir(folder).unwrap().count(),
        1,
        "nothing is left beside it"
    );
}

#[tokio::test]
async fn a_name_without_bytes_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = FolderBlobs::open(dir.path().to_owned()).unwrap();
    let name: BlobName = format!("{}.png", "0".repeat(64)).parse().unwrap();
    assert!(matches!(blobs.get(&name).await, Err(BlobError::Missing(_))));
}

#[test]
fn only_digests_are_names() {
    let digest = "0".repeat(64);
    for bad in [
        "",
        "x",
        "../x.png",
        &digest,
        &format!("{digest}.exe"),
        &format!("{}.png", "G".repeat(64)),
        &format!("{digest}.png/.."),
    ] {
        assert!(bad.parse::<BlobName>().is_err(), "{bad}");
    }
}

#[tokio::test]
async fn a_blob_is_removed_unless_it_was_just_stored() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = FolderBlobs::open(dir.path().to_owned()).unwrap();
    let bytes = Bytes::from_static(b"picture");
    let name = blobs.put(bytes.clone(), BlobFormat::Png).await.unwrap();
    let path = dir.path().join(&name.as_str()[..2]).join(name.as_str());
    let (grace, hour) = (Duration::from_mins(10), Duration::from_hours(1));
    let age = || {
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - hour).unwrap();
    };

    assert!(!blobs.remove(&name, grace).await.unwrap(), "it is new");
    age();
    blobs.put(bytes, BlobFormat::Png).await.unwrap();
    assert!(
        !blobs.remove(&name, grace).await.unwrap(),
        "it was stored again"
    );
    age();
    assert!(blobs.remove(&name, grace).await.unwrap());
    assert!(matches!(blobs.get(&name).await, Err(BlobError::Missing(_))));
    assert!(
        blobs.remove(&name, grace).await.unwrap(),
        "nothing is left to do"
    );
}
