//! Unpacks the archive of a folder. It comes from a sandbox, so nothing in it is trusted.

use std::{
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
};

use anyhow::{Context, bail};
use bytes::{Buf, Bytes};
use deskhand_core::file::LEFT_OUT_NAME;
use flate2::read::GzDecoder;
use futures::StreamExt;
use http_body_util::BodyStream;
use hyper::body::Incoming;
use indicatif::ProgressBar;
use tokio::sync::mpsc;

use super::broken;

/// The maximum number of pieces that wait for the thread that unpacks.
const MOST_PIECES: usize = 16;
/// The maximum length of the text about entries that are not in the archive.
const LONGEST_TEXT_BYTES: u64 = 1024 * 1024;

/// The entries of a folder that were not copied.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) n_links: u64,
    /// A line for each entry that the desktop could not read.
    pub(super) by_the_desktop: String,
}

/// Unpacks an archive into the folder `target`, without its top-level folder. Links are left out. Returns the entries that
/// were not copied.
pub(super) async fn unpack(
    body: Incoming,
    target: PathBuf,
    bar: &ProgressBar,
) -> anyhow::Result<LeftOut> {
    let (sender, pieces) = mpsc::channel(MOST_PIECES);
    let unpacking = tokio::task::spawn_blocking(move || {
        let reader = PieceReader {
            pieces,
            piece: Bytes::new(),
        };
        unpack_all(GzDecoder::new(reader), &target)
    });
    let mut frames = BodyStream::new(body);
    while let Some(frame) = frames.next().await {
        let piece = match frame {
            Ok(frame) => frame.into_data().unwrap_or_default(),
            Err(error) => {
                // If the thread has failed, its own error is the one to report.
                let _ = sender.send(Err(broken(error))).await;
                break;
            }
        };
        bar.inc(u64::try_from(piece.len()).unwrap_or_default());
        if sender.send(Ok(piece)).await.is_err() {
            break;
        }
    }
    drop(sender);
    let unpacked = unpacking.await.context("unpacking failed")?;
    bar.finish_and_clear();
    unpacked
}

fn unpack_all(archive: impl Read, target: &Path) -> anyhow::Result<LeftOut> {
    std::fs::create_dir_all(target)
        .with_context(|| format!("cannot make the folder {}", target.display()))?;
    let mut archive = tar::Archive::new(archive);
    let mut left_out = LeftOut::default();
    for entry in archive.entries().context("cannot read the archive")? {
        let mut entry = entry.context("cannot read the archive")?;
        let kind = entry.header().entry_type();
        if !kind.is_file() && !kind.is_dir() {
            left_out.n_links += 1;
            continue;
        }
        let path = entry
            .path()
            .context("cannot read the archive")?
            .into_owned();
        if path == Path::new(LEFT_OUT_NAME) {
            // It is one short file, but nothing in an archive is trusted.
            let n_read = u64::try_from(left_out.by_the_desktop.len()).unwrap_or(u64::MAX);
            let room = LONGEST_TEXT_BYTES.saturating_sub(n_read);
            let mut text = entry.by_ref().take(room);
            let read = text.read_to_string(&mut left_out.by_the_desktop);
            read.context("cannot read the archive")?;
            continue;
        }
        let inside = inside(&path)?;
        let place = target.join(&inside);
        let context = || format!("cannot write {}", place.display());
        check_no_link(target, &inside)?;
        if kind.is_dir() {
            std::fs::create_dir_all(&place).with_context(context)?;
        } else {
            save(&mut entry, &place).with_context(context)?;
        }
    }
    Ok(left_out)
}

/// Writes a file under a temporary name, and renames it when it is complete.
fn save(entry: &mut tar::Entry<'_, impl Read>, place: &Path) -> io::Result<()> {
    let is_executable = entry.header().mode()? & 0o100 != 0;
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let part = place.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let mut file = std::fs::File::create_new(&part)?;
    let mut fill = || {
        let n_bytes = io::copy(entry, &mut file)?;
        // A truncated archive looks like the end of the file.
        if n_bytes != entry.size() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if is_executable {
            let mode = file.metadata()?.permissions().mode();
            // Everybody who may read it may run it.
            let permissions = std::fs::Permissions::from_mode(mode | (mode & 0o444) >> 2);
            file.set_permissions(permissions)?;
        }
        std::fs::rename(&part, place)
    };
    fill().inspect_err(|_error| {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&part);
    })
}

