//! The filter of system calls that holds for everything in a sandbox.
//!
//! It takes away the parts of the kernel that a desktop, a browser and a programmer's tools do without, and that have
//! been the way out of sandboxes before: mounting in nested namespaces, `io_uring`, BPF, keyrings, odd kinds of
//! sockets. Chromium's own sandbox goes on working: it makes user, process and network namespaces and changes its root.
//!
//! A call that is refused returns an error, so programs go on without it. The kernel runs the filter as a BPF program
//! of its classic kind, which [`program`] assembles.

use libc::{
    AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JGE, BPF_JMP,
    BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNS,
    CLONE_NEWUTS, EAFNOSUPPORT, ENOSYS, EOPNOTSUPP, EPERM, F_NOTIFY, IPPROTO_ICMP, IPPROTO_ICMPV6,
    IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, IPPROTO_UDP, NETLINK_ROUTE, PTRACE_ATTACH, PTRACE_SEIZE,
    SIGCONT, SIGKILL, SOCK_DGRAM, SOCK_STREAM, TIOCLINUX, TIOCSTI,
};

/// The kernel's number of the processor, if there is a filter for it.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};

/// On x86-64, the numbers from here on are those of another way to call the kernel.
const FIRST_X32_NUMBER: u32 = 0x4000_0000;

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;

/// The offsets in the kernel's description of a call.
const NUMBER: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;

/// Calls that fail with "not permitted".
const REFUSED: &[libc::c_long] = &[
    // Mounting, also in namespaces of their own.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    // Keyrings are shared between the sandboxes of one user.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Programs in the kernel, and its counters.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    // The machine as a whole.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // The memory and the descriptors of other processes.
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] = &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// Calls that do not exist in a sandbox. Programs know older ways to do the same.
const ABSENT: &[libc::c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Its flags are in memory, where no filter sees them. The C library falls back to `clone`.
    libc::SYS_clone3,
];

/// The same number on every processor, and younger than some C libraries.
const OPEN_TREE_ATTR: libc::c_long = 467;
/// Chooses the signal that a descriptor sends. The same number on every processor.
const F_SETSIG: i32 = 10;
/// A namespace of clocks, for `unshare` only. `clone` uses this bit for something else.
const NEW_TIME: i32 = 0x80;
/// Mount, host name, System V and control group namespaces. Chromium needs others.
const NEW_NAMESPACES: i32 = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWCGROUP;
/// The options of sockets with which tables of packet filters are replaced, for IPv4, ARP and bridges.
const REPLACE_TABLES: [u32; 3] = [64, 96, 128];
/// The bits of a socket's type that are not flags.
const TYPE_MASK: u32 = 0xf;
/// The signals that continue a process, or end it and so tell its parent.
const WAKING_SIGNALS: [i32; 2] = [SIGCONT, SIGKILL];

/// Returns the filter as bubblewrap reads it, or nothing for a processor whose calls are not known here.
pub(crate) fn program() -> Option<Vec<u8>> {
    let architecture = ARCHITECTURE?;
    let mut filter = Filter::default();
    filter.load(ARCHITECTURE_OFFSET);
    filter.skip_if(BPF_JEQ, architecture, 1);
    filter.answer(KILL);
    filter.load(NUMBER);
    if cfg!(target_arch = "x86_64") {
        filter.refuse_if(BPF_JGE, FIRST_X32_NUMBER, ENOSYS);
    }
    for call in REFUSED.iter().chain(REFUSED_HERE) {
        filter.refuse_if(BPF_JEQ, number(*call), EPERM);
    }
    for call in ABSENT {
        filter.refuse_if(BPF_JEQ, number(*call), ENOSYS);
    }
    // Space that is set aside at once could fill the disk before anybody notices. Programs write it instead.
    filter.refuse_if(BPF_JEQ, number(libc::SYS_fallocate), EOPNOTSUPP);
    filter.rule(libc::SYS_clone, |rule| {
        rule.load(argument(0));
        rule.refuse_if(BPF_JSET, bits(NEW_NAMESPACES), EPERM);
    });
    filter.rule(libc::SYS_unshare, |rule| {
        rule.load(argument(0));
        rule.refuse_if(BPF_JSET, bits(NEW_NAMESPACES | NEW_TIME), EPERM);
    });
    filter.rule(libc::SYS_ptrace, |rule| {
        // A debugger may still start the program that it looks into.
        rule.load(argument(0));
        rule.refuse_if(BPF_JEQ, number(PTRACE_ATTACH.into()), EPERM);
        rule.refuse_if(BPF_JEQ, number(PTRACE_SEIZE.into()), EPERM);
    });
    filter.rule(libc::SYS_ioctl, |rule| {
        // These put characters into a terminal, as if somebody had typed them.
        rule.load(argument(1));
        for request in [TIOCSTI, TIOCLINUX] {
            // Both fit into 32 bits.
            rule.refuse_if(BPF_JEQ, (request & 0xffff_ffff) as u32, EPERM);
        }
    });
    filter.rule(libc::SYS_fcntl, wake_ups);
    filter.rule(libc::SYS_socketpair, |rule| {
        rule.load(argument(0));
        rule.skip_if(BPF_JEQ, bits(AF_UNIX), 1);
        rule.answer(error(EAFNOSUPPORT));
    });
    filter.rule(libc::SYS_setsockopt, packet_filters);
    filter.rule(libc::SYS_socket, sockets);
    filter.answer(ALLOW);
    Some(filter.bytes())
}

