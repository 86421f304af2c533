//! The unix socket in the data folder, over which commands reach the server of that folder.
//!
//! Whoever may write in the folder could put a socket there. So a command asks the kernel who listens before it sends
//! anything.

use std::{
    fs::{self, Permissions},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{
            fs::{MetadataExt, PermissionsExt},
            net,
        },
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags, open},
    process::geteuid,
};
use tokio::net::{UnixListener, UnixStream};

const FILE: &str = "server.sock";
/// The user id of root, which may read the folder and its token anyway.
const ROOT: u32 = 0;

/// Removes the socket when it is dropped.
#[derive(Debug)]
pub(crate) struct BoundSocket {
    path: PathBuf,
}

/// Reasons why a command cannot use the socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("nothing listens on {0}")]
    Closed(PathBuf),
    #[error(
        "a program of another user (uid {uid}) listens on {path}, so no token is sent there; remove that file, or \
         choose another folder with --data-dir"
    )]
    Stranger { path: PathBuf, uid: u32 },
    #[error("cannot use the socket {path}")]
    Io { path: PathBuf, source: io::Error },
}

/// Listens in a folder. The caller holds the folder's lock, so a socket that is there belongs to no server.
pub(crate) fn listen(folder: &Path) -> io::Result<(UnixListener, BoundSocket)> {
    let path = folder.join(FILE);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let short = ShortPath::of(folder)?;
    let listener = net::UnixListener::bind(short.socket())?;
    let bound = BoundSocket { path };
    fs::set_permissions(short.socket(), Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok((UnixListener::from_std(listener)?, bound))
}

/// Connects to the server of a folder, if it is one that may have the folder's token.
pub(crate) async fn connect(folder: &Path) -> Result<UnixStream, ConnectError> {
    let path = || folder.join(FILE);
    let failed = |source: io::Error| {
        let path = path();
        // A server that was killed leaves its socket behind.
        let closed = [io::ErrorKind::NotFound, io::ErrorKind::ConnectionRefused];
        if closed.contains(&source.kind()) {
            ConnectError::Closed(path)
        } else {
            ConnectError::Io { path, source }
        }
    };
    let short = ShortPath::of(folder).map_err(failed)?;
    let stream = UnixStream::connect(short.socket()).await.map_err(failed)?;
    let server = stream.peer_cred().map_err(failed)?.uid();
    let owner = fs::metadata(folder).map_err(failed)?.uid();
    if is_trusted(server, owner, geteuid().as_raw()) {
        Ok(stream)
    } else {
        Err(ConnectError::Stranger {
            path: path(),
            uid: server,
        })
    }
}

/// Returns true if a server of this user may be sent the token of a folder with this owner.
fn is_trusted(server: u32, owner: u32, me: u32) -> bool {
    // Root may use the folder of a service's user.
    server == me || server == ROOT || (me == ROOT && server == owner)
}

/// A folder by a short name, since the path of a socket has at most 107 bytes.
struct ShortPath(OwnedFd);

impl ShortPath {
    fn of(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(open(folder, flags, Mode::empty())?))
    }

    fn socket(&self) -> PathBuf {
        format!("/proc/self/fd/{}/{FILE}", self.0.as_raw_fd()).into()
    }
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "could not remove server.sock from the data folder");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_socket_is_private_and_goes_with_its_server() {
        let parent = tempfile::tempdir().unwrap();
        // Longer than the path of a socket may be.
        let folder = parent.path().join("x".repeat(200));
        fs::create_dir(&folder).unwrap();
        assert!(matches!(
            connect(&folder).await,
            Err(ConnectError::Closed(_))
        ));
        let (listener, bound) = listen(&folder).unwrap();
        let mode = fs::metadata(folder.join(FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let (connected, accepted) = tokio::join!(connect(&folder), listener.accept());
        connected.unwrap();
        accepted.unwrap();

        // As after a kill, the file stays. The next server replaces it.
        drop(listener);
        assert!(matches!(
            connect(&folder).await,
            Err(ConnectError::Closed(_))
        ));
        std::mem::forget(bound);
        let (_listener, bound) = listen(&folder).unwrap();
        connect(&folder).await.unwrap();
        drop(bound);
        assert!(!folder.join(FILE).exists());
    }

    #[test]
    fn a_server_of_another_user_is_not_trusted() {
        let (me, owner, other) = (1000, 999, 1001);
        assert!(is_trusted(me, me, me));
        assert!(is_trusted(ROOT, me, me));
        assert!(is_trusted(owner, owner, ROOT));
        assert!(!is_trusted(other, me, me));
        assert!(!is_trusted(other, other, me), "it is their folder");
        assert!(!is_trusted(other, owner, ROOT));
    }
}
