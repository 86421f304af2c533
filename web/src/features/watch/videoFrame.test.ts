import { expect, it } from "vitest";

import { codecOf, parseVideoFrame } from "./videoFrame";

function message(): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(22));
  view.setUint8(0, 1);
  view.setUint8(1, 1);
  view.setUint8(2, 1);
  view.setUint8(3, 2);
  view.setUint16(4, 1280);
  view.setUint16(6, 720);
  view.setUint32(8, 7);
  view.setBigUint64(12, 1_790_000_000_123_456n);
  view.setUint8(20, 42);
  return view.buffer;
}

it("reads the head of a frame", () => {
  const frame = parseVideoFrame(message());
  expect(frame).toMatchObject({ isKey: true, layer: 2, width: 1280, height: 720, number: 7 });
  expect(frame?.capturedAtUs).toBe(1_790_000_000_123_456);
  expect(frame?.picture).toEqual(new Uint8Array([42, 0]));
});

it("leaves out what it does not know", () => {
  expect(parseVideoFrame(message().slice(0, 20))).toBeNull();
  for (const at of [0, 1]) {
    const other = message();
    new DataView(other).setUint8(at, 9);
    expect(parseVideoFrame(other)).toBeNull();
  }
});

it("finds the codec in a key frame", () => {
  const key = new Uint8Array([0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x1f, 0x8c, 0, 0, 1, 0x68]);
  expect(codecOf(key)).toBe("avc1.42c01f");
  expect(codecOf(new Uint8Array([0, 0, 0, 1, 0x41, 1, 2, 3, 4, 5]))).toBeNull();
});