/// Refuses to have a signal sent that continues a stopped program, so that it stays stopped while a person has control.
///
/// Nothing else shows that a program follows the changes of a folder, or breaks of its lease on a file.
fn wake_ups(rule: &mut Filter) {
    let mut of_signals = Filter::default();
    of_signals.load(argument(2));
    for signal in WAKING_SIGNALS {
        of_signals.refuse_if(BPF_JEQ, bits(signal), EPERM);
    }
    of_signals.answer(ALLOW);
    rule.load(argument(1));
    rule.refuse_if(BPF_JEQ, bits(F_NOTIFY), EPERM);
    rule.skip_unless(BPF_JEQ, bits(F_SETSIG), of_signals.0.len());
    rule.append(of_signals);
}

/// Refuses to replace the tables of packet filters, which a program may do in a network of its own.
fn packet_filters(rule: &mut Filter) {
    let mut of_ip = Filter::default();
    of_ip.load(argument(2));
    for option in REPLACE_TABLES {
        of_ip.refuse_if(BPF_JEQ, option, EPERM);
    }
    of_ip.answer(ALLOW);
    rule.load(argument(1));
    rule.skip_if(BPF_JEQ, bits(IPPROTO_IPV6), 1);
    rule.skip_unless(BPF_JEQ, bits(IPPROTO_IP), of_ip.0.len());
    rule.append(of_ip);
}

/// Allows local sockets, TCP, UDP and ICMP, and questions about the network's addresses and routes.
fn sockets(rule: &mut Filter) {
    let mut of_internet = Filter::default();
    of_internet.load(argument(1));
    of_internet.and(TYPE_MASK);
    of_internet.skip_if(BPF_JEQ, bits(SOCK_STREAM), 2);
    of_internet.skip_if(BPF_JEQ, bits(SOCK_DGRAM), 1);
    of_internet.answer(error(EPERM));
    of_internet.load(argument(2));
    for protocol in [0, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6] {
        of_internet.skip_unless(BPF_JEQ, bits(protocol), 1);
        of_internet.answer(ALLOW);
    }
    of_internet.answer(error(libc::EPROTONOSUPPORT));

    let mut of_netlink = Filter::default();
    of_netlink.load(argument(2));
    of_netlink.skip_unless(BPF_JEQ, bits(NETLINK_ROUTE), 1);
    of_netlink.answer(ALLOW);
    of_netlink.answer(error(libc::EPROTONOSUPPORT));

    rule.load(argument(0));
    rule.skip_unless(BPF_JEQ, bits(AF_UNIX), 1);
    rule.answer(ALLOW);
    rule.skip_unless(BPF_JEQ, bits(AF_NETLINK), of_netlink.0.len());
    rule.append(of_netlink);
    rule.skip_if(BPF_JEQ, bits(AF_INET), 2);
    rule.skip_if(BPF_JEQ, bits(AF_INET6), 1);
    rule.answer(error(EAFNOSUPPORT));
    rule.append(of_internet);
}

/// A program under construction.
#[derive(Default)]
struct Filter(Vec<Instruction>);

#[derive(Debug, Clone, Copy)]
struct Instruction {
    code: u32,
    if_true: u8,
    if_false: u8,
    value: u32,
}

impl Filter {
    /// Loads a word of the call's description.
    fn load(&mut self, offset: u32) {
        self.push(BPF_LD | BPF_W | BPF_ABS, offset);
    }

    /// Clears all other bits of the loaded word.
    fn and(&mut self, mask: u32) {
        self.push(BPF_ALU | BPF_AND | BPF_K, mask);
    }

    /// Ends the program with this answer.
    fn answer(&mut self, answer: u32) {
        self.push(BPF_RET | BPF_K, answer);
    }

    /// Leaves out the next instructions if the comparison holds.
    fn skip_if(&mut self, comparison: u32, value: u32, n_instructions: usize) {
        self.jump(comparison, value, n_instructions, 0);
    }

    /// Leaves out the next instructions unless the comparison holds.
    fn skip_unless(&mut self, comparison: u32, value: u32, n_instructions: usize) {
        self.jump(comparison, value, 0, n_instructions);
    }

    fn refuse_if(&mut self, comparison: u32, value: u32, errno: i32) {
        self.skip_unless(comparison, value, 1);
        self.answer(error(errno));
    }

    /// Adds a rule for one call. What the rule does not refuse is allowed.
    fn rule(&mut self, call: libc::c_long, build: impl FnOnce(&mut Self)) {
        let mut rule = Self::default();
        build(&mut rule);
        rule.answer(ALLOW);
        self.skip_unless(BPF_JEQ, number(call), rule.0.len());
        self.append(rule);
    }

    fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn jump(&mut self, comparison: u32, value: u32, if_true: usize, if_false: usize) {
        let short = |n: usize| u8::try_from(n).unwrap_or(u8::MAX);
        self.0.push(Instruction {
            code: BPF_JMP | comparison | BPF_K,
            if_true: short(if_true),
            if_false: short(if_false),
            value,
        });
    }

    fn push(&mut self, code: u32, value: u32) {
        self.0.push(Instruction {
            code,
            if_true: 0,
            if_false: 0,
            value,
        });
    }

    /// Returns the program as the kernel's array of `sock_filter`.
    fn bytes(&self) -> Vec<u8> {
        let bytes = self.0.iter().flat_map(|it| {
            let [a, b, ..] = it.code.to_le_bytes();
            let [c, d, e, f] = it.value.to_le_bytes();
            [a, b, it.if_true, it.if_false, c, d, e, f]
        });
        bytes.collect()
    }
}

/// Returns the offset of an argument's lower half, on processors that store it first.
fn argument(n: u32) -> u32 {
    16 + 8 * n
}

fn error(errno: i32) -> u32 {
    0x0005_0000 | bits(errno)
}

fn bits(value: i32) -> u32 {
    value.cast_unsigned()
}

/// Returns the number of a call or request, all of which are small.
fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "seccomp_tests.rs"]
mod tests;
