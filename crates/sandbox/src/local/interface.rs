//! The network interface of a sandbox: a TUN device in the sandbox's network namespace, with an address and a route.
//!
//! Only a process inside the user namespace that owns the network namespace may create it, and a process with several
//! threads cannot enter a user namespace. A short-lived process of our own program therefore does it before any program
//! of the agent runs, and passes the open device back. The sandbox has neither the device file nor a capability, and
//! the runner gets only the open device.

mod netlink;

use std::{
    ffi::c_int,
    fs::{File, OpenOptions},
    io::{self, Read},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
        unix::{fs::OpenOptionsExt, net::UnixStream},
    },
    path::Path,
    time::Duration,
};

use deskhand_runner_protocol::{
    descriptor,
    network::{INTERFACE, MTU, PREFIX_LENGTH, RESOLVER_ADDRESS, SANDBOX_ADDRESS},
};
use libc::c_ulong;
use rustix::{
    process::Pid,
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

use self::netlink::Netlink;
use super::process;

/// The command of our program that makes an interface.
const COMMAND: &str = "interface";
/// The file that creates TUN devices.
const DEVICE: &str = "/dev/net/tun";
/// The timeout for the process, which usually takes some milliseconds.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest error text of the process that is read.
const LONGEST_ERROR_BYTES: u64 = 1024;
/// The most packets that wait for the runner. The windows of the connections do not allow more.
const QUEUE_PACKETS: u32 = 2_000;
/// The byte that is sent along with the device.
const DONE: &[u8] = &[0];

/// `_IO(0xb7, 1)`: opens the user namespace that owns another namespace.
const NS_GET_USERNS: c_ulong = 0xb701;
/// `_IOW('T', 202, int)`: names the device.
const TUNSETIFF: c_ulong = 0x4004_54ca;
/// `_IOW('T', 208, unsigned int)`: sets the offloads that the reader supports.
const TUNSETOFFLOAD: c_ulong = 0x4004_54d0;
/// Checksums may be omitted.
const TUN_F_CSUM: usize = 1;
/// IP packets without an Ethernet header, each after a `virtio_net_hdr`.
const FLAGS: u16 = 0x0001 | 0x1000 | 0x4000;
/// The size of the kernel's `struct ifreq`.
const IFREQ_BYTES: usize = 40;

/// Returns the reason why interfaces cannot be created on this machine, or `None` if they can.
pub(crate) fn obstacle() -> Option<io::Error> {
    open_device().err()
}

/// Creates the interface of the sandbox in which `pid` runs, through a process of `program`.
pub(crate) fn ask(program: &Path, pid: Pid) -> io::Result<OwnedFd> {
    let (mut ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(TIMEOUT))?;
    let pid = pid.as_raw_nonzero().to_string();
    let mut child = process::helper(program, &[COMMAND, &pid], theirs)?;
    let received = descriptor::receive(&ours, &mut [0; 1]);
    let made = match received {
        Ok((_, Some(device))) => Ok(device),
        Ok((_, None)) => {
            let mut text = String::new();
            // If the text cannot be read, the error has no reason.
            let _ = (&mut ours)
                .take(LONGEST_ERROR_BYTES)
                .read_to_string(&mut text);
            Err(io::Error::other(text))
        }
        Err(error) => Err(error),
    };
    // It has already exited, unless it hangs.
    let _ = child.kill();
    child.wait()?;
    made
}

/// Creates the interface of the sandbox in which the process `pid` runs, and passes it on over standard input.
///
/// This is `deskhand interface`. It must be called before the process has a second thread.
pub fn make(pid: u32) -> io::Result<()> {
    let socket = io::stdin();
    match make_in(pid) {
        Ok(device) => descriptor::send(&socket, DONE, Some(device.as_fd())),
        Err(error) => {
            let text = format!("{}{error}", char::from(0));
            descriptor::send(&socket, text.as_bytes(), None)
        }
    }
}

fn make_in(pid: u32) -> io::Result<OwnedFd> {
    let network = File::open(format!("/proc/{pid}/ns/net"))?;
    let owner = owner_of(network.as_fd())?;
    move_into_link_name_space(owner.as_fd(), Some(LinkNameSpaceType::User))?;
    move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
    let device = open_device()?;
    name(device.as_fd())?;
    let mut netlink = Netlink::open(INTERFACE)?;
    netlink.set_up(u32::from(MTU), QUEUE_PACKETS)?;
    netlink.add_address(SANDBOX_ADDRESS, PREFIX_LENGTH)?;
    netlink.add_default_route(RESOLVER_ADDRESS)?;
    Ok(device)
}

fn open_device() -> io::Result<OwnedFd> {
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(DEVICE);
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{DEVICE}: {error}"));
    Ok(opened.map_err(named)?.into())
}

fn owner_of(namespace: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let number = control(namespace, NS_GET_USERNS, 0)?;
    #[expect(unsafe_code, reason = "the kernel returns a number")]
    // SAFETY: the call has just returned this descriptor, and nothing else owns it.
    let owner = unsafe { OwnedFd::from_raw_fd(number) };
    Ok(owner)
}

fn name(device: BorrowedFd<'_>) -> io::Result<()> {
    let mut request = [0_u8; IFREQ_BYTES];
    for (place, byte) in request.iter_mut().zip(INTERFACE.bytes()) {
        *place = byte;
    }
    request[16..18].copy_from_slice(&FLAGS.to_ne_bytes());
    control(device, TUNSETIFF, request.as_mut_ptr().addr())?;
    control(device, TUNSETOFFLOAD, TUN_F_CSUM)?;
    Ok(())
}

/// Calls `ioctl`. The argument is a number, or the address of a buffer of the caller.
fn control(descriptor: BorrowedFd<'_>, request: c_ulong, argument: usize) -> io::Result<c_int> {
    #[expect(unsafe_code, reason = "no library wraps these requests")]
    // SAFETY: of the three requests here, one has no argument, one takes a number, and one reads and writes no more
    // than the buffer of `IFREQ_BYTES` that its caller holds during the call.
    let result = unsafe { libc::ioctl(descriptor.as_raw_fd(), request, argument) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}
