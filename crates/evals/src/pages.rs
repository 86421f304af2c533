//! The server of a task's pages. It runs inside the sandbox, and writes down the forms that pages send.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fs::OpenOptions,
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CACHE_CONTROL, CONTENT_TYPE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use serde_json::Value;
use tokio::{net::TcpListener, task::JoinSet};

/// The longest form. Longer ones are refused with 413.
const LONGEST_FORM_BYTES: usize = 64 * 1024;
/// The most forms that are written down.
const MOST_FORMS: usize = 1000;
/// The most connections at the same time. Further ones wait in the listener's backlog.
const MAX_CONNECTIONS: usize = 64;
/// The time a client has to send its headers, and again to send its body.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

const SAVED: &str = "<!doctype html><meta charset=utf-8><title>Saved</title><h1>Saved</h1>";
const MISSING: &str =
    "<!doctype html><meta charset=utf-8><title>Not found</title><h1>Not found</h1>";

/// Reasons why the pages cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ServePagesError {
    #[error("cannot listen on {address}; another program may use it")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("cannot open {}", path.display())]
    Forms { path: PathBuf, source: io::Error },
    #[error("the server of pages failed")]
    Io(#[from] io::Error),
}

/// The pages of a folder, and the file with the forms.
#[derive(Debug)]
struct Site {
    folder: PathBuf,
    forms: Mutex<Forms>,
}

/// A form as it is written down, with its fields in the order of their names.
#[derive(Debug, Serialize)]
struct Form<'a> {
    page: &'a str,
    fields: BTreeMap<String, Value>,
}

#[derive(Debug)]
struct Forms {
    file: std::fs::File,
    n: usize,
}

/// Serves the pages of `folder` until an error ends it, and appends each form to the file `forms` as a line of JSON.
pub async fn serve_pages(
    listen: SocketAddr,
    folder: PathBuf,
    forms: PathBuf,
) -> Result<(), ServePagesError> {
    let opened = OpenOptions::new().create(true).append(true).open(&forms);
    let file = opened.map_err(|source| ServePagesError::Forms {
        path: forms,
        source,
    })?;
    let forms = Mutex::new(Forms { file, n: 0 });
    let site = Arc::new(Site { folder, forms });
    let listener = TcpListener::bind(listen).await;
    let listener = listener.map_err(|source| ServePagesError::Listen {
        address: listen,
        source,
    })?;
    // Dropping the set closes every connection.
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => accepted?,
            Some(_) = connections.join_next() => continue,
        };
        let site = Arc::clone(&site);
        let service = service_fn(move |request| answer(request, Arc::clone(&site)));
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
    site: Arc<Site>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let name = page_name(request.uri().path()).to_owned();
    Ok(match *request.method() {
        Method::GET | Method::HEAD => match site.page(&name) {
            Some(page) => respond(StatusCode::OK, media_type(&name), page),
            None => respond(StatusCode::NOT_FOUND, media_type(""), MISSING),
        },
        Method::POST => {
            let body = Limited::new(request.into_body(), LONGEST_FORM_BYTES).collect();
            match tokio::time::timeout(REQUEST_TIMEOUT, body).await {
                Ok(Ok(body)) => site.take(&name, &body.to_bytes()),
                Ok(Err(_)) => respond(StatusCode::PAYLOAD_TOO_LARGE, media_type(""), MISSING),
                Err(_) => respond(StatusCode::REQUEST_TIMEOUT, media_type(""), MISSING),
            }
        }
        _ => respond(StatusCode::METHOD_NOT_ALLOWED, media_type(""), MISSING),
    })
}

impl Site {
    /// Reads a page. Names have no slashes, so none leads out of the folder.
    fn page(&self, name: &str) -> Option<Bytes> {
        let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains('/');
        let path = Path::new(&self.folder).join(name);
        is_plain
            .then(|| std::fs::read(path).ok())
            .flatten()
            .map(Bytes::from)
    }

    /// Writes a form down, and shows the page that it was sent to.
    fn take(&self, name: &str, body: &[u8]) -> Response<Full<Bytes>> {
        let form = Form {
            page: name,
            fields: fields(body),
        };
        // A map of texts to JSON can always be written.
        let line = serde_json::to_string(&form).unwrap_or_default();
        let mut forms = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        if forms.n >= MOST_FORMS {
            return respond(StatusCode::TOO_MANY_REQUESTS, media_type(""), MISSING);
        }
        forms.n += 1;
        if writeln!(forms.file, "{line}").is_err() {
            return respond(StatusCode::INTERNAL_SERVER_ERROR, media_type(""), MISSING);
        }
        match self.page(name) {
            Some(page) => respond(StatusCode::OK, media_type(name), page),
            None => respond(StatusCode::OK, media_type(""), SAVED),
        }
    }
}

/// Returns the fields of a form by name, or the JSON object that a script sent. Values of the same name are joined.
fn fields(body: &[u8]) -> BTreeMap<String, Value> {
    if let Ok(object) = serde_json::from_slice(body) {
        return object;
    }
    let mut fields = BTreeMap::<String, String>::new();
    for (name, value) in url::form_urlencoded::parse(body) {
        let value = value.replace("\r\n", "\n");
        fields
            .entry(name.into_owned())
            .and_modify(|earlier| {
                earlier.push_str(", ");
                earlier.push_str(&value);
            })
            .or_insert(value);
    }
    let fields = fields.into_iter();
    fields.map(|(name, value)| (name, value.into())).collect()
}

/// Returns the name of the page at a path.
fn page_name(path: &str) -> &str {
    match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    }
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("html", |(_, ending)| ending) {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "csv" | "txt" | "md" => "text/plain; charset=utf-8",
        _ => "text/html; charset=utf-8",
    }
}

fn respond(status: StatusCode, media_type: &str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let builder = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, media_type)
        .header(CACHE_CONTROL, "no-store");
    // All statuses and headers are constants, so the builder cannot fail.
    builder.body(Full::new(body.into())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_become_fields() {
        let written = |body: &[u8]| serde_json::to_string(&fields(body)).unwrap();
        let form = written(b"note=a%0D%0Ab&name=Ada+Lovelace&day=mon&day=tue&empty=");
        let expected = r#"{"day":"mon, tue","empty":"","name":"Ada Lovelace","note":"a\nb"}"#;
        assert_eq!(form, expected);
        assert_eq!(written(br#"{"on": true}"#), r#"{"on":true}"#);
        assert_eq!(written(b""), "{}");
    }

    #[test]
    fn pages_are_in_the_folder_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("pages")).unwrap();
        std::fs::write(folder.path().join("pages/index.html"), "hello").unwrap();
        std::fs::write(folder.path().join("secret.html"), "secret").unwrap();
        let file = std::fs::File::create(folder.path().join("forms")).unwrap();
        let site = Site {
            folder: folder.path().join("pages"),
            forms: Mutex::new(Forms { file, n: 0 }),
        };
        assert_eq!(site.page(page_name("/")), Some("hello".into()));
        assert_eq!(site.page(page_name("/index.html")), Some("hello".into()));
        for path in ["/other.html", "/../secret.html", "/..", "/.", "//..//"] {
            assert_eq!(site.page(page_name(path)), None, "{path}");
        }
        assert_eq!(site.take("join", b"a=1").status(), StatusCode::OK);
        let written = std::fs::read_to_string(folder.path().join("forms")).unwrap();
        assert_eq!(written, "{\"page\":\"join\",\"fields\":{\"a\":\"1\"}}\n");
    }
}
