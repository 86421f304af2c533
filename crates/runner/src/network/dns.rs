//! The subset of DNS messages (RFC 1035) that a resolver for `A` records needs.

use std::net::Ipv4Addr;

use deskhand_core::network::rule::host_name;

const HEADER_BYTES: usize = 12;
const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;
/// The time for which programs may remember an answer, in seconds.
const TTL: u32 = 30;
/// A compression pointer to the name in the question.
const NAME_OF_QUESTION: u16 = 0xc00c;

const IS_REPLY: u16 = 0x8000;
const OPCODE: u16 = 0x7800;
const RECURSION_DESIRED: u16 = 0x0100;
const RECURSION_AVAILABLE: u16 = 0x0080;

const A: u16 = 1;
const INTERNET: u16 = 1;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    id: u16,
    flags: u16,
    /// The raw question, which the reply repeats.
    question: Vec<u8>,
    pub(super) kind: QueryKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum QueryKind {
    /// The address of this name: lower case, without a dot at its end.
    Address(String),
    /// Something else about this name.
    Other(String),
    /// A name that no host can have.
    BadName,
    /// A malformed message.
    Broken,
    /// An unsupported operation.
    Unknown,
}

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DnsAnswer {
    Address(Ipv4Addr),
    /// The name exists, but has no record of the requested type.
    Nothing,
    NoSuchName,
    /// The lookup failed for now.
    Failure,
    Broken,
    Unknown,
}

impl Query {
    /// Parses a message. Returns `None` if it must not be answered.
    pub(super) fn of(message: &[u8]) -> Option<Self> {
        let id = word(message, 0)?;
        let flags = word(message, 2)?;
        let n_questions = word(message, 4)?;
        if message.len() < HEADER_BYTES || flags & IS_REPLY != 0 {
            return None;
        }
        let unread = |kind| {
            Some(Self {
                id,
                flags,
                question: Vec::new(),
                kind,
            })
        };
        if flags & OPCODE != 0 {
            return unread(QueryKind::Unknown);
        }
        let Some((name, end)) = name_at(message, HEADER_BYTES) else {
            return unread(QueryKind::Broken);
        };
        let (Some(kind), Some(class), 1) =
            (word(message, end), word(message, end + 2), n_questions)
        else {
            return unread(QueryKind::Broken);
        };
        let kind = match name {
            None => QueryKind::BadName,
            Some(name) if (kind, class) == (A, INTERNET) => QueryKind::Address(name),
            Some(name) => QueryKind::Other(name),
        };
        let question = message.get(HEADER_BYTES..end + 4)?.to_vec();
        Some(Self {
            id,
            flags,
            question,
            kind,
        })
    }

    /// Returns the message that answers this question.
    pub(super) fn reply(&self, answer: DnsAnswer) -> Vec<u8> {
        let code = match answer {
            DnsAnswer::Address(_) | DnsAnswer::Nothing => 0,
            DnsAnswer::Broken => 1,
            DnsAnswer::Failure => 2,
            DnsAnswer::NoSuchName => 3,
            DnsAnswer::Unknown => 4,
        };
        let repeated = self.flags & (OPCODE | RECURSION_DESIRED);
        let flags = IS_REPLY | RECURSION_AVAILABLE | repeated | code;
        let n_questions = u16::from(!self.question.is_empty());
        let n_answers = u16::from(matches!(answer, DnsAnswer::Address(_)));
        let mut message = Vec::with_capacity(HEADER_BYTES + self.question.len() + 16);
        for field in [self.id, flags, n_questions, n_answers, 0, 0] {
            message.extend(field.to_be_bytes());
        }
        message.extend_from_slice(&self.question);
        if let DnsAnswer::Address(address) = answer {
            for field in [NAME_OF_QUESTION, A, INTERNET] {
                message.extend(field.to_be_bytes());
            }
            message.extend(TTL.to_be_bytes());
            message.extend(4_u16.to_be_bytes());
            message.extend(address.octets());
        }
        message
    }
}

/// Parses the name at this offset, and returns it with the offset after it. The name is `None` if no host can have it.
fn name_at(message: &[u8], mut at: usize) -> Option<(Option<String>, usize)> {
    let begin = at;
    let mut name = String::new();
    let mut is_good = true;
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        let label = message.get(at..at + length)?;
        at += length;
        // Larger values are pointers, which the first name of a message cannot contain.
        if length > LONGEST_LABEL || at - begin > LONGEST_NAME + 1 {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        for byte in label {
            is_good &= byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            name.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    // The server refuses other names.
    is_good &= host_name(&name).as_ref() == Some(&name);
    Some((is_good.then_some(name), at))
}

fn word(message: &[u8], at: usize) -> Option<u16> {
    let bytes = message.get(at..at + 2)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
#[path = "dns_tests.rs"]
mod tests;
