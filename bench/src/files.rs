//! Measures uploads to and downloads from a sandbox.

use std::{
    io::{Read, Write},
    time::Instant,
};

use bytes::Bytes;
use deskhand_testkit::{Server, ServerOptions, Session};
use reqwest::Method;

use crate::table::{Row, Table, median};

const N_BYTES: usize = 512 * 1024 * 1024;
const N_TIMES: usize = 5;
/// The time for all bytes at 300 MB a second.
const TARGET_MS: f64 = 1_790.0;
/// The buffer of the plain copy.
const COPY_BYTES: usize = 256 * 1024;

pub(crate) async fn measure(program: &str) {
    println!("Measuring {N_TIMES} transfers of 512 MiB each way …");
    let server = Server::start(program, ServerOptions::default());
    let session = server.client().new_session("scripted/demo").await;
    session.shell("true").await;
    let content = Bytes::from(vec![7; N_BYTES]);
    let (mut up, mut down, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..N_TIMES {
        up.push(upload(&session, content.clone()).await);
        down.push(download(&session).await);
        plain.push(copy(&content));
    }
    let plain = median(plain);
    let mut table = Table::next_to("a copy");
    table.add(Row::ms(
        "upload, 512 MiB",
        median(up),
        Some(plain),
        TARGET_MS,
    ));
    table.add(Row::ms(
        "download, 512 MiB",
        median(down),
        Some(plain),
        TARGET_MS,
    ));
    println!("{table}");
    println!(
        "The bytes pass the client, the server, the runner's link and the sandbox's disk. The copy reads and writes two files of this machine."
    );
}

async fn upload(session: &Session, content: Bytes) -> f64 {
    let path = session.path("/files/~/large.bin");
    let began = Instant::now();
    let written = session.client.request(Method::PUT, &path, &[], content);
    let written = written.await;
    assert!(written.status().is_success(), "{written:?}");
    elapsed_ms(began)
}

async fn download(session: &Session) -> f64 {
    let path = session.path("/files/~/large.bin");
    let began = Instant::now();
    let mut answer = session.client.request(Method::GET, &path, &[], "").await;
    let mut n_bytes = 0;
    while let Some(piece) = answer.chunk().await.unwrap() {
        n_bytes += piece.len();
    }
    assert_eq!(n_bytes, N_BYTES);
    elapsed_ms(began)
}

/// Writes a file and times a copy of it.
fn copy(content: &[u8]) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("from"), content).unwrap();
    let began = Instant::now();
    let mut from = std::fs::File::open(folder.path().join("from")).unwrap();
    let mut to = std::fs::File::create(folder.path().join("to")).unwrap();
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        let n_bytes = from.read(&mut buffer).unwrap();
        if n_bytes == 0 {
            return elapsed_ms(began);
        }
        to.write_all(&buffer[..n_bytes]).unwrap();
    }
}

fn elapsed_ms(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1_000.0
}
