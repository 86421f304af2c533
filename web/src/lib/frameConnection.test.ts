import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { parseSoundFrame } from "../features/sound/soundFrame";
import { FrameConnection } from "./frameConnection";

/** A WebSocket whose other end is the test. */
class FakeSocket extends EventTarget {
  static made: FakeSocket[] = [];
  binaryType = "blob";
  isClosed = false;

  constructor() {
    super();
    FakeSocket.made.push(this);
  }

  close() {
    this.isClosed = true;
  }

  open() {
    this.dispatchEvent(new Event("open"));
  }

  receive(data: unknown) {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }

  async end() {
    this.dispatchEvent(new Event("close"));
    await vi.advanceTimersByTimeAsync(0);
  }
}

const onFrame = vi.fn();
const onState = vi.fn();
const askWhy = vi.fn<() => Promise<string | null>>();

function connection() {
  const url = "ws://localhost/sound";
  return new FrameConnection({ url, parse: parseSoundFrame, askWhy, onFrame, onState });
}

function states(): unknown[] {
  return onState.mock.calls.map(([state]) => state);
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", FakeSocket);
  FakeSocket.made = [];
  askWhy.mockResolvedValue(null);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.resetAllMocks();
});

function frame(): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(21));
  view.setUint16(0, 0x0102);
  view.setUint32(4, 48_000);
  return view.buffer;
}

it("takes frames and passes over everything else", () => {
  connection();
  const [socket] = FakeSocket.made;
  expect(socket?.binaryType).toBe("arraybuffer");
  socket?.open();
  socket?.receive(frame());
  socket?.receive("a text");
  socket?.receive(new ArrayBuffer(3));
  expect(onFrame).toHaveBeenCalledTimes(1);
  expect(states()).toEqual(["connecting", "connected"]);
});

it("reconnects after a connection was lost, without asking why", async () => {
  connection();
  FakeSocket.made[0]?.open();
  await FakeSocket.made[0]?.end();
  expect(states()).toEqual(["connecting", "connected", "lost"]);
  await vi.advanceTimersByTimeAsync(500);
  expect(FakeSocket.made).toHaveLength(2);
  expect(askWhy).not.toHaveBeenCalled();
});

it("says why nobody can listen, and tries no more", async () => {
  askWhy.mockResolvedValue("There is no sound card.");
  connection();
  await FakeSocket.made[0]?.end();
  expect(onState).toHaveBeenLastCalledWith("unavailable", "There is no sound card.");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(FakeSocket.made).toHaveLength(1);
});

it("tries again when the reason may pass", async () => {
  connection();
  await FakeSocket.made[0]?.end();
  expect(states()).toEqual(["connecting", "lost"]);
  await vi.advanceTimersByTimeAsync(500);
  expect(FakeSocket.made).toHaveLength(2);
});

it("is quiet once it is closed", async () => {
  const opened = connection();
  FakeSocket.made[0]?.open();
  opened.close();
  expect(FakeSocket.made[0]?.isClosed).toBe(true);
  FakeSocket.made[0]?.receive(frame());
  await FakeSocket.made[0]?.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(onFrame).not.toHaveBeenCalled();
  expect(states()).toEqual(["connecting", "connected"]);
  expect(FakeSocket.made).toHaveLength(1);
});
