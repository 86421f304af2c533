//! Servers on this machine's loopback: a little web server with a git repository, and simple ones over TCP.

use std::{fs, net::SocketAddr, path::Path, process::Command};

use deskhand_core::tasks::Tasks;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// The size of the large file, in bytes, roughly.
const LARGE: usize = 32 * 1024 * 1024;

pub(crate) struct Servers {
    pub(crate) web: SocketAddr,
    /// Returns what it gets, and ends when the other side does.
    pub(crate) echo: SocketAddr,
    /// Reads everything and then answers with the number of bytes.
    pub(crate) count: SocketAddr,
    /// Accepts and never reads.
    pub(crate) sink: SocketAddr,
    /// Resets the connection at the first byte.
    pub(crate) reset: SocketAddr,
    pub(crate) sum_of_large: String,
    _dir: TempDir,
}

impl Servers {
    pub(crate) async fn start(tasks: &Tasks) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("hello"), "hello").unwrap();
        let page =
            "<!doctype html><body>from here <script src=http://other.test/script.js></script>";
        fs::write(dir.path().join("page.html"), page).unwrap();
        let script = "document.body.append('and from elsewhere')";
        fs::write(dir.path().join("script.js"), script).unwrap();
        let large = include_bytes!("servers.rs").repeat(LARGE / include_bytes!("servers.rs").len());
        fs::write(dir.path().join("large"), &large).unwrap();
        let sum_of_large = sum_of(&dir.path().join("large"));
        make_repository(dir.path());
        let root = dir.path().to_owned();
        Self {
            web: serve(tasks, move |stream| answer_web(stream, root.clone())).await,
            echo: serve(tasks, echo).await,
            count: serve(tasks, count).await,
            sink: serve(tasks, |stream| async move {
                std::future::pending::<()>().await;
                drop(stream);
            })
            .await,
            reset: serve(tasks, reset).await,
            sum_of_large,
            _dir: dir,
        }
    }
}

/// Serves connections at a free port.
async fn serve<F>(tasks: &Tasks, handle: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let all = tasks.clone();
    tasks.spawn("listener", async move {
        let end = all.shutdown().clone();
        while let Some(Ok((stream, _))) = end.run_until_cancelled(listener.accept()).await {
            let end = end.clone();
            let handled = handle(stream);
            all.spawn("server", async move {
                end.run_until_cancelled(handled).await;
            });
        }
    });
    address
}

async fn echo(stream: TcpStream) {
    stream.set_nodelay(true).unwrap();
    let (mut reader, mut writer) = stream.into_split();
    // Either side may break off, which is not the server's business.
    let _ = tokio::io::copy(&mut reader, &mut writer).await;
    let _ = writer.shutdown().await;
}

async fn count(mut stream: TcpStream) {
    let (mut piece, mut n_bytes) = (vec![0; 256 * 1024], 0);
    while let Ok(n @ 1..) = stream.read(&mut piece).await {
        n_bytes += n;
    }
    let _ = stream.write_all(n_bytes.to_string().as_bytes()).await;
}

async fn reset(mut stream: TcpStream) {
    let _ = stream.read_u8().await;
    // Closing with unread bytes and no time to linger resets.
    let _ = stream.set_zero_linger();
}

/// Answers one request for a file.
async fn answer_web(stream: TcpStream, root: std::path::PathBuf) {
    let mut stream = BufReader::new(stream);
    let mut request = String::new();
    let mut line = String::new();
    while let Ok(3..) = stream.read_line(&mut line).await {
        request.push_str(&line);
        line.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    let file = root.join(path.trim_start_matches('/'));
    let (status, body) = match fs::read(file) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(&body).await;
    let _ = stream.shutdown().await;
}

#[expect(clippy::disallowed_methods, reason = "the test prepares a repository")]
fn make_repository(dir: &Path) {
    let script = "git init -q work && cd work && echo 'in the repository' > file && git add file \
         && git -c user.name=a -c user.email=a@b commit -q -m one && cd .. \
         && git clone -q --bare work repository.git && cd repository.git && git update-server-info";
    let made = Command::new("sh")
        .args(["-c", script])
        .current_dir(dir)
        .env("HOME", dir)
        .status();
    assert!(made.unwrap().success());
}

#[expect(clippy::disallowed_methods, reason = "the test checks a sum")]
fn sum_of(file: &Path) -> String {
    let output = Command::new("sha256sum").arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split(' ').next().unwrap().to_owned()
}
