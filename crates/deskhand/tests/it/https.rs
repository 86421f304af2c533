//! Commands that reach a server through a proxy that encrypts, as in front of a team's server.

use std::{process::Command, sync::Arc};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    runtime::Runtime,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

use crate::{program::Place, world::serve};

const ANSWER: &str = "
steps:
  - text: Nothing to see.
";

/// Makes a certificate for `localhost` that signs itself, and returns the paths of it and its key.
#[expect(
    clippy::disallowed_methods,
    reason = "a test makes its own certificate"
)]
fn certificate(place: &Place) -> [String; 2] {
    let [certificate, key] =
        ["certificate.pem", "key.pem"].map(|name| place.home().join(name).display().to_string());
    let made = Command::new("openssl")
        .args("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(' '))
        .args([
            "-subj",
            "/CN=localhost",
            "-keyout",
            &key,
            "-out",
            &certificate,
        ])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    [certificate, key]
}

/// Starts a proxy in front of a server and returns its port. The proxy ends with the runtime.
fn proxy(runtime: &Runtime, [certificate, key]: &[String; 2], server: String) -> u16 {
    let certificate = CertificateDer::from_pem_file(certificate).unwrap();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let settings = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(settings));
    let listener = runtime
        .block_on(TcpListener::bind(("localhost", 0)))
        .unwrap();
    let port = listener.local_addr().unwrap().port();
    runtime.spawn(async move {
        let mut served = JoinSet::new();
        while let Ok((socket, _)) = listener.accept().await {
            let (acceptor, server) = (acceptor.clone(), server.clone());
            served.spawn(async move {
                // A client that refuses the certificate leaves.
                let Ok(mut socket) = acceptor.accept(socket).await else {
                    return;
                };
                let mut server = TcpStream::connect(server).await.unwrap();
                let _ = copy_bidirectional(&mut socket, &mut server).await;
            });
        }
    });
    port
}

#[test]
fn commands_verify_the_certificate_of_an_https_server() {
    let server = serve(&[("answer", ANSWER)]);
    let place = Place::new().with("DESKHAND_TOKEN", &server.token());
    let files = certificate(&place);
    let runtime = Runtime::new().unwrap();
    let behind = server.url().replace("http://", "");
    let address = format!("https://localhost:{}", proxy(&runtime, &files, behind));
    let run = [
        "run",
        "--server",
        &address,
        "--model",
        "scripted/answer",
        "Go",
    ];

    let ended = place.run(&run);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(ended.stderr.contains("certificate"), "{}", ended.stderr);

    let place = place.with("SSL_CERT_FILE", &files[0]);
    // Requests and the stream of events.
    let ended = place.run(&run);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("Nothing to see."), "{}", ended.stdout);

    // The name must be right too.
    let other = address.replace("localhost", "127.0.0.1");
    let ended = place.run(&["decisions", "--server", &other]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(ended.stderr.contains("certificate"), "{}", ended.stderr);
}
