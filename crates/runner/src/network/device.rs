//! The open TUN device. Each read and write is one packet.
//!
//! TCP checksums are omitted in both directions, since packets do not leave the machine.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use deskhand_runner_protocol::network::{MTU, PACKET_HEADER_BYTES};
use smoltcp::{
    phy::{Checksum, ChecksumCapabilities, DeviceCapabilities, Medium, RxToken, TxToken},
    time::Instant,
};

/// The header of a packet without its TCP checksum, which is 16 bytes after the IP header of 20 bytes.
const WITHOUT_CHECKSUM: [u8; PACKET_HEADER_BYTES] = {
    let [start, zero] = 20_u16.to_ne_bytes();
    let [offset, none] = 16_u16.to_ne_bytes();
    [1, 0, 0, 0, 0, 0, start, zero, offset, none]
};
const COMPLETE: [u8; PACKET_HEADER_BYTES] = [0; PACKET_HEADER_BYTES];
const LONGEST: usize = PACKET_HEADER_BYTES + MTU as usize;

/// The device, with a buffer of one packet for each direction.
pub(super) struct Device {
    file: Arc<OwnedFd>,
    inbox: Box<[u8]>,
    n_received: usize,
    /// True if the packet in the inbox is meant for the TCP stack.
    is_waiting: bool,
    outbox: Box<[u8]>,
}

impl Device {
    pub(super) fn new(file: Arc<OwnedFd>) -> Self {
        Self {
            file,
            inbox: vec![0; LONGEST].into(),
            n_received: 0,
            is_waiting: false,
            outbox: vec![0; LONGEST].into(),
        }
    }

    /// Reads the next packet. Returns `false` if there is none yet.
    pub(super) fn read(&mut self) -> io::Result<bool> {
        match rustix::io::read(self.file.as_fd(), &mut *self.inbox) {
            Ok(n_received) => {
                self.n_received = n_received;
                Ok(true)
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the packet in the inbox.
    pub(super) fn packet(&self) -> &[u8] {
        let packet = self.inbox.get(PACKET_HEADER_BYTES..self.n_received);
        packet.unwrap_or_default()
    }

    /// Puts a packet that was read earlier back into the inbox.
    pub(super) fn put_back(&mut self, packet: &[u8]) {
        let end = PACKET_HEADER_BYTES + packet.len();
        if let Some(place) = self.inbox.get_mut(PACKET_HEADER_BYTES..end) {
            place.copy_from_slice(packet);
            self.n_received = end;
        }
    }

    /// Passes the packet in the inbox on to the TCP stack.
    pub(super) fn pass_on(&mut self) {
        self.is_waiting = true;
    }

    /// Writes a complete packet. It is lost if the kernel does not accept it, as on any network.
    pub(super) fn write(&mut self, packet: &[u8]) {
        let outgoing = Outgoing {
            file: &self.file,
            outbox: &mut self.outbox,
            header: COMPLETE,
        };
        outgoing.consume(packet.len(), |place| place.copy_from_slice(packet));
    }
}

impl smoltcp::phy::Device for Device {
    type RxToken<'a> = Incoming<'a>;
    type TxToken<'a> = Outgoing<'a>;

    fn receive(&mut self, _now: Instant) -> Option<(Incoming<'_>, Outgoing<'_>)> {
        if !std::mem::take(&mut self.is_waiting) {
            return None;
        }
        let packet = self.inbox.get(PACKET_HEADER_BYTES..self.n_received)?;
        let outgoing = Outgoing {
            file: &self.file,
            outbox: &mut self.outbox,
            header: WITHOUT_CHECKSUM,
        };
        Some((Incoming(packet), outgoing))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Outgoing<'_>> {
        Some(Outgoing {
            file: &self.file,
            outbox: &mut self.outbox,
            header: WITHOUT_CHECKSUM,
        })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut checksum = ChecksumCapabilities::default();
        checksum.tcp = Checksum::None;
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = MTU.into();
        capabilities.checksum = checksum;
        capabilities
    }
}

/// The packet in the inbox.
pub(super) struct Incoming<'a>(&'a [u8]);

impl RxToken for Incoming<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(self.0)
    }
}

/// The buffer for the next packet.
pub(super) struct Outgoing<'a> {
    file: &'a OwnedFd,
    outbox: &'a mut [u8],
    header: [u8; PACKET_HEADER_BYTES],
}

impl TxToken for Outgoing<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let end = (PACKET_HEADER_BYTES + length).min(self.outbox.len());
        let packet = &mut self.outbox[..end];
        packet[..PACKET_HEADER_BYTES].copy_from_slice(&self.header);
        let written = write(&mut packet[PACKET_HEADER_BYTES..]);
        // TCP retransmits a lost packet.
        let _ = rustix::io::write(self.file, packet);
        written
    }
}
