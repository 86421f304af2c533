import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { EventStream } from "./stream";

/** Stands in for the browser's WebSocket: the test is the server. */
class FakeSocket extends EventTarget {
  static opened: FakeSocket[] = [];
  readonly url: string;

  constructor(url: string) {
    super();
    this.url = url;
    FakeSocket.opened.push(this);
  }
  accept(): void {
    this.dispatchEvent(new Event("open"));
  }
  send(...seqs: number[]): void {
    for (const seq of seqs) this.#say({ seq, type: "text", data: {} });
  }
  end(seq: number): void {
    this.#say({ seq, type: "status", data: { state: "terminated", sandbox: "none" } });
  }
  join(name: string): void {
    this.#say({ type: "collaborator_join", data: { id: name, name } });
  }
  close(): void {
    this.dispatchEvent(new Event("close"));
  }
  #say(event: object): void {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(event) }));
  }
}

function newest(): FakeSocket {
  const socket = FakeSocket.opened.at(-1);
  if (!socket) throw new Error("no socket was opened");
  return socket;
}

function follow() {
  const seen: number[] = [];
  const connections: string[] = [];
  const onPresence = vi.fn();
  const stream = new EventStream((after) => `after=${after}`, {
    onEvents: (events) => seen.push(...events.map(({ seq }) => seq)),
    onConnection: (connection) => connections.push(connection),
    onPresence,
  });
  return { stream, seen, connections, onPresence };
}

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.opened = [];
  vi.stubGlobal("WebSocket", FakeSocket);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("comes back after a loss with the last number it saw, and repeats nothing", () => {
  const { seen, connections } = follow();
  newest().accept();
  newest().send(1, 2);
  newest().close();
  vi.advanceTimersByTime(600);
  expect(FakeSocket.opened.map(({ url }) => url)).toEqual(["after=0", "after=2"]);

  newest().accept();
  newest().send(2, 3);
  vi.advanceTimersByTime(20);
  expect(seen).toEqual([1, 2, 3]);
  expect(connections).toEqual(["connecting", "live", "reconnecting", "live"]);
});

it("tells of people between the events, which are no gap", () => {
  const { seen, onPresence } = follow();
  newest().accept();
  newest().join("Ada");
  newest().send(1);
  newest().join("Bob");
  newest().send(2);
  vi.advanceTimersByTime(20);
  expect(onPresence).toHaveBeenCalledTimes(2);
  expect(seen).toEqual([1, 2]);
  expect(FakeSocket.opened).toHaveLength(1);
});

it("asks again when a number is missing", () => {
  const { seen } = follow();
  newest().accept();
  newest().send(1, 3);
  vi.advanceTimersByTime(600);
  expect(newest().url).toBe("after=1");
  expect(seen).toEqual([1]);
});

it("waits longer with every failed try, and not at all when told to", () => {
  const { stream } = follow();
  for (let n = 0; n < 6; n += 1) {
    newest().close();
    vi.advanceTimersByTime(20_000);
  }
  expect(FakeSocket.opened).toHaveLength(7);
  newest().close();
  vi.advanceTimersByTime(5_000);
  expect(FakeSocket.opened).toHaveLength(7);
  stream.retryNow();
  expect(FakeSocket.opened).toHaveLength(8);
});

it("does not come back when the session has ended", () => {
  const { connections } = follow();
  newest().accept();
  newest().end(1);
  newest().close();
  vi.advanceTimersByTime(60_000);
  expect(FakeSocket.opened).toHaveLength(1);
  expect(connections.at(-1)).toBe("ended");
});

it("hands nothing on once it is closed", () => {
  const { stream, seen } = follow();
  newest().accept();
  newest().send(1);
  stream.close();
  vi.advanceTimersByTime(60_000);
  expect(seen).toEqual([]);
  expect(FakeSocket.opened).toHaveLength(1);
});
