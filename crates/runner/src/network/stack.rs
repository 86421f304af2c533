//! Turns the packets of the interface into streams of bytes.
//!
//! The other end of every connection is the kernel of the same machine, so packets are rarely lost. A connection is
//! accepted only after the server has made its own. Until then its SYN is kept, and a refused connection is answered as
//! a remote host would.

use std::{
    collections::{HashMap, hash_map::Entry},
    io,
    net::SocketAddrV4,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use deskhand_runner_protocol::network::{PREFIX_LENGTH, RESOLVER_ADDRESS};
use smoltcp::{
    iface::{Config, Interface, PollResult, SocketHandle, SocketSet},
    socket::{
        Socket,
        tcp::{self, SocketBuffer, State},
    },
    wire::{HardwareAddress, IpCidr, IpListenEndpoint},
};
use tokio::{
    io::{Interest, unix::AsyncFd},
    sync::Notify,
    time::sleep,
};

use super::{
    asking::Asking,
    device::Device,
    packet::{self, Endpoints, Packet, Unreachable},
};

/// The buffer size of a connection in each direction.
const BUFFER_BYTES: usize = 256 * 1024;
/// The most closed sockets that are kept for reuse.
const MOST_SPARE: usize = 16;
/// The most packets that are read before other tasks get their turn.
const MOST_PACKETS: usize = 64;
/// The time after which a connection is aborted if the program does not close its end.
const LINGER: Duration = Duration::from_secs(30);
/// The interval at which closing connections are checked.
const LINGER_STEP: Duration = Duration::from_secs(1);
/// The shortest delay before the next poll.
const SHORTEST_DELAY: Duration = Duration::from_millis(1);

/// The stack. Clones share it.
#[derive(Clone)]
pub(super) struct Stack {
    shared: Arc<Shared>,
}

struct Shared {
    core: Mutex<Core>,
    /// Notified when a stream was used and packets may be due.
    used: Notify,
}

/// An event that the stack does not handle itself.
pub(super) enum Event {
    /// A program opens a connection.
    Connect(Asking),
    /// A program sent a datagram to the resolver.
    Query { port: u16, message: Vec<u8> },
}

pub(super) struct Core {
    device: Device,
    interface: Interface,
    sockets: SocketSet<'static>,
    /// The sockets of all connections. Pending connections have none yet.
    connections: HashMap<Endpoints, Option<SocketHandle>>,
    /// The most connections. The SYN of a further one is ignored, and the kernel repeats it about every second.
    most_connections: usize,
    lingering: Vec<Lingering>,
    spare: Vec<tcp::Socket<'static>>,
    begin: Instant,
}

/// A connection whose stream was dropped but which is not closed yet.
struct Lingering {
    endpoints: Endpoints,
    handle: SocketHandle,
    until: Instant,
}

/// The packets of one poll that the stack does not handle itself.
struct Seen {
    syns: Vec<(Endpoints, Vec<u8>)>,
    queries: Vec<(u16, Vec<u8>)>,
    /// True if no more packets are available.
    is_drained: bool,
}

impl Stack {
    pub(super) fn new(file: Arc<OwnedFd>, most_connections: usize) -> Self {
        let mut device = Device::new(file);
        let begin = Instant::now();
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed();
        let now = smoltcp::time::Instant::ZERO;
        let mut interface = Interface::new(config, &mut device, now);
        interface.update_ip_addrs(|addresses| {
            // The list has room for at least one.
            let _ = addresses.push(IpCidr::new(RESOLVER_ADDRESS.into(), PREFIX_LENGTH));
        });
        // Accept packets to every address.
        interface.set_any_ip(true);
        let core = Core {
            device,
            interface,
            sockets: SocketSet::new(Vec::new()),
            connections: HashMap::new(),
            most_connections,
            lingering: Vec::new(),
            spare: Vec::new(),
            begin,
        };
        Self {
            shared: Arc::new(Shared {
                core: Mutex::new(core),
                used: Notify::new(),
            }),
        }
    }

    /// Serves the interface until it fails.
    pub(super) async fn serve(
        &self,
        file: Arc<OwnedFd>,
        mut handle: impl FnMut(Event),
    ) -> io::Result<()> {
        #[expect(unsafe_code, reason = "registering a descriptor is unsafe in tokio")]
        // SAFETY: the descriptor stays open and the same as long as it is registered.
        let file = unsafe { AsyncFd::register_with_interest(file, Interest::READABLE) }?;
        loop {
            let delay = self.core().delay();
            let readable = tokio::select! {
                readable = file.readable() => Some(readable?),
                () = self.shared.used.notified() => None,
                () = after(delay) => None,
            };
            let seen = self.core().look(readable.is_some())?;
            for (port, message) in seen.queries {
                handle(Event::Query { port, message });
            }
            for (endpoints, syn) in seen.syns {
                handle(Event::Connect(Asking::new(self.clone(), endpoints, syn)));
            }
            if let Some(mut readable) = readable {
                if seen.is_drained {
                    readable.clear_ready();
                } else {
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    /// Sends a datagram from the resolver to a port of the sandbox.
    pub(super) fn send_datagram(&self, source: SocketAddrV4, port: u16, payload: &[u8]) {
        if let Some(packet) = packet::datagram(source, port, payload) {
            self.core().device.write(&packet);
        }
    }

    pub(super) fn core(&self) -> MutexGuard<'_, Core> {
        // No code under this lock panics.
        let core = &self.shared.core;
        core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the stack to send the packets that are due after a stream was used.
    pub(super) fn wake(&self) {
        self.shared.used.notify_one();
    }
}

impl Core {
    pub(super) fn socket(&mut self, handle: SocketHandle) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(handle)
    }

    /// Reads packets from the interface if it may be readable, and sends those that are due.
    fn look(&mut self, may_read: bool) -> io::Result<Seen> {
        let mut seen = Seen {
            syns: Vec::new(),
            queries: Vec::new(),
            is_drained: true,
        };
        let mut n_packets = 0;
        while may_read && self.device.read()? {
            self.take(&mut seen);
            n_packets += 1;
            if n_packets == MOST_PACKETS {
                seen.is_drained = false;
                break;
            }
        }
        self.send();
        self.remove_closed();
        Ok(seen)
    }

    /// Handles the packet in the inbox.
    fn take(&mut self, seen: &mut Seen) {
        let answer = match Packet::of(self.device.packet()) {
            Packet::Syn(endpoints) if !self.connections.contains_key(&endpoints) => {
                if self.connections.len() < self.most_connections {
                    self.connections.insert(endpoints, None);
                    seen.syns.push((endpoints, self.device.packet().to_vec()));
                }
                None
            }
            Packet::Syn(endpoints) if self.connections.get(&endpoints) == Some(&None) => None,
            Packet::Syn(_) | Packet::Segment => {
                self.pass_on();
                None
            }
            Packet::Reset(endpoints) => {
                self.pass_on();
                self.abandon_unopened(endpoints);
                None
            }
            Packet::Datagram(endpoints, message) if endpoints.target == RESOLVER => {
                seen.queries.push((endpoints.source_port, message.to_vec()));
                None
            }
            // Programs that prefer UDP notice this at once and fall back to TCP.
            Packet::Datagram(..) => packet::unreachable(self.device.packet(), Unreachable::Port),
            Packet::Unwanted => packet::unreachable(self.device.packet(), Unreachable::Prohibited),
            Packet::Ignored => None,
        };
        if let Some(answer) = answer {
            self.device.write(&answer);
        }
    }

    fn pass_on(&mut self) {
        self.device.pass_on();
        let now = self.now();
        self.interface
            .poll_ingress_single(now, &mut self.device, &mut self.sockets);
    }

    /// Creates the socket of a connection and lets it answer the SYN.
    pub(super) fn open(&mut self, endpoints: Endpoints, syn: &[u8]) -> SocketHandle {
        let mut socket = self.spare.pop().unwrap_or_else(new_socket);
        let target = IpListenEndpoint {
            addr: Some((*endpoints.target.ip()).into()),
            port: endpoints.target.port(),
        };
        // This fails only for port zero, which programs cannot connect to, or for a socket in use.
        let _ = socket.listen(target);
        let handle = self.sockets.add(socket);
        self.connections.insert(endpoints, Some(handle));
        self.device.put_back(syn);
        self.pass_on();
        self.abandon_unopened(endpoints);
        self.send();
        handle
    }

    /// Closes a socket that is still listening because its connection was reset before it was open.
    fn abandon_unopened(&mut self, endpoints: Endpoints) {
        if let Some(Some(handle)) = self.connections.get(&endpoints).copied() {
            let socket = self.socket(handle);
            if socket.state() == State::Listen {
                socket.abort();
            }
        }
    }

    /// Answers the SYN of a refused connection.
    pub(super) fn refuse(&mut self, endpoints: Endpoints, answer: Option<Vec<u8>>) {
        self.connections.remove(&endpoints);
        if let Some(answer) = answer {
            self.device.write(&answer);
        }
    }

    /// Closes the connection of a dropped stream: in order if it was shut down, otherwise with a reset.
    pub(super) fn leave(&mut self, endpoints: Endpoints, handle: SocketHandle, is_shut: bool) {
        if !is_shut {
            self.socket(handle).abort();
        }
        self.lingering.push(Lingering {
            endpoints,
            handle,
            until: Instant::now() + LINGER,
        });
    }

    fn send(&mut self) {
        let now = self.now();
        while self
            .interface
            .poll_egress(now, &mut self.device, &mut self.sockets)
            == PollResult::SocketStateChanged
        {}
    }

    fn remove_closed(&mut self) {
        if self.lingering.is_empty() {
            return;
        }
        let now = Instant::now();
        for closing in std::mem::take(&mut self.lingering) {
            let socket = self.socket(closing.handle);
            // Packets are not duplicated here, so the connection need not wait in `TIME_WAIT`.
            if matches!(socket.state(), State::Closed | State::TimeWait) {
                self.forget(&closing);
                continue;
            }
            if closing.until <= now {
                socket.abort();
            }
            self.lingering.push(closing);
        }
    }

    fn forget(&mut self, closed: &Lingering) {
        if let Entry::Occupied(entry) = self.connections.entry(closed.endpoints)
            && *entry.get() == Some(closed.handle)
        {
            entry.remove();
        }
        let Socket::Tcp(mut socket) = self.sockets.remove(closed.handle);
        if self.spare.len() < MOST_SPARE {
            socket.abort();
            self.spare.push(socket);
        }
    }

    /// Returns the time until the next poll is due without other events.
    fn delay(&mut self) -> Option<Duration> {
        let now = self.now();
        let delay = self.interface.poll_delay(now, &self.sockets);
        let delay = delay.map(|delay| Duration::from_micros(delay.total_micros()));
        let linger = (!self.lingering.is_empty()).then_some(LINGER_STEP);
        let delay = [delay, linger].into_iter().flatten().min();
        delay.map(|delay| delay.max(SHORTEST_DELAY))
    }

    fn now(&self) -> smoltcp::time::Instant {
        let elapsed = self.begin.elapsed().as_micros();
        smoltcp::time::Instant::from_micros(i64::try_from(elapsed).unwrap_or(i64::MAX))
    }
}

/// The resolver's port.
pub(super) const RESOLVER: SocketAddrV4 = SocketAddrV4::new(RESOLVER_ADDRESS, 53);

fn new_socket() -> tcp::Socket<'static> {
    // The kernel allocates this memory only as it is used.
    let buffer = || SocketBuffer::new(vec![0; BUFFER_BYTES]);
    let mut socket = tcp::Socket::new(buffer(), buffer());
    socket.set_nagle_enabled(false);
    socket.set_ack_delay(None);
    socket
}

/// Returns the seed of the initial sequence numbers.
fn seed() -> u64 {
    let mut bytes = [0; 8];
    // On failure the numbers are predictable, but only the local kernel could exploit that.
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    u64::from_ne_bytes(bytes)
}

async fn after(delay: Option<Duration>) {
    match delay {
        Some(delay) => sleep(delay).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use deskhand_runner_protocol::network::{PACKET_HEADER_BYTES, SANDBOX_ADDRESS};

    use super::*;

    /// Returns the first packet of a connection to 192.0.2.7:443, with the header of the device.
    fn syn(source_port: u16) -> Vec<u8> {
        let mut packet = vec![0; PACKET_HEADER_BYTES];
        packet.extend([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0]);
        packet.extend(SANDBOX_ADDRESS.octets());
        packet.extend([192, 0, 2, 7]);
        packet.extend(source_port.to_be_bytes());
        packet.extend(443_u16.to_be_bytes());
        packet.extend([0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xff, 0xff, 0, 0, 0, 0]);
        packet
    }

    #[test]
    fn connections_beyond_the_limit_wait() {
        let (kernel, interface) = UnixDatagram::pair().unwrap();
        interface.set_nonblocking(true).unwrap();
        let stack = Stack::new(Arc::new(interface.into()), 3);
        for port in 40_000..40_005 {
            kernel.send(&syn(port)).unwrap();
        }
        let seen = stack.core().look(true).unwrap();
        let ports: Vec<_> = seen.syns.iter().map(|(ends, _)| ends.source_port).collect();
        assert_eq!(ports, [40_000, 40_001, 40_002]);
        // One that the server refused makes room.
        let (refused, _) = &seen.syns[0];
        stack.core().refuse(*refused, None);
        kernel.send(&syn(40_004)).unwrap();
        let seen = stack.core().look(true).unwrap();
        assert_eq!(seen.syns.len(), 1);
    }
}
