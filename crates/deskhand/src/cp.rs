//! `deskhand cp`: copies files and folders between this machine and a session's desktop.

mod unpack;

use std::{
    io,
    os::{fd::AsFd, unix::fs::PermissionsExt},
    path::{Component, Path, PathBuf},
    process,
};

use anyhow::{Context, bail};
use bytes::Bytes;
use deskhand_core::{
    file::{FileKind, FilePath},
    id::SessionId,
};
use futures::{StreamExt, TryStreamExt};
use http_body_util::{BodyExt, BodyStream, StreamBody};
use hyper::body::{Frame, Incoming};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_util::io::ReaderStream;

use crate::{
    cli::CpArgs,
    client::{
        Client,
        files::{FileBody, SentFile},
    },
    config::{Config, Environment},
    find::running_server,
    output::say,
};

/// The size of the pieces in which a local file is read.
const PIECE_BYTES: usize = 256 * 1024;
/// The maximum depth of a local folder.
const MOST_DEPTH: usize = 100;

/// One of the two places of a copy.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// Standard input or output.
    Pipe,
    Local(PathBuf),
    Remote(SessionId, FilePath),
}

/// Copies a file or folder as the arguments say.
pub(crate) async fn cp(
    args: &CpArgs,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<()> {
    let (from, to) = (End::parse(&args.from)?, End::parse(&args.to)?);
    let client = running_server(&args.server, config, environment).await?;
    match (from, to) {
        (End::Remote(session, path), to @ (End::Local(_) | End::Pipe)) => {
            download(&client, session, &path, to).await
        }
        (End::Local(local), End::Remote(session, path)) => {
            upload(&client, &local, session, path).await
        }
        (End::Pipe, End::Remote(session, path)) => {
            let body = body_of(own(io::stdin())?, &bar(None, "-"));
            let sent = SentFile::default();
            Ok(client.write_file(session, &path, sent, body).await?)
        }
        (End::Remote(..), End::Remote(..)) => {
            bail!("cp copies between this machine and one session: copy to a local file first")
        }
        (End::Local(_) | End::Pipe, End::Local(_) | End::Pipe) => {
            bail!("one of the two must be in a session, such as SESSION:notes.txt")
        }
    }
}

impl End {
    /// Reads `-`, a local path, or `SESSION:PATH`. A path that is not absolute is in the home folder of the desktop.
    fn parse(text: &str) -> anyhow::Result<Self> {
        if text == "-" {
            return Ok(Self::Pipe);
        }
        let remote = text.split_once(':');
        let remote = remote.and_then(|(id, path)| Some((id.parse::<SessionId>().ok()?, path)));
        let Some((session, path)) = remote else {
            return Ok(Self::Local(text.into()));
        };
        let path = match path {
            "" => FilePath::home(),
            path if path.starts_with(['/', '~']) => path.parse()?,
            path => format!("~/{path}").parse()?,
        };
        Ok(Self::Remote(session, path))
    }
}

async fn download(
    client: &Client,
    session: SessionId,
    path: &FilePath,
    to: End,
) -> anyhow::Result<()> {
    let info = client.file_info(session, path).await?;
    match (info.kind, to) {
        (FileKind::Folder, End::Local(to)) => {
            let target = local_target(to, &info.name)?;
            let bar = bar(None, &info.name);
            let unpack = async |body: Incoming| unpack::unpack(body, target, &bar).await;
            let left_out = client.read_file(session, path, true, unpack).await?;
            report_left_out(left_out.n_links, "link was", "links were");
            if !left_out.by_the_desktop.is_empty() {
                say(&format!(
                    "not copied:\n{}",
                    left_out.by_the_desktop.trim_end()
                ));
            }
            Ok(())
        }
        (FileKind::Folder, End::Pipe | End::Remote(..)) => {
            bail!(
                "{} is a folder, which cannot go to standard output",
                info.path
            )
        }
        (FileKind::File | FileKind::Link | FileKind::Other, End::Local(to)) => {
            let target = local_target(to, &info.name)?;
            let bar = bar(Some(info.size), &info.name);
            let save = async |body: Incoming| save(body, &target, &bar).await;
            client.read_file(session, path, false, save).await
        }
        (FileKind::File | FileKind::Link | FileKind::Other, End::Pipe | End::Remote(..)) => {
            let bar = bar(Some(info.size), &info.name);
            let mut out = own(io::stdout())?;
            let print = async |body: Incoming| copy(body, &mut out, &bar).await;
            client.read_file(session, path, false, print).await
        }
    }
}

/// Returns the local path to write to. A local folder takes the copy under its name in the sandbox, which is not trusted
/// to stay in the folder.
fn local_target(to: PathBuf, name: &str) -> anyhow::Result<PathBuf> {
    if !to.is_dir() {
        return Ok(to);
    }
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        // The root folder has no name.
        (None, _) => Ok(to),
        (Some(Component::Normal(_)), None) => Ok(to.join(name)),
        (Some(_), _) => bail!("the sandbox sent {name:?} as a name; give the whole local path"),
    }
}

