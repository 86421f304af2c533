// The hosts of the walk: a web server that is every site, a sink for datagrams, and the way to the database.
//
//   node hosts.mjs FOLDER DATABASE_PORT
//
// They listen on every address. A line is printed for each connection and whatever else the test wants to know.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import dgram from "node:dgram";
import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { join } from "node:path";

const [folder, databasePort] = process.argv.slice(2);
const file = (name) => readFileSync(join(folder, name));
const say = (...words) => process.stdout.write(`${words.join(" ")}\n`);
// Cleartext on 80 and on a range, so that every attempt can have a port of its own.
const CLEARTEXT_PORTS = [80, 853, ...Array.from({ length: 60 }, (_, n) => 8001 + n)];
const PIECE = Buffer.alloc(256 * 1024);

const html = (text) => ({ type: "text/html", text });

// The answers with a fixed content, by path.
const fixed = {
  "/simple/tiny/": () => html('<a href="/files/tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>'),
  "/small": () => ({ type: "application/json", text: JSON.stringify(packageSmall()) }),
  "/page": ({ searchParams }) => html(page(searchParams.get("key"))),
  "/style.css": () => ({ type: "text/css", text: "body { --word: styled; }" }),
  "/script.js": () => ({ type: "text/javascript", text: SCRIPT }),
};

function packageSmall() {
  const tarball = file("small-1.0.0.tgz");
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const dist = { tarball: "https://npm.example/files/small-1.0.0.tgz", integrity };
  const version = { name: "small", version: "1.0.0", dist };
  return { name: "small", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } };
}

// A page is loaded when its picture is. The picture waits until the script has told what the page saw.
const page = (key) => `<!doctype html>
  <title>A page</title>
  <link rel="stylesheet" href="https://static.example/style.css">
  <body><p id="text">Nothing yet</p>
  <script src="https://static.example/script.js"></script>
  <img src="/picture.svg?key=${key}">`;

const SCRIPT = `
  const socket = new WebSocket("wss://socket.example/echo");
  socket.onopen = () => socket.send("echoed");
  socket.onmessage = ({ data }) => {
    const style = getComputedStyle(document.body).getPropertyValue("--word").trim();
    const text = ["scripted", style, data].join(" ");
    document.getElementById("text").textContent = text;
    fetch("/seen" + location.search + "&text=" + text);
  };`;

const waiting = new Map();

function seen(key, text) {
  say("seen", key, text);
  waiting.get(key)?.();
  waiting.set(key, null);
}

function picture(key, response) {
  const send = () => {
    response.writeHead(200, { "content-type": "image/svg+xml" });
    response.end('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
  };
  if (waiting.get(key) === null) send();
  else waiting.set(key, send);
}

function answer(request, response) {
  const host = request.headers.host ?? request.headers[":authority"];
  const url = new URL(request.url, `http://${host}`);
  const { pathname, searchParams } = url;
  const [, first, second] = pathname.split("/");
  if (fixed[pathname]) {
    const { type, text } = fixed[pathname](url);
    response.writeHead(200, { "content-type": type });
    response.end(text);
  } else if (first === "hello") {
    response.end(`hello by HTTP/${request.httpVersion} from ${host}\n`);
  } else if (first === "zeros") {
    send(Number(second), response);
  } else if (first === "endless") {
    endless(response);
  } else if (first === "to") {
    response.writeHead(302, { location: decodeURIComponent(url.search.slice(1)) });
    response.end();
  } else if (first === "files" || first === "account-key") {
    response.end(file(second ?? first));
  } else if (first === "seen") {
    seen(searchParams.get("key"), searchParams.get("text"));
    response.end();
  } else if (first === "picture.svg") {
    picture(searchParams.get("key"), response);
  } else if (first === "repository.git") {
    git(request, response, url);
  } else {
    response.writeHead(404);
    response.end();
  }
}

function send(n_bytes, response) {
  response.writeHead(200, { "content-length": n_bytes });
  let rest = n_bytes;
  const more = () => {
    while (rest > 0) {
      const piece = PIECE.subarray(0, Math.min(rest, PIECE.length));
      rest -= piece.length;
      if (!response.write(piece)) return;
    }
    response.end();
    response.off("drain", more);
  };
  response.on("drain", more);
  more();
}

// Sends a little again and again until the other end is gone.
function endless(response) {
  const timer = setInterval(() => response.write("more\n"), 50);
  say("begun");
  response.on("close", () => {
    clearInterval(timer);
    say("gone");
  });
}

// Lets git answer, as a web server does.
function git(request, response, url) {
  const child = spawn("git", ["http-backend"], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      HTTP_GIT_PROTOCOL: request.headers["git-protocol"] ?? "",
      REMOTE_USER: "agent",
    },
  });
  request.pipe(child.stdin);
  const pieces = [];
  child.stdout.on("data", (piece) => pieces.push(piece));
  child.stdout.on("end", () => {
    const output = Buffer.concat(pieces);
    const end = output.indexOf("\r\n\r\n");
    const headers = output.subarray(0, end).toString().split("\r\n").map((line) => line.split(": "));
    const status = headers.find(([name]) => name === "Status")?.[1];
    for (const [name, value] of headers) if (name !== "Status") response.setHeader(name, value);
    response.statusCode = Number.parseInt(status ?? "200", 10);
    response.end(output.subarray(end + 4));
  });
}

// Accepts a WebSocket, and sends every short text back.
function upgrade(request, socket) {
  const accepted = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const key = createHash("sha1").update(accepted).digest("base64");
  const head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
  socket.write(`${head}Sec-WebSocket-Accept: ${key}\r\n\r\n`);
  socket.on("error", () => {});
  socket.on("data", (frame) => {
    if ((frame[0] & 15) !== 1) return socket.end();
    const [length, mask] = [frame[1] & 127, frame.subarray(2, 6)];
    const text = frame.subarray(6, 6 + length).map((byte, n) => byte ^ mask[n % 4]);
    socket.write(Buffer.concat([Buffer.from([0x81, length]), text]));
  });
}

const plain = (address) => address.replace(/^::ffff:(?=\d+\.)/, "");
const note = (socket) => say("reached", plain(socket.localAddress), socket.localPort);

async function listen(server, port) {
  server.on("connection", note);
  server.on("error", (error) => say("failed", error.message));
  await new Promise((resolve) => server.listen(port, "::", resolve));
}

const secure = http2.createSecureServer(
  { key: file("key.pem"), cert: file("certificate.pem"), allowHTTP1: true },
  answer,
);
secure.on("upgrade", upgrade);
await listen(secure, 443);
for (const port of CLEARTEXT_PORTS) await listen(http.createServer(answer), port);
const database = net.createServer((socket) => {
  const behind = net.connect(Number(databasePort), "127.0.0.1");
  socket.pipe(behind).pipe(socket);
  for (const end of [socket, behind]) end.on("error", () => {});
});
await listen(database, 5432);
const datagrams = dgram.createSocket("udp6");
datagrams.on("message", () => say("datagram"));
await new Promise((resolve) => datagrams.bind(8060, resolve));
say("ready");
