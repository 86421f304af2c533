import { expect, it } from "vitest";

import { LONGEST_WAIT_MS, PictureQueue } from "./pictureQueue";
import type { VideoFrame } from "./videoFrame";

function frame(number: number, isKey = number === 0): VideoFrame {
  return {
    number,
    capturedAtUs: 1_000_000_000 + number * 33_000,
    isKey,
    layer: [0, 2, 1, 2][number % 4] ?? 0,
    width: 1280,
    height: 720,
    picture: new Uint8Array(1),
  };
}

const numbers = (frames: VideoFrame[]) => frames.map(({ number }) => number);

it("shows pictures at once while there is no sound", () => {
  const queue = new PictureQueue();
  queue.push(frame(0), 10, 0);
  queue.push(frame(1), 11, 0);
  expect(numbers(queue.due(11, null))).toEqual([0, 1]);
  expect(queue.next(null)).toBeNull();
});

it("holds pictures back until their sound is heard, but not for long", () => {
  const queue = new PictureQueue();
  // Captured at 1,000,000 ms of the desktop's clock, and heard at 150 of ours.
  const offsetMs = 150 - 1_000_000;
  queue.push(frame(0), 20, 0);
  queue.push(frame(1), 55, 0);
  expect(numbers(queue.due(149, offsetMs))).toEqual([]);
  expect(queue.next(offsetMs)).toBe(150);
  expect(numbers(queue.due(151, offsetMs))).toEqual([0]);
  expect(numbers(queue.due(183, offsetMs))).toEqual([1]);

  queue.push(frame(2), 1000, 0);
  expect(queue.next(offsetMs + 60_000)).toBe(1000 + LONGEST_WAIT_MS);
  expect(queue.next(offsetMs - 60_000)).toBe(1000);
});

it("begins with a key frame, also after it was cleared", () => {
  const queue = new PictureQueue();
  queue.push(frame(1), 0, 0);
  queue.push(frame(2, true), 0, 0);
  queue.push(frame(3), 0, 0);
  queue.clear();
  queue.push(frame(4, false), 0, 0);
  expect(queue.next(null)).toBeNull();
  queue.push(frame(5, true), 0, 0);
  expect(numbers(queue.due(0, null))).toEqual([5]);
});

it("leaves out the higher layers while the decoder is behind", () => {
  const queue = new PictureQueue();
  queue.push(frame(0), 0, 0);
  for (let number = 1; number < 9; number += 1) queue.push(frame(number), 0, 12);
  expect(numbers(queue.due(0, null))).toEqual([0, 4, 8]);
  for (let number = 9; number < 17; number += 1) queue.push(frame(number), 0, 1);
  expect(numbers(queue.due(0, null))).toEqual([12, 14, 16]);
  for (let number = 17; number < 20; number += 1) queue.push(frame(number), 0, 1);
  expect(numbers(queue.due(0, null))).toEqual([17, 18, 19]);
});
