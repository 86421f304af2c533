"""Uses the network as programs do, and checks each result."""

import concurrent.futures
import errno
import os
import select
import socket
import struct
import threading
import time


def check(name, is_so, seen=None):
    if not is_so:
        raise SystemExit(f"{name}: {seen!r}")
    print("ok", name, flush=True)


def fails_with(name, code, action):
    try:
        action()
    except OSError as error:
        check(name, error.errno == code, error)
        return
    raise SystemExit(f"{name}: no error")


def connect(host, port):
    return socket.create_connection((host, port), 30)


def read_all(stream):
    pieces = []
    while piece := stream.recv(1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def half_close():
    with connect("count.test", 10) as stream:
        stream.sendall(b"x" * 1000)
        stream.shutdown(socket.SHUT_WR)
        check("a connection that is closed in one direction goes on in the other", read_all(stream) == b"1000")


def both_ways():
    data = os.urandom(1 << 20) * 8
    with connect("echo.test", 7) as stream:
        def send():
            stream.sendall(data)
            stream.shutdown(socket.SHUT_WR)
        sender = threading.Thread(target=send)
        sender.start()
        check("many bytes go both ways at once", read_all(stream) == data)
        sender.join()


def upload():
    size = 32 << 20
    with connect("count.test", 10) as stream:
        piece = b"y" * (1 << 20)
        for _ in range(size >> 20):
            stream.sendall(piece)
        stream.shutdown(socket.SHUT_WR)
        check("a large upload arrives", read_all(stream) == str(size).encode())


def small_pieces():
    with connect("echo.test", 7) as stream:
        for n in range(200):
            word = b"%d." % n
            stream.sendall(word)
            seen = b""
            while len(seen) < len(word):
                seen += stream.recv(100)
            if seen != word:
                check("small pieces return", False, seen)
    check("small pieces return", True)


def back_pressure():
    with connect("sink.test", 9) as stream:
        stream.setblocking(False)
        sent, piece = 0, b"z" * (1 << 16)
        while select.select([], [stream], [], 1)[1]:
            sent += stream.send(piece)
        check("a host that reads nothing stops the program", sent < 32 << 20, sent)


def slow_reader():
    with connect("echo.test", 7) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        data = os.urandom(1 << 20)
        threading.Thread(target=lambda: (stream.sendall(data), stream.shutdown(socket.SHUT_WR))).start()
        seen = b""
        while piece := stream.recv(4096):
            seen += piece
        check("a program that reads slowly gets everything", seen == data)


def parallel():
    streams = [connect("echo.test", 7) for _ in range(200)]
    for n, stream in enumerate(streams):
        stream.sendall(b"%4d" % n)
    good = all(stream.recv(4) == b"%4d" % n for n, stream in enumerate(streams))
    for stream in streams:
        stream.close()
    check("200 connections at once", good)

    def one(n):
        with connect("echo.test", 7) as stream:
            stream.sendall(b"hi")
            return stream.recv(2) == b"hi"
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        check("400 connections by 50 threads", all(pool.map(one, range(400))))


def resets():
    def use():
        with connect("reset.test", 11) as stream:
            stream.sendall(b"x")
            stream.recv(1)
    fails_with("a reset is a reset", errno.ECONNRESET, use)


def refusals():
    fails_with("nothing listens at the resolver but the resolver", errno.ECONNREFUSED, lambda: connect("198.18.0.1", 80))
    fails_with("an address that stands for no name", errno.EHOSTUNREACH, lambda: connect("198.19.200.1", 80))
    fails_with("a number that is not on the list", errno.ECONNREFUSED, lambda: connect("192.0.2.8", 80))
    fails_with("IPv6", errno.ENETUNREACH, lambda: connect("2001:db8::1", 80))
    with connect("192.0.2.7", 7) as stream:
        stream.sendall(b"by number")
        check("a number that is on the list", stream.recv(100) == b"by number")


def datagrams():
    for target in [("192.0.2.7", 443), (socket.gethostbyname("web.test"), 443)]:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as quic:
            # Far longer than a refusal takes, and an answer that does not come is another error.
            quic.settimeout(60)
            quic.connect(target)
            quic.send(b"\xc0" + bytes(1199))
            fails_with("QUIC fails", errno.ECONNREFUSED, lambda: quic.recv(100))


def ask(name, kind, over_tcp=False):
    query = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0)
    query += b"".join(bytes([len(label)]) + label for label in name.encode().split(b".")) + struct.pack(">BHH", 0, kind, 1)
    if over_tcp:
        with connect("198.18.0.1", 53) as stream:
            stream.sendall(struct.pack(">H", len(query)) + query)
            reply = stream.recv(2 + 512)[2:]
    else:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
            stream.settimeout(60)
            stream.sendto(query, ("198.18.0.1", 53))
            reply = stream.recv(512)
    return reply[3] & 15, reply[7], reply[-4:]


def names():
    code, n_answers, address = ask("web.test", 1)
    check("a name has an address", (code, n_answers, address[0]) == (0, 1, 198), (code, n_answers, address))
    check("the same over TCP", ask("web.test", 1, over_tcp=True) == (code, n_answers, address))
    check("and always", ask("Web.TEST", 1) == (code, n_answers, address))
    check("but none of IPv6", ask("web.test", 28)[:2] == (0, 0))
    check("nor other records", ask("web.test", 65)[:2] == (0, 0))
    check("browsers are told not to ask others for names", ask("use-application-dns.net", 1)[0] == 3)
    check("names of this computer are local", ask("app.localhost", 1)[2] == bytes([127, 0, 0, 1]))
    check("a missing name", ask("missing.test", 1)[0] == 3)
    check("the loopback needs no resolver", socket.gethostbyname("desk") == "127.0.0.1")


for part in [names, small_pieces, half_close, both_ways, upload, back_pressure, slow_reader, parallel, resets, refusals,
             datagrams]:
    begin = time.monotonic()
    part()
    print(f"{part.__name__} took {time.monotonic() - begin:.2f} s", flush=True)
print("all is well")
