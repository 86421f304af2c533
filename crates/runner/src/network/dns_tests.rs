use deskhand_testkit::fuzz;

use super::*;

fn question(name: &[&[u8]], kind: u16) -> Vec<u8> {
    let mut message = vec![0xab, 0xcd, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name {
        message.push(u8::try_from(label.len()).unwrap());
        message.extend_from_slice(label);
    }
    message.push(0);
    message.extend(kind.to_be_bytes());
    message.extend(INTERNET.to_be_bytes());
    message
}

fn kind(name: &[&[u8]]) -> QueryKind {
    Query::of(&question(name, A)).unwrap().kind
}

#[test]
fn a_name_is_read_and_answered() {
    let message = question(&[b"Git", b"Example", b"com"], A);
    let query = Query::of(&message).unwrap();
    assert_eq!(query.kind, QueryKind::Address("git.example.com".to_owned()));
    let reply = query.reply(DnsAnswer::Address(Ipv4Addr::new(198, 18, 1, 2)));
    assert_eq!(
        reply[..12],
        [0xab, 0xcd, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]
    );
    // The question is repeated in the spelling of the program, which may check it.
    assert_eq!(reply[12..message.len()], message[12..]);
    assert_eq!(
        reply[message.len()..],
        [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 198, 18, 1, 2]
    );
    let missing = query.reply(DnsAnswer::NoSuchName);
    assert_eq!(missing[3] & 0xf, 3);
    assert_eq!(missing.len(), message.len());
}

#[test]
fn other_queries_are_recognized() {
    let other = Query::of(&question(&[b"example", b"com"], 28)).unwrap();
    assert_eq!(other.kind, QueryKind::Other("example.com".to_owned()));
    assert_eq!(kind(&[b"with space", b"com"]), QueryKind::BadName);
    assert_eq!(kind(&[b"\xc3\xa4", b"com"]), QueryKind::BadName);
    assert_eq!(kind(&[b"127", b"1"]), QueryKind::BadName);
    assert_eq!(kind(&[b"0x7f000001"]), QueryKind::BadName);
    // The server refuses these, so it need not be asked.
    assert_eq!(kind(&[b"-a", b"com"]), QueryKind::BadName);
    assert_eq!(kind(&[b"a-", b"com"]), QueryKind::BadName);
    assert_eq!(kind(&[]), QueryKind::BadName);
    let label: &[u8] = &[b'a'; 63];
    assert_eq!(kind(&[label, label, label, label]), QueryKind::Broken);

    let mut reply = question(&[b"example"], A);
    reply[2] |= 0x80;
    assert_eq!(Query::of(&reply), None);
    let mut update = question(&[b"example"], A);
    update[2] |= 0x28;
    assert_eq!(Query::of(&update).unwrap().kind, QueryKind::Unknown);
    let cut = question(&[b"example"], A);
    let query = Query::of(&cut[..cut.len() - 1]).unwrap();
    assert_eq!(query.kind, QueryKind::Broken);
    assert_eq!(query.reply(DnsAnswer::Broken)[3] & 0xf, 1);
}

#[test]
fn fuzz_questions_about_names() {
    let seeds = [
        question(&[b"git", b"example", b"com"], A),
        question(&[b"example", b"com"], 28),
        question(&[&[b'a'; 63], &[b'b'; 63], &[b'c'; 63]], A),
    ];
    let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
    fuzz("names", &seeds, |input| {
        if let Some(query) = Query::of(input) {
            if let QueryKind::Address(name) | QueryKind::Other(name) = &query.kind {
                assert!(name.len() <= LONGEST_NAME && !name.ends_with('.'));
            }
            let reply = query.reply(DnsAnswer::Address(Ipv4Addr::LOCALHOST));
            assert!(reply.len() <= input.len() + 16);
        }
    });
}