/// Writes a file under a temporary name, and renames it when it is complete.
async fn save(body: Incoming, target: &Path, bar: &ProgressBar) -> anyhow::Result<()> {
    let name = target.file_name().context("the local path has no name")?;
    let part = format!(".{}.{}.part", name.to_string_lossy(), process::id());
    let part = target.with_file_name(part);
    let context = || format!("cannot write {}", target.display());
    let mut file = tokio::fs::File::create_new(&part)
        .await
        .with_context(context)?;
    let copied = copy(body, &mut file, bar).await;
    let kept = match copied {
        Ok(()) => tokio::fs::rename(&part, target).await.with_context(context),
        Err(error) => Err(error),
    };
    if kept.is_err() {
        // The first error is the one to report.
        let _ = tokio::fs::remove_file(&part).await;
    }
    kept
}

async fn copy(
    body: Incoming,
    to: &mut (impl AsyncWrite + Unpin),
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    let mut pieces = BodyStream::new(body);
    while let Some(frame) = pieces.next().await {
        let frame = frame.context("the connection broke in the middle of the file")?;
        if let Ok(piece) = frame.into_data() {
            to.write_all(&piece).await.context("cannot write")?;
            bar.inc(u64::try_from(piece.len()).unwrap_or_default());
        }
    }
    to.flush().await.context("cannot write")?;
    bar.finish_and_clear();
    Ok(())
}

async fn upload(
    client: &Client,
    local: &Path,
    session: SessionId,
    path: FilePath,
) -> anyhow::Result<()> {
    let found = std::fs::metadata(local);
    let found = found.with_context(|| format!("cannot read {}", local.display()))?;
    // Like `cp`, a folder as the target takes the source with its own name.
    let is_folder = path.name().is_none()
        || client
            .file_info(session, &path)
            .await
            .is_ok_and(|info| info.kind == FileKind::Folder);
    let name = local
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let target = match (is_folder, name) {
        (true, Some(name)) => below(&path, &name)?,
        (true, None) | (false, _) => path,
    };
    if !found.is_dir() {
        return upload_file(client, local, session, &target).await;
    }
    let mut found = LocalTree::default();
    found.collect(local, &target, 0)?;
    for folder in &found.empty_folders {
        client.make_folder(session, folder).await?;
    }
    for (local, target) in &found.files {
        upload_file(client, local, session, target).await?;
    }
    report_left_out(
        found.n_others,
        "link or other special file was",
        "links and other special files were",
    );
    Ok(())
}

/// Reports the number of entries that were not copied.
fn report_left_out(n_left_out: u64, one: &str, many: &str) {
    match n_left_out {
        0 => {}
        1 => say(&format!("1 {one} left out")),
        n_left_out => say(&format!("{n_left_out} {many} left out")),
    }
}

/// The contents of a local folder, with their targets.
#[derive(Debug, Default)]
struct LocalTree {
    files: Vec<(PathBuf, FilePath)>,
    /// Empty folders. All others are created together with their contents.
    empty_folders: Vec<FilePath>,
    /// The number of entries that are neither files nor folders.
    n_others: u64,
}

