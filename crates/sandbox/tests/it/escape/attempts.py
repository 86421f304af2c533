"""Attempts to get out of a sandbox, run in it as the agent. One line is printed for each.

An attempt returns what it met if the wall held, raises Through if it got through, and Untried if it shows nothing here.
"""

import array, ctypes, errno, fcntl, glob, json, os, platform, resource, signal, socket, stat, struct, subprocess, termios, time

HOST = json.load(open("/tmp/facts.json"))
RUNNER = os.getppid()
while open(f"/proc/{RUNNER}/comm").read().strip() in ("bash", "sh", "timeout"):
    RUNNER = int(open(f"/proc/{RUNNER}/stat").read().rsplit(")", 1)[1].split()[1])

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": dict(
        ptrace=101, process_vm_readv=310, pidfd_open=434, pidfd_getfd=438, setns=308, unshare=272, mount=165,
        umount2=166, pivot_root=155, fsopen=430, open_tree=428, move_mount=429, add_key=248, request_key=249,
        keyctl=250, bpf=321, perf_event_open=298, io_uring_setup=425, userfaultfd=323, kexec_load=246,
        init_module=175, reboot=169, clone3=435, fanotify_init=300, fallocate=285, open_by_handle_at=304,
        sethostname=170, settimeofday=164, swapon=167, syslog=103, quotactl=179, kcmp=312, capset=126),
    "aarch64": dict(
        ptrace=117, process_vm_readv=270, pidfd_open=434, pidfd_getfd=438, setns=268, unshare=97, mount=40,
        umount2=39, pivot_root=41, fsopen=430, open_tree=428, move_mount=429, add_key=217, request_key=218,
        keyctl=219, bpf=280, perf_event_open=241, io_uring_setup=425, userfaultfd=282, kexec_load=104,
        init_module=105, reboot=142, clone3=435, fanotify_init=262, fallocate=47, open_by_handle_at=265,
        sethostname=161, settimeofday=170, swapon=224, syslog=116, quotactl=60, kcmp=272, capset=91),
}.get(platform.machine(), {})
NEWNS, NEWUTS, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x10000000, 0x20000000, 0x40000000
ATTEMPTS = []


class Through(Exception):
    pass


class Untried(Exception):
    pass


def attempt(name, held):
    """Registers an attempt. `held` says what it means that the wall held."""
    def add(function):
        ATTEMPTS.append((name, held, function))
        return function
    return add


def call(name, *arguments):
    """Makes a system call. Returns its result, or the name of its error."""
    if name not in NUMBERS:
        raise Untried(f"the number of {name} is not known for {platform.machine()}")
    result = LIBC.syscall(ctypes.c_long(NUMBERS[name]), *[
        ctypes.c_long(word) if isinstance(word, int) else word for word in arguments])
    return errno.errorcode[ctypes.get_errno()] if result == -1 else result


def refused(name, *arguments, by=("EPERM", "ENOSYS", "ENOTSUP")):
    met = call(name, *arguments)
    if met not in by:
        raise Through(f"{name} gave {met}")
    return f"{name}: {met}"


def unopened(path, mode="rb"):
    try:
        with open(path, mode) as file:
            content = file.read(64) if "r" in mode else "written to"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
    if content:
        raise Through(f"{path}: {content!r}")
    return "empty"


def memory_closed(pid):
    """Tries to open the memory of a process. Reading it at the address 0 would fail in any case."""
    met = []
    for flags in (os.O_RDONLY, os.O_RDWR):
        try:
            os.close(os.open(f"/proc/{pid}/mem", flags))
        except OSError as error:
            met.append(errno.errorcode[error.errno])
        else:
            raise Through(f"/proc/{pid}/mem is open")
    return f"{refused('process_vm_readv', pid, 0, 0, 0, 0, 0)}, {', '.join(met)}"


def descriptors_closed(pid):
    try:
        raise Through(str(os.listdir(f"/proc/{pid}/fd")))
    except PermissionError:
        pass
    pidfd = call("pidfd_open", pid, 0)
    return refused("pidfd_getfd", pidfd if isinstance(pidfd, int) else 0, 0, 0)


def x_server():
    for folder in glob.glob("/proc/[0-9]*"):
        if open(f"{folder}/comm").read().strip() == "Xvnc":
            return int(os.path.basename(folder))
    raise Untried("there is no X server")


