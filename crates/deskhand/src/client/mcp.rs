//! The connection of an MCP client.

use std::error::Error;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::{Request, StatusCode, client::conn::http1, header, upgrade::Upgraded};
use hyper_util::rt::TokioIo;

use super::{CONNECT_TIMEOUT, CallError, Client, refusal};

/// The protocol of a connection with one message per line.
const LINES: &str = "mcp-lines";

/// The server's answer to the request for a connection.
enum Opened {
    Lines(Upgraded),
    Refused { status: u16, body: Bytes },
}

impl Client {
    /// Opens a connection that carries the messages of an MCP client, one per line.
    pub(crate) async fn open_mcp(
        &self,
        tools: Option<&str>,
    ) -> Result<TokioIo<Upgraded>, CallError> {
        let opening = tokio::time::timeout(CONNECT_TIMEOUT, self.ask_for_lines(tools));
        let opened = opening.await.unwrap_or_else(|elapsed| Err(elapsed.into()));
        match opened {
            Ok(Opened::Lines(upgraded)) => Ok(TokioIo::new(upgraded)),
            Ok(Opened::Refused { status, body }) => Err(refusal(self.address(), status, &body)),
            Err(source) => Err(CallError::Unreachable {
                url: self.address().to_owned(),
                source,
            }),
        }
    }

    async fn ask_for_lines(
        &self,
        tools: Option<&str>,
    ) -> Result<Opened, Box<dyn Error + Send + Sync>> {
        let stream = self.transport.connect().await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // The names of groups have no character with a meaning in an address, or there is no such group.
        let query = tools.map(|tools| format!("?tools={tools}"));
        let request = Request::builder()
            .uri(format!("/mcp{}", query.unwrap_or_default()))
            .header(header::HOST, self.transport.host())
            .header(
                header::AUTHORIZATION,
                format!("Bearer {}", self.token.expose()),
            )
            .header(header::CONNECTION, "upgrade")
            .header(header::UPGRADE, LINES)
            .body(Empty::<Bytes>::new())?;
        let exchange = async move {
            let response = sender.send_request(request).await?;
            if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                return hyper::upgrade::on(response).await.map(Opened::Lines);
            }
            let status = response.status().as_u16();
            let body = response.into_body().collect().await?.to_bytes();
            Ok(Opened::Refused { status, body })
        };
        // The connection ends when it is upgraded, or when the exchange drops its sender.
        let (opened, _closed) = tokio::join!(exchange, connection.with_upgrades());
        Ok(opened?)
    }
}
