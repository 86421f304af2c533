//! A resolver that knows the names of a test.

use std::{
    collections::HashMap,
    net::{IpAddr, ToSocketAddrs, UdpSocket},
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

/// The kinds of questions that have answers: addresses of IPv4 and IPv6.
const A: u16 = 1;
const AAAA: u16 = 28;
/// The interval at which the resolver checks if it is still needed.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The length of the header before the question.
const HEADER_BYTES: usize = 12;

/// Names with their addresses. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<Mutex<HashMap<String, Known>>>);

#[derive(Debug, Default)]
struct Known {
    /// The answers in order. The last one is repeated.
    answers: Vec<Vec<IpAddr>>,
    /// The number of questions for IPv4 addresses so far.
    n_asked: usize,
}

impl Names {
    /// Gives a name these addresses.
    pub fn set(&self, name: &str, addresses: &[&str]) {
        self.set_in_turn(name, &[addresses]);
    }

    /// Gives a name different addresses with every lookup. The last ones are repeated.
    pub fn set_in_turn(&self, name: &str, answers: &[&[&str]]) {
        let parse = |answer: &&[&str]| {
            let addresses = answer.iter();
            addresses.map(|address| address.parse().unwrap()).collect()
        };
        let known = Known {
            answers: answers.iter().map(parse).collect(),
            n_asked: 0,
        };
        self.0.lock().unwrap().insert(name.to_owned(), known);
    }

    /// Answers questions until the last clone is dropped.
    pub(super) fn serve(self, address: impl ToSocketAddrs) {
        let socket = UdpSocket::bind(address).unwrap();
        socket.set_read_timeout(Some(LOOK_EVERY)).unwrap();
        let names: Weak<_> = Arc::downgrade(&self.0);
        drop(self);
        let mut buffer = [0; 512];
        while let Some(shared) = names.upgrade() {
            let Ok((n_bytes, asker)) = socket.recv_from(&mut buffer) else {
                continue;
            };
            if let Some(reply) = Self(shared).reply(&buffer[..n_bytes]) {
                // The client may have given up.
                let _ = socket.send_to(&reply, asker);
            }
        }
    }

    fn reply(&self, message: &[u8]) -> Option<Vec<u8>> {
        let (name, kind, end) = question(message)?;
        let found = self.look_up(&name, kind);
        let code = if found.is_some() { 0 } else { 3 };
        let addresses = found.unwrap_or_default();
        let n_answers = u8::try_from(addresses.len()).ok()?;
        let mut reply = message[..2].to_vec();
        // The header of a recursive resolver's reply with one question.
        reply.extend([0x81, 0x80 | code, 0, 1, 0, n_answers, 0, 0, 0, 0]);
        reply.extend(&message[HEADER_BYTES..end]);
        for address in addresses {
            // A pointer to the name, the type, the class IN, and a TTL of zero.
            reply.extend([0xc0, 12]);
            reply.extend(kind.to_be_bytes());
            reply.extend([0, 1, 0, 0, 0, 0]);
            match address {
                IpAddr::V4(address) => {
                    reply.extend([0, 4]);
                    reply.extend(address.octets());
                }
                IpAddr::V6(address) => {
                    reply.extend([0, 16]);
                    reply.extend(address.octets());
                }
            }
        }
        Some(reply)
    }

    /// Returns nothing for a name that does not exist.
    fn look_up(&self, name: &str, kind: u16) -> Option<Vec<IpAddr>> {
        let mut names = self.0.lock().unwrap();
        let known = names.get_mut(name)?;
        let turn = known.n_asked.min(known.answers.len() - 1);
        if kind == A {
            known.n_asked += 1;
        }
        let is_wanted = |address: &&IpAddr| kind == if address.is_ipv4() { A } else { AAAA };
        let answer = known.answers[turn].iter();
        Some(answer.filter(is_wanted).copied().collect())
    }
}

/// Returns the name and the type of a question, and the offset of its end.
fn question(message: &[u8]) -> Option<(String, u16, usize)> {
    let mut place = HEADER_BYTES;
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*message.get(place)?);
        place += 1;
        if length == 0 {
            break;
        }
        let label = message.get(place..place + length)?;
        labels.push(String::from_utf8_lossy(label).to_ascii_lowercase());
        place += length;
    }
    let kind = message.get(place..place + 2)?;
    let kind = u16::from_be_bytes(kind.try_into().ok()?);
    Some((labels.join("."), kind, place + 4))
}
