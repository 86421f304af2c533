import { expect, it } from "vitest";

import type { SessionEvent } from "../../api/types";
import { addEvents, emptyTimeline, type Timeline } from "./timeline";

type Said = Pick<SessionEvent, "type" | "data">;

const turn = "t";
const began: Said = { type: "status", data: { state: "running", sandbox: "ready", turn, prompt: "m" } };
const use: Said = { type: "tool_use", data: { turn, call: "a", tool: "bash", input: {} } };
const result: Said = {
  type: "tool_result",
  data: { call: "a", text: "x", is_error: false, duration_ms: 5 },
};
const complete: Said = {
  type: "complete",
  data: { turn, outcome: "done", n_steps: 2, duration_ms: 900 },
};
const thinking = (block: number, text: string): Said => ({
  type: "thinking",
  data: { turn, block, text },
});
const queue = (change: object): Said =>
  ({ type: "queue", data: { message: "m", by: "u", ...change } }) as Said;
const cost = (usd: number, input: number, more: object = {}): Said => {
  const usage = { input, cache_write: 0, cache_read: 0, output: 10 };
  return { type: "cost", data: { turn, step: 1, usd, usage, ...more } };
};
const change = (model: string, by: string): Said => ({
  type: "model",
  data: { model, by, by_name: by },
});
const retry = (more: object = {}): Said => {
  const next_at = "2025-01-01T12:01:00Z";
  return { type: "retry", data: { turn, attempt: 1, message: "busy", next_at, ...more } };
};

function after(...events: Said[]): Timeline {
  const at = "2025-01-01T12:00:00Z";
  const log = events.map(({ type, data }, index) => ({ seq: index + 1, at, type, data }) as SessionEvent);
  return addEvents(emptyTimeline, log);
}

it("waits on the provider until the model speaks, and folds what it had begun to think", () => {
  const begun = [began, use, result, thinking(0, "Hm"), retry()];
  const waiting = after(...begun);
  expect(waiting.retry).toMatchObject({ attempt: 1, message: "busy" });
  expect(waiting.items.at(-1)).toMatchObject({ kind: "thinking", isCut: true });
  const speaking = after(...begun, thinking(1, "Again"));
  expect(speaking.retry).toBeNull();
  expect(speaking.items.at(-1)).not.toHaveProperty("isCut");
  for (const end of [complete, cost(0, 1), use]) {
    expect(after(...begun, end).retry).toBeNull();
  }
});

it("counts an answer that broke off, and waits on", () => {
  const timeline = after(began, retry(), cost(0.25, 90, { broken_off: true }));
  expect(timeline.retry).toMatchObject({ attempt: 1 });
  expect(timeline.spent).toMatchObject({ usd: 0.25, tokens: 100 });
});

it("says when another model goes on", () => {
  const timeline = after(retry(), retry({ attempt: 3, model: "openai/gpt-6-sol" }));
  expect(timeline.items).toMatchObject([
    { kind: "fallback", model: "openai/gpt-6-sol", message: "busy" },
  ]);
});

it("adds up what each turn used, and all of them", () => {
  const timeline = after(
    began,
    cost(0.25, 90),
    cost(0.5, 190),
    complete,
    began,
    cost(0, 40, { unpriced: true }),
    complete,
  );
  expect(timeline.items.filter(({ kind }) => kind === "complete")).toMatchObject([
    { kind: "complete", spent: { usd: 0.75, tokens: 300, isUnpriced: false } },
    { kind: "complete", spent: { usd: 0, tokens: 50, isUnpriced: true } },
  ]);
  expect(timeline.spent).toEqual({ usd: 0.75, tokens: 350, isUnpriced: true });
});

it("knows what programs used of it", () => {
  const usage = { input: 90, cache_write: 0, cache_read: 0, output: 10 };
  const gateway: Said = { type: "gateway", data: { turn, model: "a/b", usd: 0.5, usage } };
  const timeline = after(began, cost(0.25, 90), gateway, complete);
  expect(timeline.programsSpent).toEqual({ usd: 0.5, tokens: 100, isUnpriced: false });
  expect(timeline.spent).toEqual({ usd: 0.75, tokens: 200, isUnpriced: false });
});

it("says who gave the session another model, and a second thought only once", () => {
  const timeline = after(change("a/b", "ada"), change("c/d", "ada"), change("e/f", "bob"));
  expect(timeline.items).toMatchObject([
    { kind: "model", model: "c/d", byName: "ada" },
    { kind: "model", model: "e/f", byName: "bob" },
  ]);
});

it("knows which model a message is for", () => {
  const own: Said = {
    type: "message",
    data: { id: "m", role: "user", content: "go", model: "a/b" },
  } as Said;
  expect(after(own).waiting).toMatchObject([{ model: "a/b" }]);
  const other = queue({ change: "reassigned", model: "c/d" });
  expect(after(own, other).waiting).toMatchObject([{ model: "c/d" }]);
  const sessions = queue({ change: "reassigned" });
  expect(after(own, sessions).waiting[0]).not.toHaveProperty("model");
});
