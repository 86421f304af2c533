"""Viewers of the desktop by x11vnc behind websockify: `vnc.py PORT SECONDS VIEWERS…`, in the sandbox of the desktop.

For each number of viewers it prints a line: the pictures a second of the slowest viewer, and the processor time of both
programs in hundredths of a second for each second.
"""

import os
import socket
import struct
import subprocess
import sys
import threading
import time

PORT, SECONDS = int(sys.argv[1]), float(sys.argv[2])
ZRLE = 16
TICKS = os.sysconf("SC_CLK_TCK")


class Viewer(threading.Thread):
    """Asks for the next picture as soon as one has arrived, as noVNC does, and reads it without decoding."""

    def __init__(self):
        super().__init__(daemon=True)
        self.n_pictures, self.buffer = 0, b""
        self.socket = socket.create_connection(("127.0.0.1", PORT))
        self.socket.sendall(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: binary\r\n\r\n"
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.socket.recv(1)
        self.read(12)
        self.send(b"RFB 003.008\n")
        self.read(self.read(1)[0])
        self.send(b"\x01")
        self.read(4)
        self.send(b"\x01")
        self.width, self.height = struct.unpack(">HH", self.read(4))
        self.read(16)
        self.read(struct.unpack(">I", self.read(4))[0])
        self.send(struct.pack(">BxHi", 2, 1, ZRLE))

    def read_exactly(self, n):
        data = bytearray()
        while len(data) < n:
            part = self.socket.recv(n - len(data))
            if not part:
                raise SystemExit
            data += part
        return bytes(data)

    def read(self, n):
        while len(self.buffer) < n:
            _, length = self.read_exactly(2)
            if length == 126:
                length = struct.unpack(">H", self.read_exactly(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.read_exactly(8))[0]
            self.buffer += self.read_exactly(length)
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def send(self, data):
        self.socket.sendall(struct.pack(">BBI", 0x82, 0x80 | len(data), 0) + data)

    def run(self):
        is_later = 0
        while True:
            self.send(struct.pack(">BBHHHH", 3, is_later, 0, 0, self.width, self.height))
            is_later = 1
            while (kind := self.read(1)[0]) != 0:
                # A bell has no body, and a clipboard has.
                if kind == 3:
                    self.read(struct.unpack(">3xI", self.read(7))[0])
            for _ in range(struct.unpack(">xH", self.read(3))[0]):
                self.read(12)
                self.read(struct.unpack(">I", self.read(4))[0])
            self.n_pictures += 1


def cpu_ticks():
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                line = file.read()
            with open(f"/proc/{pid}/stat") as file:
                times = file.read().rsplit(")", 1)[1].split()[11:13]
        except OSError:
            continue
        if line.startswith("x11vnc") or "websockify" in line:
            total += sum(map(int, times))
    return total


def wait_for(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nothing listens on port {port}")


vnc = "x11vnc -quiet -shared -forever -nopw -localhost -rfbport"
programs = [
    subprocess.Popen(vnc.split() + [str(PORT + 1)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
    subprocess.Popen(["websockify", f"127.0.0.1:{PORT}", f"127.0.0.1:{PORT + 1}"], stderr=subprocess.DEVNULL),
]
try:
    wait_for(PORT + 1)
    wait_for(PORT)
    viewers = []
    for wanted in map(int, sys.argv[3:]):
        while len(viewers) < wanted:
            viewers.append(Viewer())
            viewers[-1].start()
        time.sleep(1)
        before, ticks, began = [viewer.n_pictures for viewer in viewers], cpu_ticks(), time.monotonic()
        time.sleep(SECONDS)
        seconds = time.monotonic() - began
        slowest = min(viewer.n_pictures - then for viewer, then in zip(viewers, before))
        print("measured", slowest / seconds, (cpu_ticks() - ticks) * 100 / TICKS / seconds, flush=True)
finally:
    for program in programs:
        program.kill()
