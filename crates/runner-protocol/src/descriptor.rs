//! Sends bytes over a Unix socket, with at most one file descriptor.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    cmsg_space,
    io::{Errno, readv},
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
};

/// Sends all bytes, and the descriptor together with the first of them.
pub fn send(
    socket: impl AsFd,
    mut bytes: &[u8],
    mut descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    while !bytes.is_empty() {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        let sent = descriptor.take();
        if let Some(sent) = &sent {
            beside.push(SendAncillaryMessage::ScmRights(std::slice::from_ref(sent)));
        }
        let pieces = [IoSlice::new(bytes)];
        let n_sent = sendmsg(socket.as_fd(), &pieces, &mut beside, SendFlags::NOSIGNAL)?;
        bytes = bytes.get(n_sent..).unwrap_or_default();
    }
    Ok(())
}

/// Receives some bytes, and the descriptor that came with them. Zero bytes mean that the other side has closed.
///
/// It also reads from a pipe, which never carries a descriptor.
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut pieces = [IoSliceMut::new(buffer)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = match recvmsg(socket.as_fd(), &mut pieces, &mut beside, flags) {
        Err(Errno::NOTSOCK) => {
            let n_read = readv(socket.as_fd(), &mut pieces)?;
            return Ok((n_read, None));
        }
        received => received?,
    };
    let mut descriptor = None;
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
            descriptor = descriptors.next();
        }
    }
    Ok((received.bytes, descriptor))
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{Read, Seek, Write},
        os::unix::net::UnixStream,
    };

    use super::*;

    #[test]
    fn a_descriptor_arrives_with_the_bytes() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"in the file").unwrap();
        send(&ours, b"hello", Some(file.as_fd())).unwrap();
        let mut buffer = [0; 64];
        let (n_bytes, descriptor) = receive(&theirs, &mut buffer).unwrap();
        assert_eq!(&buffer[..n_bytes], b"hello");
        let mut received = File::from(descriptor.unwrap());
        received.rewind().unwrap();
        let mut text = String::new();
        received.read_to_string(&mut text).unwrap();
        assert_eq!(text, "in the file");

        send(&ours, b"alone", None).unwrap();
        let (n_bytes, descriptor) = receive(&theirs, &mut buffer).unwrap();
        assert_eq!(n_bytes, 5);
        assert!(descriptor.is_none());
    }
}
