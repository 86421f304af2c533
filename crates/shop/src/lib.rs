//! A small web shop for the built-in demo. `deskhand demo-shop` serves it inside a sandbox, and the agent orders
//! from it.
//!
//! Each control has a background colour that appears nowhere else on its page, so that a scripted model can find
//! the control in a screenshot.

mod order;
mod page;

use std::{
    convert::Infallible,
    io::{self, Write},
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, LOCATION},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, task::JoinSet};

use crate::order::{Book, Complaints, Form};

/// The longest form that is accepted. Longer ones are refused with 413.
const LONGEST_FORM_BYTES: usize = 64 * 1024;
/// The most connections at the same time. Further ones wait in the listener's backlog.
const MAX_CONNECTIONS: usize = 64;
/// The time a client has to send its headers, and again to send its body.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Reasons why the shop cannot open or has closed.
#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    #[error("the shop cannot listen on {address}; another one may be running")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("cannot open the order book {}", path.display())]
    Orders { path: PathBuf, source: io::Error },
    #[error("the shop failed")]
    Io(#[from] io::Error),
}

/// Serves the shop at `listen` until an error ends it, and appends orders to the file `orders`.
pub async fn serve(listen: SocketAddr, orders: PathBuf) -> Result<(), ShopError> {
    let book = Book::open(orders.clone()).map_err(|source| ShopError::Orders {
        path: orders,
        source,
    })?;
    let book = Arc::new(Mutex::new(book));
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|source| ShopError::Listen {
            address: listen,
            source,
        })?;
    let port = listener.local_addr()?.port();
    writeln!(io::stdout(), "The shop is open at http://localhost:{port}")?;
    // Dropping the set closes every connection.
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => accepted?,
            Some(_) = connections.join_next() => continue,
        };
        let book = Arc::clone(&book);
        let service = service_fn(move |request| answer(request, Arc::clone(&book)));
        connections.spawn(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_TIMEOUT)
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}

async fn answer(
    request: Request<Incoming>,
    book: Arc<Mutex<Book>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    Ok(match (method, path.as_str()) {
        (Method::GET | Method::HEAD, "/") => html(
            StatusCode::OK,
            page::order(&Form::default(), &Complaints::default()),
        ),
        (Method::POST, "/order") => {
            let body = Limited::new(request.into_body(), LONGEST_FORM_BYTES).collect();
            match tokio::time::timeout(REQUEST_TIMEOUT, body).await {
                Ok(Ok(body)) => place(&Form::parse(&body.to_bytes()), &book),
                Ok(Err(_)) => html(StatusCode::PAYLOAD_TOO_LARGE, page::missing()),
                Err(_) => html(StatusCode::REQUEST_TIMEOUT, page::missing()),
            }
        }
        (Method::GET | Method::HEAD, path) => {
            let number = path
                .strip_prefix("/orders/")
                .and_then(|number| number.parse().ok());
            let book = book.lock().unwrap_or_else(PoisonError::into_inner);
            match number.and_then(|number| book.order(number)) {
                Some(order) => html(StatusCode::OK, page::thanks(order)),
                None => html(StatusCode::NOT_FOUND, page::missing()),
            }
        }
        _ => html(StatusCode::NOT_FOUND, page::missing()),
    })
}

/// Stores an order, or shows the form again with its mistakes.
fn place(form: &Form, book: &Mutex<Book>) -> Response<Full<Bytes>> {
    let order = match form.check() {
        Ok(order) => order,
        Err(complaints) => {
            return html(
                StatusCode::UNPROCESSABLE_ENTITY,
                page::order(form, &complaints),
            );
        }
    };
    let mut book = book.lock().unwrap_or_else(PoisonError::into_inner);
    match book.add(order) {
        Ok(number) => respond(
            Response::builder()
                .status(StatusCode::SEE_OTHER)
                .header(LOCATION, format!("/orders/{number}")),
            String::new(),
        ),
        Err(error) => {
            tracing::error!(%error, "could not store an order");
            let complaints = Complaints {
                note: "The order book cannot be written",
                ..Complaints::default()
            };
            html(
                StatusCode::INTERNAL_SERVER_ERROR,
                page::order(form, &complaints),
            )
        }
    }
}

fn html(status: StatusCode, page: String) -> Response<Full<Bytes>> {
    respond(
        Response::builder()
            .status(status)
            .header(CONTENT_TYPE, "text/html; charset=utf-8"),
        page,
    )
}

fn respond(builder: hyper::http::response::Builder, body: String) -> Response<Full<Bytes>> {
    // All statuses and headers are constants or digits, so the builder cannot fail.
    builder.body(Full::from(body)).unwrap_or_default()
}
