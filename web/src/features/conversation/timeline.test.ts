import { describe, expect, it } from "vitest";

import type { SessionEvent } from "../../api/types";
import { addEvents, emptyTimeline, type Timeline } from "./timeline";
import { inOrder } from "./waitingItems";

type Said = Pick<SessionEvent, "type" | "data">;

/** Numbers events from 1, a second apart. */
function log(...events: Said[]): SessionEvent[] {
  return events.map(({ type, data }, index) => {
    const at = new Date(Date.UTC(2025, 0, 1, 12, 0, index)).toISOString();
    return { seq: index + 1, at, type, data } as SessionEvent;
  });
}

const status = (state: string, sandbox = "ready", reason?: string): Said =>
  ({ type: "status", data: { state, sandbox, ...(reason ? { reason } : {}) } }) as Said;
/** A turn begins on this message. */
const begins = (message: string, turn = "t", sandbox = "ready"): Said =>
  ({ type: "status", data: { state: "running", sandbox, turn, prompt: message } }) as Said;
const prompt = (content: string): Said =>
  ({ type: "message", data: { id: content, role: "user", content } }) as Said;
const queue = (message: string, change: object): Said =>
  ({ type: "queue", data: { message, by: "u", ...change } }) as Said;
const text = (turn: string, block: number, piece: string): Said =>
  ({ type: "text", data: { turn, block, text: piece } }) as Said;
const answer = (turn: string, content: string): Said =>
  ({ type: "message", data: { id: content, role: "assistant", content, turn } }) as Said;
const use = (turn: string, call: string): Said =>
  ({
    type: "tool_use",
    data: { turn, call, tool: "bash", input: { shell: "run", command: "ls" } },
  }) as Said;
const result = (call: string, output: string, more: object = {}): Said =>
  ({
    type: "tool_result",
    data: { call, text: output, is_error: false, duration_ms: 5, ...more },
  }) as Said;
const shot = (data: object): Said =>
  ({ type: "screenshot", data: { blob: "b", width: 4, height: 3, ...data } }) as Said;
const complete = (turn: string): Said =>
  ({ type: "complete", data: { turn, outcome: "done", n_steps: 2, duration_ms: 900 } }) as Said;

function after(...events: Said[]): Timeline {
  return addEvents(emptyTimeline, log(...events));
}

/** The timeline in one word per item, for comparing it whole. */
function outline(timeline: Timeline): string[] {
  const items = timeline.items.map((item) => {
    if (item.kind === "call") return `call ${item.state}`;
    return "text" in item ? `${item.kind} ${item.text}` : item.kind;
  });
  return [...items, ...timeline.waiting.map((item) => `waiting ${item.text}`)];
}