impl LocalTree {
    /// Adds a folder with everything in it.
    fn collect(&mut self, local: &Path, target: &FilePath, depth: usize) -> anyhow::Result<()> {
        let context = || format!("cannot read {}", local.display());
        if depth > MOST_DEPTH {
            bail!("{} is more than {MOST_DEPTH} folders deep", local.display());
        }
        let mut is_empty = true;
        for entry in std::fs::read_dir(local).with_context(context)? {
            let entry = entry.with_context(context)?;
            let kind = entry.file_type().with_context(context)?;
            let Ok(name) = entry.file_name().into_string() else {
                bail!("{} is not a name in UTF-8", entry.path().display());
            };
            let target = below(target, &name)?;
            if kind.is_dir() {
                self.collect(&entry.path(), &target, depth + 1)?;
            } else if kind.is_file() {
                self.files.push((entry.path(), target));
            } else {
                self.n_others += 1;
                continue;
            }
            is_empty = false;
        }
        if is_empty {
            self.empty_folders.push(target.clone());
        }
        Ok(())
    }
}

fn below(folder: &FilePath, name: &str) -> anyhow::Result<FilePath> {
    let folder = folder.as_str().trim_end_matches('/');
    Ok(format!("{folder}/{name}").parse()?)
}

async fn upload_file(
    client: &Client,
    local: &Path,
    session: SessionId,
    path: &FilePath,
) -> anyhow::Result<()> {
    let context = || format!("cannot read {}", local.display());
    let file = tokio::fs::File::open(local).await.with_context(context)?;
    let found = file.metadata().await.with_context(context)?;
    let bar = bar(Some(found.len()), &local.to_string_lossy());
    let body = body_of(file, &bar);
    let sent = SentFile {
        length: Some(found.len()),
        is_executable: found.permissions().mode() & 0o100 != 0,
    };
    let written = client.write_file(session, path, sent, body).await;
    bar.finish_and_clear();
    written.with_context(|| format!("cannot copy {}", local.display()))
}

fn body_of(from: impl AsyncRead + Send + Sync + 'static, bar: &ProgressBar) -> FileBody {
    let bar = bar.clone();
    let pieces = ReaderStream::with_capacity(from, PIECE_BYTES);
    let frames = pieces.map_ok(move |piece: Bytes| {
        bar.inc(u64::try_from(piece.len()).unwrap_or_default());
        Frame::data(piece)
    });
    BodyExt::boxed(StreamBody::new(frames))
}

/// Returns a standard stream as a file for asynchronous reading or writing.
fn own(stream: impl AsFd) -> anyhow::Result<tokio::fs::File> {
    let stream = stream.as_fd().try_clone_to_owned();
    let stream = stream.context("cannot use the standard streams")?;
    Ok(tokio::fs::File::from_std(stream.into()))
}

/// Returns a progress bar. It is shown only on a terminal.
fn bar(length: Option<u64>, name: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    let template = match length {
        Some(_) => "{msg} {bar:24} {bytes} of {total_bytes}, {bytes_per_sec}",
        None => "{msg} {bytes}, {bytes_per_sec}",
    };
    // The templates are valid, and an invalid one would only look plain.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(deskhand_core::plain::visible(name).into_owned());
    bar
}

/// Returns the error for a stream that ended early.
fn broken(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::other(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_the_sandbox_stays_in_the_local_folder() {
        let folder = tempfile::tempdir().unwrap();
        let target = |name: &str| local_target(folder.path().to_owned(), name);
        assert_eq!(target("a.txt").unwrap(), folder.path().join("a.txt"));
        assert_eq!(target("").unwrap(), folder.path());
        for name in ["..", ".", "/etc", "../a.txt", "a/b"] {
            assert!(target(name).is_err(), "{name}");
        }
        let new = folder.path().join("new.txt");
        assert_eq!(local_target(new.clone(), "..").unwrap(), new);
    }

    #[test]
    fn a_place_is_local_unless_it_names_a_session() {
        let id = "01a1e358-fc31-7771-8d46-57aca3e928d3";
        let remote = |path: &str| match End::parse(&format!("{id}:{path}")).unwrap() {
            End::Remote(_, path) => path.as_str().to_owned(),
            other @ (End::Pipe | End::Local(_)) => panic!("{other:?}"),
        };
        assert_eq!(remote(""), "~");
        assert_eq!(remote("a/b.txt"), "~/a/b.txt");
        assert_eq!(remote("~/a"), "~/a");
        assert_eq!(remote("/tmp/a"), "/tmp/a");
        for local in ["notes:old.txt", "./x", "C:\\x"] {
            assert_eq!(End::parse(local).unwrap(), End::Local(local.into()));
        }
        assert_eq!(End::parse("-").unwrap(), End::Pipe);
        assert!(End::parse(&format!("{id}:../x")).is_err());
    }
}
