import { expect, it } from "vitest";

import type { CallItem, Item } from "./items";
import { partsOf, summaryOf } from "./steps";

const at = "2025-01-01T12:00:00Z";

const call = (id: number, more: Partial<CallItem> = {}): CallItem => ({
  id,
  at,
  kind: "call",
  call: `c${id}`,
  tool: "computer",
  input: {},
  byHand: false,
  state: "ok",
  output: "",
  durationMs: 100,
  shots: [],
  ...more,
});

const answer = (id: number): Item => ({ id, at, kind: "answer", text: "done" });
const thought = (id: number): Item => ({ id, at, kind: "thinking", turn: "t", block: 0, text: "hm", lastAt: at });

it("puts calls together, with the thoughts between them, until something is said", () => {
  const items = [answer(1), call(2), thought(3), call(4), answer(5), call(6)];
  const ids = partsOf(items).map((part) =>
    part.kind === "work" ? part.work.items.map(({ id }) => id) : part.item.id,
  );
  expect(ids).toEqual([1, [2, 3, 4], 5, [6]]);
});

it("sums up what was done", () => {
  const shot = { id: 9, at, blob: "b.png", width: 1, height: 1 };
  const [part] = partsOf([call(1, { state: "failed" }), call(2, { shots: [shot] }), call(3)]);
  if (part?.kind !== "work") throw new Error("there is no work");
  expect(summaryOf(part.work)).toEqual({ nCalls: 3, nFailed: 1, durationMs: 300, shot });
});
