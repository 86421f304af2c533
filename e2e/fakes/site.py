"""A web server in a sandbox: pages of the folder, events, a WebSocket that repeats, and a log of all requests."""

import base64
import hashlib
import http.server
import sys
import time

MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self):
        with open("requests.log", "a", encoding="utf-8") as log:
            log.write(f"{self.command} {self.path} host={self.headers['host']} cookie={self.headers['cookie']}\n")

    def do_GET(self):
        self.note()
        if self.path == "/events":
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for number in range(1, 1000):
                self.wfile.write(f"data: {number}\n\n".encode())
                self.wfile.flush()
                time.sleep(0.2)
        elif self.path == "/ws":
            self.repeat()
        elif self.path == "/set":
            self.send_response(200)
            self.send_header("set-cookie", "own=1; Path=/")
            self.send_header("set-cookie", "deskhand=evil; Path=/; Domain=localhost")
            self.send_header("content-length", "0")
            self.end_headers()
        else:
            super().do_GET()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"] or 0))
        self.note()
        answer = str(len(body)).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def repeat(self):
        key = self.headers["sec-websocket-key"] + MAGIC
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self.send_response(101)
        self.send_header("connection", "upgrade")
        self.send_header("upgrade", "websocket")
        self.send_header("sec-websocket-accept", accept)
        self.end_headers()
        # One short text is enough: its length, its mask and itself.
        _, length = self.rfile.read(2)
        mask = self.rfile.read(4)
        text = bytes(byte ^ mask[n % 4] for n, byte in enumerate(self.rfile.read(length & 127)))
        self.wfile.write(bytes([0x81, len(text)]) + text)
        self.wfile.flush()
        self.close_connection = True
        self.rfile.read(1)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
