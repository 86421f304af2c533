"""Measures a network from inside: bytes, connections and first bytes.

Arguments: host, the ports of the servers, and `hold` to open 200 connections and keep them until the input ends.
"""

import concurrent.futures
import json
import os
import socket
import statistics
import sys
import time

host, source, sink, echo = sys.argv[1], *map(int, sys.argv[2:5])
is_holding = sys.argv[5:] == ["hold"]
seconds = float(os.environ.get("NETWORK_SECONDS", "2"))


def connect(port):
    stream = socket.create_connection((host, port), 30)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def download():
    buffer, n_bytes = bytearray(1 << 20), 0
    with connect(source) as stream:
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            n_bytes += stream.recv_into(buffer)
        return n_bytes / (time.monotonic() - begin) / 1e6


def upload():
    piece, n_bytes = bytes(1 << 20), 0
    with connect(sink) as stream:
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            stream.sendall(piece)
            n_bytes += len(piece)
        stream.shutdown(socket.SHUT_WR)
        # The server answers when it has read everything.
        stream.recv(1)
        return n_bytes / (time.monotonic() - begin) / 1e6


def one_connection():
    begin = time.monotonic()
    with connect(echo) as stream:
        stream.sendall(b"x")
        stream.recv(1)
        return time.monotonic() - begin


def connections():
    begin, n_made = time.monotonic(), 0
    while time.monotonic() - begin < seconds / 2:
        one_connection()
        n_made += 1
    return n_made / (time.monotonic() - begin)


def connections_16():
    begin = time.monotonic()

    def work(_):
        n_made = 0
        while time.monotonic() - begin < seconds / 2:
            one_connection()
            n_made += 1
        return n_made

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        n_made = sum(pool.map(work, range(16)))
    return n_made / (time.monotonic() - begin)


def requests():
    with connect(echo) as stream:
        begin, n_made = time.monotonic(), 0
        while time.monotonic() - begin < seconds / 2:
            stream.sendall(b"x")
            stream.recv(1)
            n_made += 1
        return n_made / (time.monotonic() - begin)


def use_200():
    streams = [connect(echo) for _ in range(200)]
    for _ in range(5):
        for stream in streams:
            stream.sendall(bytes(10_000))
        for stream in streams:
            n_read = 0
            while n_read < 10_000:
                n_read += len(stream.recv(10_000))
    return streams


def parallel_ms():
    begin = time.monotonic()
    for stream in use_200():
        stream.close()
    return (time.monotonic() - begin) * 1000


if is_holding:
    held = use_200()
    print("holding", flush=True)
    sys.stdin.read()
    sys.exit()
one_connection()
print(json.dumps({
    "first_byte_ms": statistics.median(one_connection() for _ in range(200)) * 1000,
    "download": download(),
    "upload": upload(),
    "connections": connections(),
    "connections_16": connections_16(),
    "requests": requests(),
    "parallel_ms": parallel_ms(),
}))
