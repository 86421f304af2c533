//! `WebSocket`s between a person's browser and a program. After the upgrade, bytes are copied in both directions.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Response, StatusCode, header},
};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;

use super::{Gate, proxy::Answered};
use crate::{metrics::OpenSocket, sockets::CountedSocket};

/// Adds the hop-by-hop headers of an upgrade, which were removed with the others.
pub(super) fn ask_for_upgrade(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
}

impl Gate {
    /// Copies bytes between both sides until one ends or the person loses access.
    pub(super) fn relay(
        &self,
        client: OnUpgrade,
        answered: Answered,
        counted: Option<CountedSocket>,
    ) -> Response<Body> {
        let Answered {
            response,
            connection,
            lost,
        } = answered;
        let program = hyper::upgrade::on(response);
        let copying = async move {
            let (client, program) = futures::future::try_join(client, program).await?;
            let (mut client, mut program) = (TokioIo::new(client), TokioIo::new(program));
            // Both sides are closed afterwards, with or without an error.
            let _ = copy_bidirectional(&mut client, &mut program).await;
            Ok::<_, hyper::Error>(())
        };
        self.shared.tasks.spawn("app socket", async move {
            let _counted = (OpenSocket::count("app"), counted);
            // The upgrade completes only while the connection is polled.
            let moving = async {
                if let Some(connection) = connection {
                    connection.await;
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                copied = copying => {
                    if let Err(error) = copied {
                        let error = &error as &dyn std::error::Error;
                        tracing::debug!(error, "a WebSocket to a program was not opened");
                    }
                }
                () = moving => {}
                () = lost => {}
            }
        });
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        response
    }
}
