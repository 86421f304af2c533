use super::*;

fn named(names: &[&str]) -> Claim {
    let hosts = names
        .iter()
        .map(|name| NetworkHost::Name((*name).to_owned()));
    Claim::Hosts(hosts.collect())
}

/// Writes a first message of TLS with these server names, in records of at most `record` bytes.
fn hello(names: &[&str], record: usize) -> Vec<u8> {
    let with_length = |bytes: &[u8]| {
        let mut out = u16::try_from(bytes.len()).unwrap().to_be_bytes().to_vec();
        out.extend_from_slice(bytes);
        out
    };
    let mut listed = Vec::new();
    for name in names {
        listed.push(0);
        listed.extend(with_length(name.as_bytes()));
    }
    let mut extensions = vec![0, 43];
    extensions.extend(with_length(&[2, 3, 4]));
    if !names.is_empty() {
        extensions.extend([0, 0]);
        extensions.extend(with_length(&with_length(&listed)));
    }
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.push(0);
    body.extend(with_length(&[0x13, 0x01]));
    body.extend([1, 0]);
    body.extend(with_length(&extensions));
    let mut message = vec![1, 0];
    message.extend(with_length(&body));
    let mut out = Vec::new();
    for piece in message.chunks(record) {
        out.extend([22, 3, 1]);
        out.extend(with_length(piece));
    }
    out
}

#[test]
fn the_server_name_of_tls_is_found_in_any_records() {
    for record in [1, 3, 7, 50, 10_000] {
        let bytes = hello(&["a.example"], record);
        assert_eq!(claim(&bytes), named(&["a.example"]), "{record}");
        for n_bytes in 0..bytes.len() {
            assert_eq!(
                claim(&bytes[..n_bytes]),
                Claim::Unfinished,
                "{n_bytes} of {record}"
            );
        }
    }
    assert_eq!(claim(&hello(&["A.Example."], 99)), named(&["a.example"]));
    assert_eq!(
        claim(&hello(&["a.example", "b.example"], 99)),
        named(&["a.example", "b.example"])
    );
    assert_eq!(claim(&hello(&[], 99)), Claim::None);
    assert_eq!(claim(&hello(&["a b"], 99)), Claim::Unreadable);
}

#[test]
fn the_host_of_http_is_found() {
    let request = b"GET /path HTTP/1.1\r\nAccept: */*\r\nhOsT:  A.example:8080 \r\n\r\nbody";
    assert_eq!(claim(request), named(&["a.example"]));
    let head = request.len() - 4;
    let first_line = "GET /path HTTP/1.1\r\n".len();
    for n_bytes in 1..head - 1 {
        let expected = if n_bytes < first_line {
            Claim::FirstLine
        } else {
            Claim::Unfinished
        };
        assert_eq!(claim(&request[..n_bytes]), expected, "{n_bytes}");
    }
    let claim = |text: &str| claim(text.as_bytes());
    assert_eq!(claim("GET / HTTP/1.0\r\n\r\n"), Claim::None);
    assert_eq!(
        claim("GET / HTTP/1.1\nHost: a.example\n\n"),
        named(&["a.example"])
    );
    // All of them count.
    assert_eq!(
        claim("GET http://b.example/x HTTP/1.1\r\nHost: a.example\r\nHost : c.example\r\n\r\n"),
        named(&["b.example", "a.example", "c.example"])
    );
    assert_eq!(
        claim("CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n"),
        named(&["b.example"])
    );
    assert_eq!(
        claim("GET / HTTP/1.1\r\nHost: [2606::1]:80\r\n\r\n"),
        Claim::Hosts(vec![NetworkHost::Address("2606::1".parse().unwrap())])
    );
    assert_eq!(
        claim("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
        Claim::Unreadable
    );
}

#[test]
fn forms_that_only_lenient_servers_accept_do_not_pass() {
    let named_anyway = [
        "\r\n\r\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "\nGET / HTTP/1.1\nHost: a.example\n\n",
        "get / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "X_Y / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "AVERYLONGMETHODTHATNOBODYHASEVERUSED / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET\t/\tHTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET / http/1.1\r\nHost: a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example\n\r\n",
        " GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET\u{b}/\u{c}HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ];
    for text in named_anyway {
        assert_eq!(claim(text.as_bytes()), named(&["a.example"]), "{text:?}");
    }
    let unreadable = [
        "GET / HTTP/1.1\r\nHost:\r\n a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nAccept: x\r\n\tHost: a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost:\r\nHost: a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nAccept: x\rHost: a.example\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ];
    for text in unreadable {
        assert_eq!(claim(text.as_bytes()), Claim::Unreadable, "{text:?}");
    }
    assert_eq!(claim(b"GET / HTTP/1.1\r\nHost:\r\n\r\n"), Claim::None);
    for text in [
        &b"GET /\xff HTTP/1.1\r\nHost: a.example\r\n\r\n"[..],
        b"GET / HTTP/1.1\r\nX: \xff\r\nHost: a.example\r\n\r\n",
    ] {
        assert_eq!(claim(text), Claim::Unreadable, "{text:?}");
    }

    let mut skipped = vec![20, 3, 3, 0, 1, 1];
    assert_eq!(claim(&skipped[..1]), Claim::Unfinished);
    skipped.extend(hello(&["a.example"], 99));
    assert_eq!(claim(&skipped), Claim::Unreadable);
    assert_eq!(claim(&[21, 3, 3, 0, 2, 1, 0]), Claim::Unreadable);
    let mut between = hello(&["a.example"], 10);
    between.splice(15..15, [20, 3, 3, 0, 1, 1]);
    assert_eq!(claim(&between), Claim::Unreadable);
}

#[test]
fn empty_lines_are_skipped_within_a_bound() {
    let mut lines = vec![b'\n'; 32 * 1024];
    assert_eq!(claim(&lines), Claim::FirstLine);
    lines.push(b'\n');
    assert_eq!(claim(&lines), Claim::Unreadable);
}

#[test]
fn other_protocols_pass_at_once() {
    for begun in ["hello", "get lower case", "PING", "\r\n"] {
        assert_eq!(claim(begun.as_bytes()), Claim::FirstLine, "{begun:?}");
    }
    let others: [&[u8]; 8] = [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"EHLO client.example\r\n",
        b"GET key\r\n",
        b"\x00\x00\x00\x08\x04\xd2\x16\x2f",
        b"\x16\x99",
        b"get lower case\r\n",
        b"\x14\x99",
        b"AMQP\x00\x00\x09\x01",
    ];
    for bytes in others {
        assert_eq!(claim(bytes), Claim::None, "{bytes:?}");
    }
}

#[test]
fn fuzz_claims() {
    let tls = hello(&["a.example"], 20);
    let http: &[u8] = b"GET http://b.example/x HTTP/1.1\r\nHost: [::1]:80\r\n\r\n";
    deskhand_testkit::fuzz("claims", &[&tls, http], |bytes| {
        claim(bytes);
    });
}