def socket_refused(*arguments):
    try:
        socket.socket(*arguments).close()
    except OSError as error:
        return errno.errorcode[error.errno]
    raise Through(f"a socket {arguments}")


def in_child(function):
    """Runs a function in a process of its own, and passes on what it returned or raised."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            told = ["held", str(function())]
        except Through as through:
            told = ["through", str(through)]
        except Untried as untried:
            told = ["untried", str(untried)]
        except BaseException as error:
            told = ["through", f"unexpected {error!r}"]
        os.write(writer, json.dumps(told).encode())
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 65536)
    os.close(reader)
    os.waitpid(pid, 0)
    kind, text = json.loads(told or '["through", "the process ended"]')
    if kind == "through":
        raise Through(text)
    if kind == "untried":
        raise Untried(text)
    return text


def become_root(more=0):
    """Makes a user namespace in which this process is root."""
    met = call("unshare", NEWUSER | more)
    if met != 0:
        raise Untried(f"no user namespace inside: {met}")
    for file, text in [("setgroups", "deny"), ("uid_map", "0 1000 1"), ("gid_map", "0 1000 1")]:
        with open(f"/proc/self/{file}", "w") as map:
            map.write(text)


# Files of the host, the server and the neighbours.

@attempt("read a file of the host", "there is no such path")
def _():
    return unopened(HOST["marker"])

@attempt("list the data folder", "there is no such path")
def _():
    if os.path.exists(HOST["data"]):
        raise Through(os.listdir(HOST["data"]))
    return "absent"

@attempt("read a neighbour's home", "there is no such path")
def _():
    return unopened(HOST["neighbour"] + "/secret")

@attempt("read the host's passwords and keys", "none of the files is there")
def _():
    return ", ".join({unopened(path) for path in ["/etc/shadow", "/root/.bashrc", "/etc/ssh/sshd_config",
                                                  "/etc/ssl/private", "/var/lib/dpkg/status"]})

@attempt("see the host's own configuration in /usr", "/usr/local/etc and /usr/src are empty")
def _():
    found = [name for folder in ["/usr/local/etc", "/usr/src"] if os.path.isdir(folder) for name in os.listdir(folder)]
    if found:
        raise Through(found)
    return "empty"

@attempt("see /sys", "it is not there")
def _():
    if os.path.exists("/sys"):
        raise Through(os.listdir("/sys"))
    return "absent"

@attempt("read the host's paths from the first process", "its command line names none")
def _():
    line = open("/proc/1/cmdline").read()
    if HOST["data"] in line or HOST["neighbour"] in line or "/home/agent" in line:
        raise Through(line)
    return line.replace("\0", " ")[:60]

@attempt("read the host's paths from the list of mounts", "it names none")
def _():
    if not HOST["paths_are_hidden"]:
        raise Untried("a home that is a folder tells its path")
    for path in ["/proc/self/mountinfo", "/proc/1/mountinfo", "/proc/self/mounts"]:
        found = [line for line in open(path) if HOST["data"] in line or HOST["runner"] in line]
        if found:
            raise Through(found)
    return "neither the data folder nor the runner's"

@attempt("read the environment of the first process", "it is empty")
def _():
    return unopened("/proc/1/environ")

@attempt("leave through /proc/1/root", "it is the sandbox's own root")
def _():
    for door in ["/proc/1/root", "/proc/1/cwd", "/proc/self/root", f"/proc/{RUNNER}/root"]:
        if os.path.exists(door + HOST["marker"]):
            raise Through(door)
    return "the same root"

@attempt("leave through .. of the root", "it is the same folder")
def _():
    if not os.path.samefile("/", "/../.."):
        raise Through("another folder")
    return "the same folder"

@attempt("write to the system", "every place is read-only or not ours")
def _():
    for path in ["/x", "/usr/x", "/usr/bin/bash", "/etc/passwd", "/run/x", "/var/x", "/dev/x", "/run/deskhand/x",
                 "/usr/local/etc/x", "/usr/src/x"]:
        unopened(path, "ab")
    return "read-only"

@attempt("replace the runner's program", "it cannot be written or moved")
def _():
    unopened("/run/deskhand/bin/deskhand", "ab")
    try:
        os.rename("/run/deskhand/bin/deskhand", "/run/deskhand/bin/other")
    except OSError as error:
        return errno.errorcode[error.errno]
    raise Through("moved")

@attempt("replace the socket to the server", "it cannot be removed")
def _():
    try:
        os.unlink("/run/deskhand/runner.sock")
    except OSError as error:
        return errno.errorcode[error.errno]
    raise Through("removed")

@attempt("speak to the server without the runner's token", "the server closes the connection")
def _():
    talk = socket.socket(socket.AF_UNIX)
    talk.settimeout(60)
    try:
        talk.connect("/run/deskhand/runner.sock")
        talk.sendall(b"GET /runner HTTP/1.1\r\nHost: runner\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                     b"Authorization: Bearer wrong\r\n\r\n")
        answer = talk.recv(64)
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
    if b" 101 " in answer:
        raise Through(answer)
    return answer.split(b"\r")[0].decode() or "closed"

@attempt("make device nodes in the home", "the kernel refuses")
def _():
    for name, kind, device in [("mem", stat.S_IFCHR, (1, 1)), ("disk", stat.S_IFBLK, (254, 0)), ("null", stat.S_IFCHR, (1, 3))]:
        try:
            os.mknod(f"/home/agent/{name}", kind | 0o666, os.makedev(*device))
        except OSError as error:
            if error.errno == errno.EPERM:
                continue
        raise Through(name)
    return "EPERM"

@attempt("open devices of the host", "they are not there")
def _():
    found = [path for path in ["/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/loop-control",
                               "/dev/net/tun", "/dev/vda", "/dev/sda", "/dev/vsock", "/dev/uinput"] if os.path.exists(path)]
    if found:
        raise Through(found)
    return "absent"

@attempt("link files of the system into the home", "a hard link across file systems is refused")
def _():
    for path in ["/usr/bin/passwd", "/etc/passwd", "/run/deskhand/runner.sock"]:
        try:
            os.link(path, "/home/agent/linked")
        except OSError as error:
            if error.errno in (errno.EXDEV, errno.EPERM, errno.EROFS):
                continue
        raise Through(path)
    return "EXDEV"

@attempt("gain root by a program with the setuid bit", "every mount ignores the bit, and so does the process")
def _():
    lines = [line.split() for line in open("/proc/self/mountinfo")]
    without = [line[4] for line in lines if "nosuid" not in line[5].split(",")]
    status = open("/proc/self/status").read()
    if without or "NoNewPrivs:\t1" not in status:
        raise Through(without or "no_new_privs is off")
    try:
        os.setuid(0)
    except OSError as error:
        return f"nosuid, no_new_privs, {errno.errorcode[error.errno]}"
    raise Through("setuid(0)")

@attempt("open files by handle", "the call is refused")
def _():
    return refused("open_by_handle_at", 0, 0, 0)

# Processes and their memory.

@attempt("see processes of the host or the neighbours", "only the sandbox's own are listed")
def _():
    lines = [open(f"/proc/{pid}/cmdline").read() for pid in os.listdir("/proc") if pid.isdigit()]
    if any(HOST["neighbour_mark"] in line for line in lines):
        raise Through("a neighbour's process")
    if any(str(HOST["server"]) == pid for pid in os.listdir("/proc")):
        raise Through("the server's process")
    return f"{len(lines)} of our own"

@attempt("signal the server", "there is no such process")
def _():
    try:
        os.kill(HOST["server"], 0)
    except ProcessLookupError:
        return "ESRCH"
    raise Through("it can be signalled")

@attempt("kill the sandbox's first process", "the kernel ignores it")
def _():
    os.kill(1, signal.SIGKILL)
    return "ignored" if os.path.exists("/proc/1") else "gone"

@attempt("attach to the first process", "the call is refused")
def _():
    return refused("ptrace", 16, 1, 0, 0)

@attempt("attach to the runner", "the call is refused")
def _():
    return f"{refused('ptrace', 16, RUNNER, 0, 0)}, {refused('ptrace', 0x4206, RUNNER, 0, 0)}"

@attempt("read the runner's memory", "neither the call nor the file is open to us")
def _():
    return memory_closed(RUNNER)

@attempt("read the runner's environment and maps", "the files are not open to us")
def _():
    return ", ".join({unopened(f"/proc/{RUNNER}/{file}") for file in ["environ", "maps", "auxv", "stack"]})

@attempt("take the runner's descriptors", "they can neither be listed nor copied")
def _():
    return descriptors_closed(RUNNER)

@attempt("read or change the X server's memory", "neither the calls nor the file is open to us")
def _():
    return memory_closed(x_server())

@attempt("take the X server's descriptors", "they can neither be listed nor copied")
def _():
    return descriptors_closed(x_server())

@attempt("make the X server's program readable", "it is mounted read-only")
def _():
    program = "/run/deskhand/bin/Xvnc"
    try:
        os.chmod(program, 0o755)
    except OSError as error:
        return f"{errno.errorcode[error.errno]}; {unopened(program)}"
    raise Through("its mode was changed")

@attempt("find descriptors that the server left open", "only our own pipes are open")
def _():
    names = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            names[number] = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            pass
    odd = {number: name for number, name in names.items() if "memfd" in name or "socket" in name or HOST["data"] in name}
    if odd:
        raise Through(odd)
    return ", ".join(sorted(set(names.values())))[:80]

@attempt("write the runner's last words", "standard error is a socket, which cannot be opened")
def _():
    return unopened("/proc/1/fd/2", "wb")

@attempt("keep the runner's standard input open", "it is a socket, which cannot be opened")
def _():
    return unopened("/proc/1/fd/0", "wb")

@attempt("copy a descriptor of the first process", "the call is refused")
def _():
    return refused("pidfd_getfd", 0, 2, 0)

@attempt("gain something by taking over the first process", "it has no capability and the same filter")
def _():
    status = {name: value.strip() for name, value in (line.split(":", 1) for line in open("/proc/1/status"))}
    if status["Seccomp"] != "2" or int(status["CapEff"], 16) or int(status["CapBnd"], 16) or status["NoNewPrivs"] != "1":
        raise Through(status)
    return "the same as ours"

@attempt("compare kernel objects of processes", "the call is refused")
def _():
    return refused("kcmp", os.getpid(), 1, 0, 0, 0)

# Namespaces and mounts.

@attempt("enter the namespaces of another process", "the call is refused")
def _():
    for kind in ["mnt", "user", "net", "pid"]:
        try:
            with open(f"/proc/1/ns/{kind}") as namespace:
                met = refused("setns", namespace.fileno(), 0)
        except PermissionError:
            met = "EACCES"
    return met

@attempt("make a mount namespace", "the call is refused, with and without a user namespace")
def _():
    refused("unshare", NEWNS)
    return in_child(lambda: refused("unshare", NEWUSER | NEWNS))

@attempt("make other namespaces", "clock, host name and control group namespaces are refused")
def _():
    for flag in [0x80, NEWUTS, 0x02000000, 0x08000000]:
        met = in_child(lambda: refused("unshare", NEWUSER | flag))
    return met

@attempt("make namespaces with clone3", "the call does not exist here")
def _():
    return refused("clone3", 0, 0)

@attempt("mount as root of a nested namespace", "the call is refused")
def _():
    def nested():
        become_root()
        return refused("mount", b"none", b"/tmp", b"tmpfs", 0, 0)
    return in_child(nested)

@attempt("mount /proc of a nested process namespace", "the call is refused")
def _():
    def nested():
        become_root(NEWPID)
        return refused("mount", b"proc", b"/tmp", b"proc", 0, 0)
    return in_child(nested)

@attempt("mount with the new calls", "each is refused")
def _():
    def nested():
        become_root()
        return ", ".join([refused("fsopen", b"tmpfs", 0), refused("open_tree", -100, b"/", 1),
                          refused("move_mount", 0, b"", 0, b"", 0)])
    return in_child(nested)

@attempt("uncover what is covered", "unmounting is refused")
def _():
    def nested():
        become_root()
        return refused("umount2", b"/proc/cmdline", 2)
    return in_child(nested)

@attempt("change the root", "pivot_root is refused, and chroot needs a nested namespace")
def _():
    try:
        os.chroot("/tmp")
        raise Through("chroot")
    except PermissionError:
        pass
    return refused("pivot_root", b"/tmp", b"/tmp")

@attempt("use capabilities", "there are none, and none can be had")
def _():
    sets = [line for line in open("/proc/self/status") if line.startswith("Cap")]
    if any(int(line.split()[1], 16) for line in sets):
        raise Through(sets)
    header, data = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", *[0xffffffff] * 6)
    met = call("capset", header, data)
    if met != "EPERM":
        raise Through(f"capset gave {met}")
    return "none"

# Parts of the kernel.

@attempt("use keyrings", "each call is refused")
def _():
    return ", ".join([refused("add_key", b"user", b"x", b"y", 1, -4), refused("keyctl", 0, -4, 1),
                      refused("request_key", b"user", b"x", 0, -4)])

@attempt("load BPF programs", "the call is refused, also in a nested namespace")
def _():
    def nested():
        become_root()
        return refused("bpf", 0, ctypes.create_string_buffer(128), 128)
    refused("bpf", 0, ctypes.create_string_buffer(128), 128)
    return in_child(nested)

@attempt("read the kernel's counters", "the call is refused")
def _():
    return refused("perf_event_open", ctypes.create_string_buffer(128), 0, -1, -1, 0)

@attempt("use io_uring", "the call does not exist here")
def _():
    return refused("io_uring_setup", 8, ctypes.create_string_buffer(128))

@attempt("handle page faults of the kernel", "the call is refused")
def _():
    return refused("userfaultfd", 0)

@attempt("watch the file system as a whole", "the call is refused")
def _():
    return refused("fanotify_init", 0, 0)

@attempt("load another kernel or a module", "each call is refused")
def _():
    return ", ".join([refused("kexec_load", 0, 0, 0, 0), refused("init_module", 0, 0, b"")])

@attempt("change the machine", "clock, host name, swap, quotas and power are refused")
def _():
    return ", ".join([refused("reboot", 0, 0, 0, 0), refused("settimeofday", 0, 0), refused("sethostname", b"x", 1),
                      refused("swapon", b"/x", 0), refused("quotactl", 0, 0, 0, 0), refused("syslog", 3, 0, 0)])

@attempt("call the kernel in another way", "the calls of the x32 interface do not exist")
def _():
    if platform.machine() != "x86_64":
        raise Untried("only x86-64 has one")
    met = LIBC.syscall(ctypes.c_long(0x40000000 + 39))
    if met != -1 or ctypes.get_errno() != errno.ENOSYS:
        raise Through(met)
    return "ENOSYS"

@attempt("type into a terminal", "the request is refused")
def _():
    master, slave = os.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSTI, b"x")
    except OSError as error:
        return errno.errorcode[error.errno]
    raise Through("typed")

@attempt("read about the host in /proc", "the files are covered or not ours")
def _():
    return ", ".join({unopened(f"/proc/{file}") for file in
                      ["cmdline", "modules", "diskstats", "partitions", "kcore", "timer_list", "slabinfo", "vmallocinfo"]})

@attempt("write to /proc", "every file is read-only or not ours")
def _():
    for path in ["sys/kernel/core_pattern", "sys/kernel/modprobe", "sys/vm/drop_caches", "sys/vm/overcommit_memory",
                 "sys/kernel/hostname", "sys/net/ipv4/ip_forward", "sysrq-trigger", "sys/kernel/randomize_va_space"]:
        try:
            with open(f"/proc/{path}", "wb") as file:
                pass
        except OSError:
            continue
        raise Through(path)
    return "refused"

@attempt("hide from the kernel's choice when memory runs out", "a negative score is refused, and ours is raised")
def _():
    score = int(open("/proc/self/oom_score_adj").read())
    if score <= 0:
        raise Through(f"our score is {score}")
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("-1000")
    except OSError as error:
        return f"{score}, then {errno.errorcode[error.errno]}"
    raise Through("-1000")

@attempt("raise limits", "the hard limits hold, and there are no core dumps")
def _():
    if resource.getrlimit(resource.RLIMIT_CORE) != (0, 0):
        raise Through("core dumps")
    size = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    if size == resource.RLIM_INFINITY:
        raise Through("files of any size")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1, size + 1))
    except (OSError, ValueError):
        return f"files of {size} bytes"
    raise Through("raised")

@attempt("leave the control group", "no control group can be seen or mounted")
def _():
    paths = {line.strip().split(":", 2)[2] for line in open("/proc/self/cgroup")}
    if glob.glob("/sys/fs/cgroup/*") or " cgroup" in open("/proc/mounts").read():
        raise Through(paths)
    return ", ".join(sorted(paths))[:60]

# Sockets.

@attempt("reach the host's loopback", "nothing listens there")
def _():
    met = []
    for address in ["127.0.0.1", "::1"]:
        try:
            socket.create_connection((address, HOST["port"]), 3)
        except OSError as error:
            met.append(errno.errorcode.get(error.errno, str(error)))
            continue
        raise Through(address)
    return ", ".join(met)

@attempt("reach the network", "the server is asked and refuses")
def _():
    met = set()
    for address in ["192.0.2.1", "169.254.169.254", "10.0.0.1", "2001:db8::1"]:
        try:
            socket.create_connection((address, 80), 3)
        except OSError as error:
            met.add(errno.errorcode.get(error.errno, str(error)))
            continue
        raise Through(address)
    return ", ".join(met)

@attempt("send a datagram out", "it is refused at once")
def _():
    talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    talk.settimeout(60)
    try:
        talk.connect(("192.0.2.1", 53))
        talk.send(b"x")
        talk.recv(1)
    except TimeoutError:
        raise Through("sent")
    except OSError as error:
        return errno.errorcode[error.errno]
    raise Through("answered")

@attempt("make a network interface", "the device is not there, nor in a nested network")
def _():
    def nested():
        become_root(NEWNET)
        try:
            os.mknod("/tmp/tun", 0o666 | stat.S_IFCHR, os.makedev(10, 200))
            os.close(os.open("/tmp/tun", os.O_RDWR))
        except OSError as error:
            return errno.errorcode[error.errno]
        raise Through("made and opened")
    if os.path.exists("/dev/net/tun"):
        raise Through("it is there")
    return in_child(nested)

@attempt("change the sandbox's interface", "the kernel refuses")
def _():
    talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names = [name for _, name in socket.if_nameindex()]
    for name in names:
        try:
            # SIOCSIFFLAGS switches it off, SIOCSIFADDR gives it another address.
            fcntl.ioctl(talk, 0x8914, struct.pack("16sh22x", name.encode(), 0))
            raise Through(name)
        except OSError as error:
            met = errno.errorcode[error.errno]
        try:
            fcntl.ioctl(talk, 0x8916, struct.pack("16sHxx4s16x", name.encode(), 2, bytes([192, 0, 2, 9])))
            raise Through(name)
        except OSError:
            pass
    return f"{', '.join(names)}: {met}"

@attempt("reach an abstract socket of the host", "it is refused")
def _():
    try:
        socket.socket(socket.AF_UNIX).connect("\0" + HOST["abstract"])
    except OSError as error:
        return errno.errorcode[error.errno]
    raise Through("connected")

@attempt("reach daemons of the host", "their sockets are not there")
def _():
    found = [path for path in ["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket",
                               "/run/systemd/private", "/run/user/0", HOST["socket"]] if os.path.exists(path)]
    if found:
        raise Through(found)
    return "absent"

@attempt("make raw sockets", "they are refused, also as root of a nested network")
def _():
    def nested():
        become_root(NEWNET)
        return socket_refused(socket.AF_INET, socket.SOCK_RAW, 1)
    socket_refused(socket.AF_INET, socket.SOCK_RAW, 1)
    socket_refused(socket.AF_INET6, socket.SOCK_RAW, 58)
    return in_child(nested)

@attempt("make packet sockets", "they are refused, also as root of a nested network")
def _():
    def nested():
        become_root(NEWNET)
        return socket_refused(socket.AF_PACKET, socket.SOCK_RAW, 0)
    socket_refused(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    return in_child(nested)

@attempt("make odd kinds of sockets", "each family is refused")
def _():
    families = dict(vsock=40, alg=38, tipc=30, bluetooth=31, can=29, key=15, x25=9, rds=21, kcm=41, xdp=44, smc=43, qipcrtr=42)
    for family in families.values():
        met = socket_refused(family, socket.SOCK_RAW if family in (15, 29, 31) else socket.SOCK_SEQPACKET, 0)
    return f"{len(families)} families: {met}"

@attempt("speak to the kernel over netlink", "only questions about routes are answered")
def _():
    def nested():
        become_root(NEWNET)
        return ", ".join(sorted({socket_refused(socket.AF_NETLINK, socket.SOCK_RAW, kind) for kind in [4, 6, 9, 10, 12, 15, 16]}))
    return in_child(nested)

@attempt("change the network over netlink", "the kernel refuses")
def _():
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    body = struct.pack("BxHiII", 0, 0, 1, 0, 1)
    link.send(struct.pack("IHHII", 16 + len(body), 19, 5, 1, 0) + body)
    code = struct.unpack("i", link.recv(4096)[16:20])[0]
    if code == 0:
        raise Through("the interface was changed")
    return errno.errorcode[-code]

@attempt("replace packet filters of a nested network", "the option is refused")
def _():
    def nested():
        become_root(NEWNET)
        talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            talk.setsockopt(socket.IPPROTO_IP, 64, bytes(96))
        except PermissionError:
            return "EPERM"
        raise Through("accepted")
    return in_child(nested)

@attempt("see shared memory of the host", "there are no System V objects")
def _():
    lines = [line for file in glob.glob("/proc/sysvipc/*") for line in open(file).readlines()[1:]]
    if lines:
        raise Through(lines)
    return "none"

# The browser.

@attempt("load an extension that reads pages", "the browser's policy blocks it, also in a browser of our own")
def _():
    browser = next((path for path in ["/usr/lib/chromium/chromium", "/usr/bin/chromium"] if os.path.exists(path)), None)
    if browser is None:
        raise Untried("no Chromium is installed")
    os.makedirs("/tmp/extension", exist_ok=True)
    manifest = {"manifest_version": 3, "name": "x", "version": "1",
                "content_scripts": [{"matches": ["<all_urls>"], "js": ["read.js"]}]}
    for path, text in [("/tmp/extension/manifest.json", json.dumps(manifest)), ("/tmp/page.html", "<body>page"),
                       ("/tmp/extension/read.js", "document.body.append(' was read')")]:
        with open(path, "w") as file:
            file.write(text)
    shown = subprocess.run(
        [browser, "--headless=new", "--disable-gpu", "--user-data-dir=/tmp/profile", "--load-extension=/tmp/extension",
         "--disable-features=DisableLoadExtensionCommandLineSwitch", "--dump-dom", "file:///tmp/page.html"],
        capture_output=True, timeout=50).stdout.decode()
    if "was read" in shown:
        raise Through(shown)
    if "page" not in shown:
        raise Untried("the browser showed nothing")
    return "not loaded"

# Bombs.

@attempt("fill the memory through folders in memory", "their sizes together are less than the limit")
def _():
    sizes = {}
    for line in open("/proc/self/mountinfo"):
        words = line.split()
        # Those that are read-only have been filled already.
        if " - tmpfs " in line and "rw" in words[5].split(","):
            space = os.statvfs(words[4])
            sizes[words[4]] = space.f_blocks * space.f_frsize
    if not sizes or sum(sizes.values()) >= HOST["memory"]:
        raise Through(sizes)
    return f"{sum(sizes.values()) >> 20} of {HOST['memory'] >> 20} MiB"

@attempt("set aside the disk at once", "the call does not exist here")
def _():
    with open("/home/agent/large", "wb") as file:
        return refused("fallocate", file.fileno(), 0, 0, 1 << 30)

@attempt("start processes without end", "the kernel refuses, and the sandbox goes on")
def _():
    children = []
    try:
        while len(children) <= HOST["processes"]:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            children.append(pid)
    except OSError as error:
        met = f"{errno.errorcode[error.errno]} after {len(children)}"
    else:
        met = None
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if met is None:
        raise Through(f"{len(children)} processes")
    return met

@attempt("take all memory", "the kernel ends the process, and the sandbox goes on")
def _():
    if not HOST["memory_is_limited"]:
        raise Untried("an ordinary user has no memory limit on this machine")
    pid = os.fork()
    if pid == 0:
        kept = []
        while True:
            kept.append(bytearray(16 << 20))
    _, status = os.waitpid(pid, 0)
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
        raise Through(f"status {status}")
    return "killed"


for name, held, function in ATTEMPTS:
    try:
        print("held", name, held, function(), sep=" | ", flush=True)
    except Through as through:
        print("THROUGH", name, held, through, sep=" | ", flush=True)
    except Untried as untried:
        print("untried", name, held, untried, sep=" | ", flush=True)
    except Exception as error:
        print("THROUGH", name, held, f"unexpected: {error!r}", sep=" | ", flush=True)
