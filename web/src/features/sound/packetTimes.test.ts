import { expect, it } from "vitest";

import { PacketTimes } from "./packetTimes";

const MS = 1000;

it("returns the times in the order of the packets, across silence", () => {
  const times = new PacketTimes();
  for (const at of [20, 40, 900]) times.push(at * MS, false);
  expect([times.next(), times.next(), times.next(), times.next()]).toEqual([20 * MS, 40 * MS, 900 * MS, null]);
});

it("forgets packets that the decoder has swallowed when it is idle after a silence", () => {
  const times = new PacketTimes();
  times.push(20 * MS, true);
  times.push(40 * MS, true);
  expect(times.next()).toBe(20 * MS);
  times.push(900 * MS, true);
  expect(times.next()).toBe(900 * MS);
});
