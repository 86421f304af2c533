import { expect, it } from "vitest";

import { parseSoundFrame } from "./soundFrame";

function message(change: (bytes: Uint8Array) => void = () => {}): ArrayBuffer {
  const bytes = new Uint8Array(23);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, 1);
  view.setUint8(1, 2);
  view.setUint16(2, 960);
  view.setUint32(4, 48_000);
  view.setUint32(8, 4_000_000_000);
  view.setBigUint64(12, 1_790_000_000_123_456n);
  bytes.set([0xfc, 1, 2], 20);
  change(bytes);
  return bytes.buffer;
}

it("parses a frame", () => {
  expect(parseSoundFrame(message())).toEqual({
    number: 4_000_000_000,
    capturedAtUs: 1_790_000_000_123_456,
    packet: new Uint8Array([0xfc, 1, 2]),
  });
});

it("passes over what it does not know", () => {
  for (const [at, value] of [[0, 2], [1, 1], [7, 0]] as const) {
    expect(parseSoundFrame(message((bytes) => bytes.set([value], at)))).toBeNull();
  }
  expect(parseSoundFrame(message().slice(0, 20))).toBeNull();
  expect(parseSoundFrame(new ArrayBuffer(0))).toBeNull();
});
