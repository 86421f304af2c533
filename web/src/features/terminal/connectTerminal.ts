import type { TerminalMessage, TerminalRequest } from "../../api/types";
import { type Backoff, backoffMs } from "../../lib/backoff";

/** The state of the connection. `lost` waits for the next attempt, and `gone` makes no more. */
export type TerminalConnection = "connecting" | "connected" | "lost" | "gone";

interface TerminalHandlers {
  onConnection: (connection: TerminalConnection) => void;
  onOutput: (bytes: Uint8Array) => void;
  onMessage: (message: TerminalMessage) => void;
}

export interface TerminalSocket {
  type: (bytes: Uint8Array) => void;
  request: (request: TerminalRequest) => void;
  retryNow: () => void;
  close: () => void;
}

const BACKOFF: Backoff = { firstMs: 300, longestMs: 5_000 };
/** The longest message, so that a long paste stays below the server's limit. */
const LONGEST_BYTES = 32 * 1024;
/** The code with which the server closes the connection to a terminal that is no longer there. */
const NO_LONGER_THERE = 1000;

/** Connects to a terminal, and again when the connection is lost, until it is closed or the terminal is gone. */
export function connectTerminal(url: string, handlers: TerminalHandlers): TerminalSocket {
  let socket: WebSocket | null = null;
  let isOver = false;
  let failed = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const connect = () => {
    clearTimeout(timer);
    handlers.onConnection("connecting");
    const opened = new WebSocket(url);
    opened.binaryType = "arraybuffer";
    socket = opened;
    opened.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data !== "string") {
        handlers.onOutput(new Uint8Array(data));
        return;
      }
      failed = 0;
      const message = JSON.parse(data) as TerminalMessage;
      if (message.type === "state") handlers.onConnection("connected");
      handlers.onMessage(message);
    });
    opened.addEventListener("close", ({ code }) => {
      socket = null;
      if (isOver) return;
      if (code === NO_LONGER_THERE) {
        handlers.onConnection("gone");
        return;
      }
      handlers.onConnection("lost");
      timer = setTimeout(connect, backoffMs(failed, BACKOFF));
      failed += 1;
    });
  };
  connect();

  const send = (data: string | Uint8Array<ArrayBuffer>) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(data);
  };
  return {
    type: (bytes) => {
      for (let at = 0; at < bytes.length; at += LONGEST_BYTES) {
        send(bytes.slice(at, at + LONGEST_BYTES));
      }
    },
    request: (request) => send(JSON.stringify(request)),
    retryNow: () => {
      failed = 0;
      if (socket === null) connect();
    },
    close: () => {
      isOver = true;
      clearTimeout(timer);
      socket?.close();
    },
  };
}
