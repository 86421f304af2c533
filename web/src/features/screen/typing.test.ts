import { expect, it } from "vitest";

import { keysBetween } from "./typing";

it("types what was added", () => {
  expect(keysBetween("__", "__hi\n")).toEqual([0x68, 0x69, 0xff0d]);
  expect(keysBetween("__", "__é€")).toEqual([0xe9, 0x10020ac]);
});

it("deletes what was removed or replaced", () => {
  expect(keysBetween("__ab", "__a")).toEqual([0xff08]);
  expect(keysBetween("__teh", "__the")).toEqual([0xff08, 0xff08, 0x68, 0x65]);
  expect(keysBetween("__😀", "__")).toEqual([0xff08]);
  expect(keysBetween("__", "__")).toEqual([]);
});
