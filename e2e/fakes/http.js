// A server on loopback, for fakes of remote services.
import { createServer } from "node:http";
import { once } from "node:events";

/** Serves JSON requests with `answer(request, body, response)` until it is closed. */
export async function listen(answer) {
  const server = createServer(async (request, response) => {
    try {
      let text = "";
      for await (const piece of request) text += piece;
      await answer(request, JSON.parse(text), response);
    } catch (error) {
      response.writeHead(500).end(String(error?.stack ?? error));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Refuses a request the way vendors do. */
export function refuse(response, status, error) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "error", error }));
}

/** Sends server-sent events, split at arbitrary places. */
export function stream(response, events) {
  send(response, events);
  response.end();
}

/** Sends some events and then breaks the connection. */
export function breakOff(response, events) {
  send(response, events);
  // Everything written goes out first.
  response.write("", () => setImmediate(() => response.destroy()));
}

function send(response, events) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    const name = event.type ? `event: ${event.type}\n` : "";
    const text = Buffer.from(`${name}data: ${JSON.stringify(event)}\n\n`);
    const middle = Math.floor(text.length / 2);
    response.write(text.subarray(0, middle));
    response.write(text.subarray(middle));
  }
}

/** Returns the width and height of a PNG, lossless WebP or JPEG in base64. */
export function sizeOf(base64) {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.readUInt32BE(0) === 0x89504e47) {
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  if (bytes.toString("latin1", 8, 16) === "WEBPVP8L") {
    // After the signature byte, 14 bits each of the width and the height, less one.
    const sides = bytes.readUInt32LE(21);
    return { width: (sides & 0x3fff) + 1, height: ((sides >> 14) & 0x3fff) + 1 };
  }
  for (let at = 2; at < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (bytes[at + 1] >= 0xc0 && bytes[at + 1] <= 0xc2) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
  }
  throw new Error("not a picture");
}
