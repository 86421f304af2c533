//! A web site on loopback: a page, and a video that browsers may read in parts.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
};

/// The name of the site, which a server finds on this machine.
const HOST: &str = "videos.test";

/// A site. It ends with the process.
pub(crate) struct Site {
    port: u16,
}

impl Site {
    /// Serves a page, and the video at `/video.webm`.
    pub(crate) fn start(page: &'static str, video: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let video: Arc<[u8]> = video.into();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let video = Arc::clone(&video);
                // A browser that goes away needs no answer.
                std::thread::spawn(move || drop(answer(&stream, page, &video)));
            }
        });
        Self { port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{HOST}:{}/", self.port)
    }

    /// Returns the names that a server needs to find the site.
    pub(crate) fn hosts() -> Vec<(String, String)> {
        vec![(HOST.to_owned(), "127.0.0.1".to_owned())]
    }
}

fn answer(mut stream: &TcpStream, page: &str, video: &[u8]) -> std::io::Result<()> {
    let (mut wants_video, mut from) = (false, None);
    for line in BufReader::new(stream).lines() {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        wants_video |= line.starts_with("get /video.webm");
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.split('-').next().and_then(|first| first.parse().ok());
        }
    }
    let (kind, body) = match wants_video {
        true => ("video/webm", video),
        false => ("text/html", page.as_bytes()),
    };
    let first = from.filter(|first| *first < body.len());
    let (part, all) = (&body[first.unwrap_or(0)..], body.len());
    let status = match first {
        Some(first) => format!(
            "206 Partial\r\ncontent-range: bytes {first}-{}/{all}",
            all - 1
        ),
        None => "200 OK".to_owned(),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\naccept-ranges: bytes\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        part.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(part)
}
