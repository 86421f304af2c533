import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { connectTerminal, type TerminalConnection } from "./connectTerminal";

/** A WebSocket whose server is the test. */
class FakeSocket extends EventTarget {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  readyState = FakeSocket.OPEN;
  sent: (string | Uint8Array)[] = [];

  constructor() {
    super();
    FakeSocket.all.push(this);
  }
  say(data: string): void {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
  end(code: number): void {
    this.dispatchEvent(Object.assign(new Event("close"), { code }));
  }
  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }
  close(): void {
    this.readyState = 3;
  }
}

const STATE = JSON.stringify({
  type: "state",
  terminal: { number: 1, id: "a", name: "Terminal 1", size: { cols: 80, rows: 24 }, paused: false },
});

function connect() {
  const seen: TerminalConnection[] = [];
  const socket = connectTerminal("ws://test", {
    onConnection: (now) => seen.push(now),
    onOutput: () => undefined,
    onMessage: () => undefined,
  });
  return { seen, socket };
}

beforeEach(() => {
  FakeSocket.all = [];
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a lost connection is made again, and one to a terminal that is gone is not", () => {
  const { seen } = connect();
  FakeSocket.all[0]?.say(STATE);
  FakeSocket.all[0]?.end(1006);
  expect(seen).toEqual(["connecting", "connected", "lost"]);
  vi.advanceTimersByTime(1_000);
  expect(FakeSocket.all).toHaveLength(2);
  FakeSocket.all[1]?.say(STATE);
  FakeSocket.all[1]?.end(1000);
  vi.advanceTimersByTime(60_000);
  expect(seen.at(-1)).toBe("gone");
  expect(FakeSocket.all).toHaveLength(2);
});

test("a server that is away for long is tried again at once when the user asks", () => {
  const { seen, socket } = connect();
  for (let attempt = 0; attempt < 20; attempt += 1) {
    FakeSocket.all.at(-1)?.end(1006);
    vi.advanceTimersByTime(10_000);
  }
  expect(FakeSocket.all).toHaveLength(21);
  FakeSocket.all.at(-1)?.end(1006);
  socket.retryNow();
  expect(FakeSocket.all).toHaveLength(22);
  expect(seen.at(-1)).toBe("connecting");
});

test("a long paste is sent in pieces", () => {
  const { socket } = connect();
  socket.type(new Uint8Array(100_000));
  const sizes = FakeSocket.all[0]?.sent.map((piece) => piece.length) ?? [];
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100_000);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(32 * 1024);
  socket.close();
  FakeSocket.all[0]?.end(1005);
  vi.advanceTimersByTime(60_000);
  expect(FakeSocket.all).toHaveLength(1);
});
