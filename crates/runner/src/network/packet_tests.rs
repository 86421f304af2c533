use deskhand_testkit::fuzz;

use super::*;

const SEQUENCE: u32 = u32::MAX;
const TARGET: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 7), 443);

/// Returns a packet from port 40000 of the sandbox.
fn sent(protocol: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = packet(SANDBOX_ADDRESS, protocol, body);
    packet[16..20].copy_from_slice(&TARGET.ip().octets());
    packet
}

fn segment(flags: u8) -> Vec<u8> {
    let mut body = vec![0; TCP_BYTES];
    body[0..2].copy_from_slice(&40_000_u16.to_be_bytes());
    body[2..4].copy_from_slice(&TARGET.port().to_be_bytes());
    body[4..8].copy_from_slice(&SEQUENCE.to_be_bytes());
    body[12] = 5 << 4;
    body[13] = flags;
    sent(TCP, &body)
}

fn datagram_out(payload: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    for field in [40_000, TARGET.port(), 8, 0] {
        body.extend(field.to_be_bytes());
    }
    body.extend_from_slice(payload);
    sent(UDP, &body)
}

const ENDS: Endpoints = Endpoints {
    source_port: 40_000,
    target: TARGET,
};

#[test]
fn packets_are_classified() {
    assert_eq!(Packet::of(&segment(SYN)), Packet::Syn(ENDS));
    for flags in [ACK, SYN | ACK, FIN | ACK] {
        assert_eq!(Packet::of(&segment(flags)), Packet::Segment);
    }
    assert_eq!(Packet::of(&segment(RST | ACK)), Packet::Reset(ENDS));
    let datagram = datagram_out(b"hello");
    assert_eq!(Packet::of(&datagram), Packet::Datagram(ENDS, b"hello"));
    assert_eq!(Packet::of(&sent(ICMP, &[ECHO, 0, 0, 0])), Packet::Unwanted);
    assert_eq!(Packet::of(&sent(47, &[0; 8])), Packet::Unwanted);
    let error = sent(ICMP, &[UNREACHABLE, 0, 0, 0]);
    assert_eq!(Packet::of(&error), Packet::Ignored);
}

#[test]
fn broadcasts_fragments_and_foreign_packets_are_ignored() {
    let mut to_all = datagram_out(b"hello");
    to_all[16..20].copy_from_slice(&[224, 0, 0, 251]);
    let mut forged = segment(SYN);
    forged[12..16].copy_from_slice(&[192, 0, 2, 1]);
    let mut piece = datagram_out(b"hello");
    piece[6] = 0x20;
    let mut of_ipv6 = segment(SYN);
    of_ipv6[0] = 0x65;
    for packet in [to_all, forged, piece, of_ipv6] {
        assert_eq!(Packet::of(&packet), Packet::Ignored);
    }
}

#[test]
fn a_refusal_fits_the_request() {
    let answer = reset(&segment(SYN)).unwrap();
    assert_eq!(answer[12..16], TARGET.ip().octets());
    assert_eq!(word(&answer, 20), Some(TARGET.port()));
    assert_eq!(word(&answer, 22), Some(40_000));
    // The request counts as one byte, and the numbers begin again after the last.
    assert_eq!(answer[28..32], 0_u32.to_be_bytes());
    assert_eq!(answer[33], RST | ACK);
    assert_eq!(checksum(&[&answer[..20]]), 0);

    let refused = datagram_out(b"hello");
    let answer = unreachable(&refused, Unreachable::Port).unwrap();
    assert_eq!(answer[20..22], [UNREACHABLE, 3]);
    assert_eq!(answer[28..], refused[..28]);
    assert_eq!(checksum(&[&answer[20..]]), 0);
}

#[test]
fn fuzz_packets_of_programs() {
    let seeds = [segment(SYN), segment(ACK), datagram_out(b"hello")];
    let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
    fuzz("packets", &seeds, |input| {
        if let Packet::Datagram(_, payload) = Packet::of(input) {
            assert!(payload.len() < input.len());
        }
        drop(reset(input));
        drop(unreachable(input, Unreachable::Host));
    });
}