/// Returns the path below the top-level folder. Refuses absolute paths and those that lead out of it.
fn inside(path: &Path) -> anyhow::Result<PathBuf> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !path.components().all(is_plain) {
        bail!(
            "the archive has the path {}, which leads out of it",
            path.display()
        );
    }
    Ok(path.components().skip(1).collect())
}

/// Refuses to write through a link, even if the person has created it.
fn check_no_link(target: &Path, inside: &Path) -> anyhow::Result<()> {
    let mut place = target.to_owned();
    for part in inside.components() {
        place.push(part);
        let found = std::fs::symlink_metadata(&place);
        if found.is_ok_and(|found| found.is_symlink()) {
            bail!(
                "{} is a link, which cp does not write through",
                place.display()
            );
        }
    }
    Ok(())
}

/// Reads the pieces that arrive on a connection.
struct PieceReader {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    piece: Bytes,
}

impl Read for PieceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.pieces.blocking_recv() {
                Some(piece) => self.piece = piece?,
                None => return Ok(0),
            }
        }
        let n_bytes = buffer.len().min(self.piece.len());
        buffer[..n_bytes].copy_from_slice(&self.piece[..n_bytes]);
        self.piece.advance(n_bytes);
        Ok(n_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tar::{Builder, EntryType, Header};

    use super::*;

    fn archive(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (path, kind, content) in entries {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_size(u64::try_from(content.len()).unwrap());
            header.set_mode(0o644);
            // The library would refuse to write the paths that the test is about.
            let name = &mut header.as_old_mut().name;
            name[..path.len()].copy_from_slice(path.as_bytes());
            if kind.is_symlink() {
                header.set_link_name("/etc").unwrap();
            }
            header.set_cksum();
            builder.append(&header, content.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn unpack(entries: &[(&str, EntryType, &str)], target: &Path) -> anyhow::Result<LeftOut> {
        unpack_all(&archive(entries)[..], target)
    }

    #[test]
    fn files_and_folders_are_unpacked_and_links_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let entries = [
            ("box/", EntryType::Directory, ""),
            ("box/deep/", EntryType::Directory, ""),
            ("box/deep/a.txt", EntryType::Regular, "text"),
            ("box/link", EntryType::Symlink, ""),
        ];
        let target = folder.path().join("new");
        assert_eq!(unpack(&entries, &target).unwrap().n_links, 1);
        assert_eq!(std::fs::read(target.join("deep/a.txt")).unwrap(), b"text");
        assert!(!target.join("link").exists());
    }

    #[test]
    fn the_text_about_what_is_left_out_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let text = "x".repeat(700_000);
        let entry = (LEFT_OUT_NAME, EntryType::Regular, &*text);
        let left_out = unpack(&[entry, entry, entry], folder.path()).unwrap();
        let longest = usize::try_from(LONGEST_TEXT_BYTES).unwrap();
        assert_eq!(left_out.by_the_desktop.len(), longest);
    }

    #[test]
    fn a_truncated_archive_leaves_no_partial_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("in");
        std::fs::create_dir(&target).unwrap();
        std::fs::write(target.join("a.txt"), "old").unwrap();
        let text = "x".repeat(5000);
        let whole = archive(&[
            ("box/", EntryType::Directory, ""),
            ("box/a.txt", EntryType::Regular, &text),
        ]);
        unpack_all(&whole[..3000], &target).unwrap_err();
        assert_eq!(std::fs::read(target.join("a.txt")).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(&target).unwrap().count(), 1);
        assert_eq!(unpack_all(&whole[..], &target).unwrap(), LeftOut::default());
        assert_eq!(std::fs::read_to_string(target.join("a.txt")).unwrap(), text);
    }

    #[test]
    fn nothing_leads_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("in");
        for path in [
            "../out",
            "box/../../out",
            "/tmp/deskhand-out",
            "box/./../../out",
        ] {
            let refused = unpack(&[(path, EntryType::Regular, "x")], &target);
            assert!(refused.is_err(), "{path}");
        }
        symlink("..", target.join("link")).unwrap();
        let through = unpack(&[("box/link/out", EntryType::Regular, "x")], &target);
        assert!(through.is_err());
        assert!(!folder.path().join("out").exists());
    }
}