describe("addEvents", () => {
  it("joins the pieces of a block and keeps blocks apart", () => {
    const timeline = after(text("t", 0, "Hel"), text("t", 0, "lo"), text("t", 1, "Bye"));
    expect(outline(timeline)).toEqual(["text Hello", "text Bye"]);
  });

  it("does not repeat an answer that was spoken in pieces", () => {
    const timeline = after(
      text("t", 0, "It is "),
      text("t", 0, "done.\n"),
      answer("t", "It is done."),
    );
    expect(outline(timeline)).toEqual(["text It is done.\n"]);
  });

  it("shows an answer that was never spoken in pieces", () => {
    const timeline = after(text("t", 0, "Let me see."), answer("t", "It is done."));
    expect(outline(timeline)).toEqual(["text Let me see.", "answer It is done."]);
  });

  it("changes nothing when events come a second time", () => {
    const events = log(prompt("go"), begins("go"), text("t", 0, "Hello"));
    const once = addEvents(emptyTimeline, events);
    expect(addEvents(once, events)).toBe(once);
    expect(addEvents(addEvents(emptyTimeline, events.slice(0, 2)), events)).toEqual(once);
  });

  it("keeps a prompt waiting until its turn begins, and puts it where the turn begins", () => {
    const working = [
      status("idle"),
      prompt("first"),
      begins("first", "t1"),
      text("t1", 0, "One"),
      prompt("second"),
    ];
    expect(outline(after(...working))).toEqual([
      "status",
      "prompt first",
      "text One",
      "waiting second",
    ]);

    const next = [
      ...working,
      use("t1", "a"),
      result("a", "x"),
      complete("t1"),
      status("idle"),
      begins("second", "t2"),
      text("t2", 0, "Two"),
    ];
    expect(outline(after(...next))).toEqual([
      "status",
      "prompt first",
      "text One",
      "call ok",
      "complete",
      "prompt second",
      "text Two",
    ]);
  });

  it("shows a message that steers where the agent was shown it, and keeps the turn's clock", () => {
    const timeline = after(
      status("idle"),
      prompt("first"),
      begins("first", "t"),
      text("t", 0, "One"),
      prompt("left"),
      use("t", "a"),
      result("a", "x"),
      begins("left", "t"),
      text("t", 1, "Two"),
    );
    expect(outline(timeline)).toEqual([
      "status",
      "prompt first",
      "text One",
      "call ok",
      "prompt left",
      "text Two",
    ]);
    expect(timeline.items[4]).toMatchObject({ isSteering: true });
    expect(timeline.turnStartedAt).toBe(log(prompt(""), prompt(""), prompt(""))[2]?.at);
  });

  it("follows what people do with messages that wait", () => {
    const timeline = after(
      prompt("a"),
      prompt("b"),
      prompt("c"),
      prompt("d"),
      queue("c", { change: "moved", before: "a" }),
      queue("a", { change: "moved" }),
      queue("b", { change: "edited", content: "B" }),
      queue("d", { change: "redelivered", delivery: "interrupt" }),
      queue("c", { change: "removed" }),
      queue("c", { change: "edited", content: "gone" }),
    );
    expect(outline(timeline)).toEqual(["waiting B", "waiting d", "waiting a"]);
    expect(inOrder(timeline.waiting).map((item) => item.text)).toEqual(["d", "B", "a"]);
  });

  it("takes the prompt that a turn names, and leaves the others waiting", () => {
    const timeline = after(
      status("idle"),
      prompt("first"),
      prompt("second"),
      prompt("third"),
      begins("first", "t1"),
      complete("t1"),
      status("idle"),
      begins("second", "t2"),
      text("t2", 0, "Two"),
    );
    expect(outline(timeline)).toEqual([
      "status",
      "prompt first",
      "complete",
      "prompt second",
      "text Two",
      "waiting third",
    ]);
  });

  it("adds partial results up and lets the last one replace them", () => {
    const running = [
      use("t", "a"),
      result("a", "1\n", { partial: true }),
      result("a", "2\n", { partial: true }),
    ];
    expect(after(...running).items[0]).toMatchObject({ state: "running", output: "1\n2\n" });
    const done = [...running, result("a", "1\n2\n3\n", { duration_ms: 42 })];
    expect(after(...done).items[0]).toMatchObject({
      state: "ok",
      output: "1\n2\n3\n",
      durationMs: 42,
    });
  });

  it("marks a call that its turn left without a result", () => {
    const failed: Said = {
      type: "error",
      data: { turn: "t", code: "server_restarted", message: "The server was restarted." },
    } as Said;
    expect(outline(after(use("t", "a"), failed))).toEqual(["call cut", "error"]);
  });

  it("hangs a screenshot on its call, and collects all of them", () => {
    const timeline = after(use("t", "a"), shot({ call: "a" }), shot({}));
    expect(outline(timeline)).toEqual(["call running", "shot"]);
    expect(timeline.items[0]).toMatchObject({ shots: [{ id: 2 }] });
    expect(timeline.shots.map(({ id }) => id)).toEqual([2, 3]);
  });

  it("tells once how long the desktop took to start", () => {
    const timeline = after(
      status("initializing", "starting"),
      prompt("go"),
      begins("go", "t", "starting"),
      status("running", "ready"),
    );
    expect(timeline.items).toMatchObject([
      { kind: "status", sandbox: "ready", tookMs: 3000 },
      { kind: "prompt", text: "go" },
    ]);
  });

  it("knows since when the agent works, and forgets it at the end", () => {
    const begun = after(prompt("go"), begins("go"));
    expect(begun.turnStartedAt).toBe("2025-01-01T12:00:01.000Z");
    expect(after(prompt("go"), begins("go"), complete("t")).turnStartedAt).toBeNull();
  });

  it("holds calls back while a person is asked, and says how that was settled", () => {
    const planned: Said = {
      type: "tool_use",
      data: { turn: "t", call: "a", tool: "bash", input: { shell: "run", command: "rm -rf x" } },
    };
    const asked: Said = {
      type: "decision",
      data: { turn: "t", decision: "d", call: "a", kind: "approval", prompt: "?", form: { type: "yes_no" } },
    };
    const settled: Said = {
      type: "answer",
      data: { turn: "t", decision: "d", state: "answered", answer: { yes: true }, by: "u" },
    };
    const open = after(planned, asked);
    expect(open.items).toMatchObject([{ state: "waiting" }, { kind: "decision" }]);
    expect(open.items[1]).not.toHaveProperty("settled");
    expect(after(planned, asked, settled).items).toMatchObject([
      { state: "running" },
      { settled: { state: "answered", answer: { yes: true }, by: "u" } },
    ]);
  });

  it("goes on with calls while a person is asked about a host", () => {
    const call: Said = {
      type: "tool_use",
      data: { turn: "t", call: "a", tool: "bash", input: { shell: "run", command: "curl example.org" } },
    };
    const asked: Said = {
      type: "decision",
      data: { turn: "t", decision: "d", kind: "network", prompt: "?", form: { type: "yes_no" } },
    };
    expect(after(call, asked).items).toMatchObject([{ state: "running" }, { kind: "decision" }]);
  });

  it("says when the agent comes close to what it may use", () => {
    const message = "This turn has used 40 of its 50 steps.";
    const notice: Said = {
      type: "notice",
      data: { turn: "t", bound: "steps", used: 40, limit: 50, message },
    };
    expect(after(notice).items).toMatchObject([{ kind: "notice", message }]);
  });

  it("passes over events of a type it does not know", () => {
    const strange = { type: "weather", data: { sky: "blue" } } as unknown as Said;
    expect(outline(after(strange, text("t", 0, "Hi")))).toEqual(["text Hi"]);
  });
});
