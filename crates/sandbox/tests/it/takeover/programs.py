"""Programs that an agent could leave behind. The first argument says which one to be."""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
import time

HOME = os.path.expanduser("~")


def mark(name):
    with open(f"{HOME}/{name}", "a") as file:
        file.write("x")


def runaway():
    """Is another process every time one looks."""
    while True:
        try:
            child = os.fork()
        except BlockingIOError:
            # The processes before it have not all been cleared away yet, and there may be no more at a time.
            time.sleep(0.01)
            continue
        if child:
            os._exit(0)
        mark("runaway")


def waker():
    """Has a timer that continues it whenever it is stopped."""
    libc = ctypes.CDLL(None, use_errno=True)
    event = (ctypes.c_byte * 64)()
    struct.pack_into("<QII", event, 0, 0, 18, 0)
    timer = ctypes.c_void_p()
    assert libc.timer_create(1, event, ctypes.byref(timer)) == 0
    often = (ctypes.c_long * 4)(0, 20_000_000, 0, 20_000_000)
    assert libc.timer_settime(timer, 0, often, None) == 0
    while True:
        mark("waker")
        time.sleep(0.005)


def notified():
    """Asks for a signal that continues it whenever something changes in its folder, and leaves a child behind then."""
    folder = f"{HOME}/watched"
    os.makedirs(folder, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    asked = [(fcntl.F_SETSIG, signal.SIGCONT), (fcntl.F_NOTIFY, fcntl.DN_CREATE | fcntl.DN_MULTISHOT)]
    for command, argument in asked:
        try:
            fcntl.fcntl(descriptor, command, argument)
            mark("notified_is_told")
        except PermissionError:
            pass

    def continued(*_):
        if os.fork() == 0:
            os.setsid()
            while True:
                mark("notified_wakes")
                time.sleep(0.005)

    signal.signal(signal.SIGCONT, continued)
    mark("notified")
    while True:
        time.sleep(1000)


def sleeper():
    """Leaves a detached child behind when it is continued, and stops itself before anybody looks."""

    def continued(*_):
        if os.fork() == 0:
            if os.fork():
                os._exit(0)
            os.setsid()
            while True:
                mark("sleeper_wakes")
                time.sleep(0.005)
        os.wait()
        os.kill(os.getpid(), signal.SIGSTOP)

    signal.signal(signal.SIGCONT, continued)
    mark("sleeper")
    while True:
        time.sleep(1000)


class Display:
    """As much of X11 as is needed."""

    def __init__(self):
        number = os.environ["DISPLAY"].lstrip(":")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(f"/tmp/.X11-unix/X{number}")
        self.socket.send(struct.pack("<BxHHHHxx", 0x6C, 11, 0, 0, 0))
        head = self.read(8)
        assert head[0] == 1, head
        setup = self.read(4 * struct.unpack("<H", head[6:8])[0])
        self.base = struct.unpack("<I", setup[4:8])[0]
        vendor = struct.unpack("<H", setup[16:18])[0]
        screen = 32 + (vendor + 3) // 4 * 4 + 8 * setup[21]
        self.root = struct.unpack("<I", setup[screen : screen + 4])[0]

    def read(self, n):
        data = b""
        while len(data) < n:
            piece = self.socket.recv(n - len(data))
            assert piece, "the X server closed the connection"
            data += piece
        return data

    def message(self):
        data = self.read(32)
        if data[0] in (1, 35):
            data += self.read(4 * struct.unpack("<I", data[4:8])[0])
        return data

    def reply(self):
        while True:
            message = self.message()
            assert message[0] != 0, f"error {message[1]}"
            if message[0] == 1:
                return message

    def request(self, opcode, detail, body=b""):
        body += b"\0" * (-len(body) % 4)
        head = struct.pack("<BBH", opcode, detail, 1 + len(body) // 4)
        self.socket.send(head + body)

    def extension(self, name):
        self.request(98, 0, struct.pack("<HH", len(name), 0) + name.encode())
        return self.reply()[9]

    def atom(self, name):
        self.request(16, 0, struct.pack("<Hxx", len(name)) + name.encode())
        return struct.unpack("<I", self.reply()[8:12])[0]

    def sync(self):
        self.request(43, 0)
        self.reply()


def listener():
    """Writes down every key, whatever window it is for."""
    display = Display()
    opcode = display.extension("XInputExtension")
    display.request(opcode, 47, struct.pack("<HH", 2, 2))
    display.reply()
    raw_keys = struct.pack("<HHI", 1, 1, 1 << 13)
    display.request(opcode, 46, struct.pack("<IHxx", display.root, 1) + raw_keys)
    display.sync()
    mark("listener")
    while True:
        if display.message()[0] == 35:
            mark("heard")


def window():
    """Shows a red window, and asks for nothing."""
    display = Display()
    window = display.base | 1
    geometry = struct.pack("<IIhhHHHHI", window, display.root, 40, 40, 200, 100, 0, 1, 0)
    red = struct.pack("<III", 1 << 1, 0xFF0000, 0)[:8]
    display.request(1, 0, geometry + red)
    display.request(8, 0, struct.pack("<I", window))
    display.sync()
    mark("window")
    while True:
        time.sleep(0.02)
        display.sync()
        mark("alive")


def recorder():
    """Records the keys of all others."""
    control, data = Display(), Display()
    opcode = control.extension("RECORD")
    data.extension("RECORD")
    context = control.base | 1
    keys = struct.pack("<18xBB4x", 2, 3)
    control.request(opcode, 1, struct.pack("<IBxxxIII", context, 0, 1, 1, 3) + keys)
    control.sync()
    data.request(opcode, 5, struct.pack("<I", context))
    while True:
        category = data.reply()[1]
        mark("heard_by_recorder" if category == 0 else "recorder")


def grabber():
    """Takes all keys for itself."""
    display = Display()
    display.request(31, 0, struct.pack("<IIBBxx", display.root, 0, 1, 1))
    assert display.reply()[1] == 0, "the grab failed"
    mark("grabber")
    hear(display)


def key_grabber():
    """Takes every key that is typed without a modifier, whatever window it is for."""
    display = Display()
    display.request(33, 0, struct.pack("<IHBBBxxx", display.root, 0, 0, 1, 1))
    display.sync()
    mark("key_grabber")
    hear(display)


def awaiter():
    """Has requests that wait until somebody counts, and would be carried out then."""
    display = Display()
    opcode = display.extension("SYNC")
    display.request(opcode, 0, struct.pack("<BBxx", 3, 1))
    display.reply()
    counter = display.base | 1
    display.request(opcode, 2, struct.pack("<IiI", counter, 0, 0))
    display.sync()
    display.request(opcode, 7, struct.pack("<IIiIIiI", counter, 0, 0, 1, 2, 0, 0))
    display.request(44, 0)
    mark("awaiter")
    display.reply()


def hear(display):
    while True:
        if display.message()[0] & 0x7F in (2, 3):
            mark(f"heard_by_{sys.argv[1]}")


def pixels():
    """Reads the screen again and again."""
    display = Display()
    while True:
        display.request(73, 2, struct.pack("<IhhHHI", display.root, 0, 0, 64, 64, 0xFFFFFFFF))
        display.reply()
        mark("pixels")
        time.sleep(0.01)


def own_window(display):
    window = display.base | 1
    display.request(1, 0, struct.pack("<IIhhHHHHII", window, display.root, 0, 0, 1, 1, 0, 1, 0, 0))
    return window


def clipboard():
    """Asks for the clipboard again and again."""
    display = Display()
    window = own_window(display)
    selection = display.atom("CLIPBOARD")
    while True:
        display.request(24, 0, struct.pack("<IIIII", window, selection, 31, 31, 0))
        while (event := display.message())[0] & 0x7F != 31:
            pass
        if struct.unpack("<I", event[20:24])[0]:
            display.request(20, 0, struct.pack("<IIIII", window, 31, 0, 0, 16))
            reply = display.reply()
            length = struct.unpack("<I", reply[16:20])[0]
            mark("clipped_" + reply[32 : 32 + length].decode())
        mark("clipboard")
        time.sleep(0.01)


def copier():
    """Has the second argument in the clipboard, and gives it to whoever asks."""
    word = sys.argv[2].encode()
    display = Display()
    window = own_window(display)
    display.request(22, 0, struct.pack("<III", window, display.atom("CLIPBOARD"), 0))
    display.sync()
    mark("copier")
    while True:
        event = display.message()
        if event[0] & 0x7F == 30:
            time_, _, requestor, selection, target, place = struct.unpack("<6I", event[4:28])
            display.request(18, 0, struct.pack("<IIIBxxxI", requestor, place, 31, 8, len(word)) + word)
            told = struct.pack("<BxHIIIII8x", 31, 0, time_, requestor, selection, target, place)
            display.request(25, 0, struct.pack("<II", requestor, 0) + told)


def settings():
    """Changes settings of the X server over its own extension."""
    display = Display()
    opcode = display.extension("VNC-EXTENSION")
    for setting in (b"AcceptPointerEvents=0", b"AcceptKeyEvents=0", b"SendCutText=1", b"SendPrimary=1"):
        display.request(opcode, 0, struct.pack("<Bxxx", len(setting)) + setting)
        if display.reply()[1]:
            mark("settings_changed")
    mark("settings")


def hog():
    """Has the X server for itself and does not let go."""
    display = Display()
    display.request(36, 0)
    display.sync()
    mark("hog")
    while True:
        time.sleep(1000)


globals()[sys.argv[1]]()
