//! Files of a session, streamed.

use bytes::Bytes;
use deskhand_api::{
    files::{FileActionBody, FileView},
    messages::AttachmentView,
};
use deskhand_core::{file::FilePath, id::SessionId};
use http_body_util::{BodyExt, combinators::BoxBody};
use hyper::{Request, Response, body::Incoming, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use reqwest::Method;
use tokio::time::timeout;

use super::{CONNECT_TIMEOUT, CallError, Client, refusal};

/// The body of an upload.
pub(crate) type FileBody = BoxBody<Bytes, std::io::Error>;

/// The facts about a file that is sent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SentFile {
    pub(crate) length: Option<u64>,
    pub(crate) is_executable: bool,
}

impl Client {
    /// Returns the facts about a file or folder.
    pub(crate) async fn file_info(
        &self,
        session: SessionId,
        path: &FilePath,
    ) -> Result<FileView, CallError> {
        let url = format!("{}?info=true", url(session, path));
        self.get(&url).await
    }

    /// Makes a folder, with those that it is in. It may be there already.
    pub(crate) async fn make_folder(
        &self,
        session: SessionId,
        path: &FilePath,
    ) -> Result<FileView, CallError> {
        self.post(&url(session, path), &FileActionBody::MakeFolder)
            .await
    }

    /// Writes a file.
    pub(crate) async fn write_file(
        &self,
        session: SessionId,
        path: &FilePath,
        kind: SentFile,
        body: FileBody,
    ) -> Result<(), CallError> {
        let query = if kind.is_executable {
            "?executable=true"
        } else {
            ""
        };
        let mut request = Request::builder()
            .method(Method::PUT)
            .uri(format!("{}{query}", url(session, path)));
        if let Some(length) = kind.length {
            request = request.header(header::CONTENT_LENGTH, length);
        }
        self.stream(request, body, async |_answer| Ok(())).await
    }

    /// Uploads a file for the next message.
    pub(crate) async fn attach(
        &self,
        session: SessionId,
        name: &str,
        bytes: Bytes,
    ) -> Result<AttachmentView, CallError> {
        let name = encoded(name);
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("/api/sessions/{session}/attachments?name={name}"))
            .header(header::CONTENT_LENGTH, bytes.len());
        let body = http_body_util::Full::new(bytes).map_err(|never| match never {});
        let take = async |answer: Response<Incoming>| {
            let status = answer.status().as_u16();
            let body = answer.into_body().collect().await;
            let body = body.map(http_body_util::Collected::to_bytes);
            let body = body.unwrap_or_default();
            // A body in an unknown format is reported as it is.
            serde_json::from_slice(&body).map_err(|_other| refusal(self.address(), status, &body))
        };
        self.stream(request, body.boxed(), take).await
    }

    /// Reads a file, or a folder as an archive, and passes its body to `take`.
    pub(crate) async fn read_file<T>(
        &self,
        session: SessionId,
        path: &FilePath,
        is_archive: bool,
        take: impl AsyncFnOnce(Incoming) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let query = if is_archive { "?archive=tar.gz" } else { "" };
        let request = Request::builder()
            .method(Method::GET)
            .uri(format!("{}{query}", url(session, path)));
        let empty = http_body_util::Empty::new().map_err(|never| match never {});
        let read = self.stream(
            request,
            empty.boxed(),
            async |answer: Response<Incoming>| Ok(take(answer.into_body()).await),
        );
        read.await?
    }

    /// Sends a request over its own connection, and streams both bodies.
    async fn stream<T>(
        &self,
        request: hyper::http::request::Builder,
        body: FileBody,
        take: impl AsyncFnOnce(Response<Incoming>) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let unreachable =
            |source: Box<dyn std::error::Error + Send + Sync>| CallError::Unreachable {
                url: self.address().to_owned(),
                source,
            };
        let stream = timeout(CONNECT_TIMEOUT, self.transport.connect()).await;
        let stream = stream.map_err(|elapsed| unreachable(elapsed.into()))?;
        let stream = stream.map_err(|error| unreachable(error.into()))?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(|error| unreachable(error.into()))?;
        let request = request
            .header(header::HOST, self.transport.host())
            .header(
                header::AUTHORIZATION,
                format!("Bearer {}", self.token.expose()),
            )
            .header(header::CONTENT_TYPE, "application/octet-stream")
            .body(body)
            .map_err(|error| unreachable(error.into()))?;
        let exchange = async move {
            let answer = sender.send_request(request).await;
            let answer = answer.map_err(|error| unreachable(error.into()))?;
            let status = answer.status().as_u16();
            if !(200..300).contains(&status) {
                let body = answer.into_body().collect().await;
                let body = body
                    .map(http_body_util::Collected::to_bytes)
                    .unwrap_or_default();
                return Err(refusal(self.address(), status, &body));
            }
            take(answer).await
        };
        // The connection ends when the exchange drops its sender.
        let (taken, _closed) = tokio::join!(exchange, connection);
        taken
    }
}

/// Returns the path of a file in the API, percent-encoded.
fn url(session: SessionId, path: &FilePath) -> String {
    let path = match path.as_str() {
        "/" => "%2F".to_owned(),
        path => encoded(path.trim_start_matches('/')),
    };
    format!("/api/sessions/{session}/files/{path}")
}

fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}
