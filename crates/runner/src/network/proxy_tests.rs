use deskhand_testkit::fuzz;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use super::*;

const GET: &str = "GET http://User@Example.COM:8080?q=1 HTTP/1.1\r\nHost: example.com\r\n\
                   Proxy-Authorization: Basic x\r\nconnection: keep-alive\r\n\r\n";

fn name(name: &str) -> NetworkHost {
    NetworkHost::Name(name.to_owned())
}

#[test]
fn hosts_are_normalised() {
    assert_eq!(host("Example.COM."), Some(name("example.com")));
    assert_eq!(
        host("[::1]"),
        Some(NetworkHost::Address("::1".parse().unwrap()))
    );
    assert_eq!(
        host("192.0.2.7"),
        Some(NetworkHost::Address("192.0.2.7".parse().unwrap()))
    );
    for bad in [
        "",
        ".",
        "a..b",
        "127.1",
        "0x7f000001",
        "2130706433",
        "a b",
        "ä.de",
    ] {
        assert_eq!(host(bad), None, "{bad}");
    }
}

#[test]
fn requests_for_addresses_become_requests_to_hosts() {
    let request = http::request(GET, b"body".to_vec()).unwrap();
    assert_eq!((request.host, request.port), (name("example.com"), 8080));
    assert_eq!(
        String::from_utf8(request.first_bytes).unwrap(),
        "GET /?q=1 HTTP/1.1\r\nConnection: close\r\nHost: example.com\r\n\r\nbody"
    );
    let request = http::request("CONNECT example.com:443 HTTP/1.1\r\n\r\n", Vec::new()).unwrap();
    assert_eq!((request.host, request.port), (name("example.com"), 443));
    for bad in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET ftp://example.com/ HTTP/1.1\r\n\r\n",
        "CONNECT example.com HTTP/1.1\r\n\r\n",
        "CONNECT example.com:99999 HTTP/1.1\r\n\r\n",
    ] {
        assert_eq!(http::request(bad, Vec::new()), None, "{bad}");
    }
}

#[tokio::test]
async fn socks_is_understood() {
    let (mut program, mut proxy) = duplex(1024);
    program.write_all(&[5, 1, 0]).await.unwrap();
    program.write_all(&[5, 1, 0, 3, 5]).await.unwrap();
    program.write_all(b"a.com\x01\xbb").await.unwrap();
    let ProxyRequestRead::Request(request) = socks::read(&mut proxy).await.unwrap() else {
        panic!("it was refused");
    };
    assert_eq!((request.host, request.port), (name("a.com"), 443));
    let mut greeting = [0; 2];
    program.read_exact(&mut greeting).await.unwrap();
    assert_eq!(greeting, [5, 0]);
    let reason = "not on the list".to_owned();
    assert_eq!(socks::answer(&NetworkAnswer::Refused { reason })[1], 2);
}

#[test]
fn fuzz_requests_to_the_proxy() {
    let seeds = [GET.as_bytes(), b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n"];
    fuzz("proxy", &seeds, |input| {
        if let Ok(head) = std::str::from_utf8(input)
            && let Some(request) = http::request(head, Vec::new())
        {
            assert!(request.first_bytes.len() <= input.len() + 64);
        }
    });
}
