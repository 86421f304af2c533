use super::*;

/// Runs the filter as the kernel would.
fn answer_to(architecture: u32, call: libc::c_long, arguments: &[u64]) -> u32 {
    let mut words = vec![number(call), architecture, 0, 0];
    for argument in arguments.iter().chain(&[0; 6]).take(6) {
        words.extend([(argument & 0xffff_ffff) as u32, (argument >> 32) as u32]);
    }
    let program = program().unwrap();
    let (mut loaded, mut at) = (0, 0);
    loop {
        let bytes: [u8; 8] = program[at * 8..][..8].try_into().unwrap();
        let [a, b, if_true, if_false, value @ ..] = bytes;
        let (code, value) = (u32::from(a) | u32::from(b) << 8, u32::from_le_bytes(value));
        at += 1;
        let jump = |holds: bool| usize::from(if holds { if_true } else { if_false });
        match code {
            0x20 => loaded = words[value as usize / 4],
            0x54 => loaded &= value,
            0x15 => at += jump(loaded == value),
            0x35 => at += jump(loaded >= value),
            0x45 => at += jump(loaded & value != 0),
            0x06 => return value,
            other => panic!("unknown instruction {other:#x}"),
        }
    }
}

fn here(call: libc::c_long, arguments: &[u64]) -> u32 {
    answer_to(ARCHITECTURE.unwrap(), call, arguments)
}

fn of(value: i32) -> u64 {
    bits(value).into()
}

#[test]
fn what_a_desktop_needs_is_allowed() {
    let new_user = libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::SIGCHLD;
    for (call, arguments) in [
        (libc::SYS_openat, &[][..]),
        (libc::SYS_execve, &[]),
        (libc::SYS_chroot, &[]),
        (libc::SYS_clone, &[of(new_user)]),
        (libc::SYS_unshare, &[of(libc::CLONE_NEWUSER)]),
        (libc::SYS_ptrace, &[0]),
        (libc::SYS_ioctl, &[0, 0x5401]),
        (libc::SYS_socketpair, &[of(AF_UNIX), of(SOCK_STREAM), 0]),
        (libc::SYS_socket, &[of(AF_UNIX), of(SOCK_DGRAM), 0]),
        (
            libc::SYS_socket,
            &[of(AF_INET), of(SOCK_STREAM | libc::SOCK_CLOEXEC), 0],
        ),
        (
            libc::SYS_socket,
            &[of(AF_INET6), of(SOCK_DGRAM), of(IPPROTO_UDP)],
        ),
        (
            libc::SYS_socket,
            &[of(AF_NETLINK), of(libc::SOCK_RAW), of(NETLINK_ROUTE)],
        ),
        (
            libc::SYS_fcntl,
            &[0, of(libc::F_SETFL), of(libc::O_NONBLOCK)],
        ),
        (libc::SYS_fcntl, &[0, of(F_SETSIG), of(libc::SIGUSR1)]),
        (libc::SYS_fcntl, &[0, of(libc::F_DUPFD), of(SIGCONT)]),
        (libc::SYS_setsockopt, &[0, of(libc::SOL_SOCKET), 64]),
        (libc::SYS_setsockopt, &[0, of(IPPROTO_IPV6), 67]),
    ] {
        assert_eq!(here(call, arguments), ALLOW, "{call} {arguments:?}");
    }
}

#[test]
fn the_ways_out_of_sandboxes_are_refused() {
    for (call, arguments, errno) in [
        (libc::SYS_mount, &[][..], EPERM),
        (OPEN_TREE_ATTR, &[], EPERM),
        (libc::SYS_bpf, &[], EPERM),
        (libc::SYS_keyctl, &[], EPERM),
        (libc::SYS_io_uring_setup, &[], ENOSYS),
        (libc::SYS_clone3, &[], ENOSYS),
        (libc::SYS_fallocate, &[], EOPNOTSUPP),
        (
            libc::SYS_clone,
            &[of(libc::CLONE_NEWUSER | CLONE_NEWNS)],
            EPERM,
        ),
        (libc::SYS_unshare, &[of(NEW_TIME)], EPERM),
        (libc::SYS_ptrace, &[16, 1], EPERM),
        (libc::SYS_ioctl, &[0, 0x5412], EPERM),
        (libc::SYS_fcntl, &[0, of(F_NOTIFY), 2], EPERM),
        (libc::SYS_fcntl, &[0, of(F_SETSIG), of(SIGCONT)], EPERM),
        (libc::SYS_fcntl, &[0, of(F_SETSIG), of(SIGKILL)], EPERM),
        // The kernel looks at the lower half only.
        (
            libc::SYS_fcntl,
            &[0, of(F_SETSIG), 1 << 32 | of(SIGCONT)],
            EPERM,
        ),
        (libc::SYS_ioctl, &[0, 1 << 32 | 0x5412], EPERM),
        (
            libc::SYS_socketpair,
            &[of(libc::AF_TIPC), 1, 0],
            EAFNOSUPPORT,
        ),
        (
            libc::SYS_socket,
            &[of(AF_INET), of(libc::SOCK_RAW), 1],
            EPERM,
        ),
        (
            libc::SYS_socket,
            &[of(AF_INET), of(SOCK_STREAM), of(libc::IPPROTO_SCTP)],
            libc::EPROTONOSUPPORT,
        ),
        (
            libc::SYS_socket,
            &[
                of(AF_NETLINK),
                of(libc::SOCK_RAW),
                of(libc::NETLINK_NETFILTER),
            ],
            libc::EPROTONOSUPPORT,
        ),
        (libc::SYS_socket, &[of(libc::AF_PACKET), 3, 0], EAFNOSUPPORT),
        (libc::SYS_socket, &[of(libc::AF_VSOCK), 1, 0], EAFNOSUPPORT),
        (libc::SYS_socket, &[of(libc::AF_ALG), 5, 0], EAFNOSUPPORT),
        (libc::SYS_setsockopt, &[0, of(IPPROTO_IP), 64], EPERM),
        (libc::SYS_setsockopt, &[0, of(IPPROTO_IPV6), 64], EPERM),
    ] {
        assert_eq!(here(call, arguments), error(errno), "{call} {arguments:?}");
    }
}

#[test]
fn other_ways_to_call_the_kernel_are_closed() {
    let foreign = 0x4000_0003;
    assert_eq!(answer_to(foreign, libc::SYS_read, &[]), KILL);
    if cfg!(target_arch = "x86_64") {
        let x32 = libc::c_long::from(FIRST_X32_NUMBER);
        assert_eq!(here(x32, &[]), error(ENOSYS));
    }
}
