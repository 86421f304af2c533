import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { afterEach, expect, it, vi } from "vitest";

import { modelKeys } from "../../api/models";
import type { Models, Right, SessionEvent, SessionState } from "../../api/types";
import { Conversation } from "./Conversation";
import { addEvents, emptyTimeline } from "./timeline";

afterEach(cleanup);

const at = "2025-01-01T12:00:00Z";

const TURN: SessionEvent[] = [
  { seq: 1, at, type: "message", data: { id: "m", role: "user", content: "Show me the demo" } },
  { seq: 2, at, type: "status", data: { state: "running", sandbox: "ready", turn: "t", prompt: "m" } },
  { seq: 3, at, type: "text", data: { turn: "t", block: 0, text: "I **open** the shop." } },
  {
    seq: 4,
    at,
    type: "tool_use",
    data: {
      turn: "t",
      call: "a",
      tool: "computer",
      input: { action: "click", at: { x: 3, y: 4 } },
      description: "Clicked at (3, 4)",
    },
  },
  {
    seq: 5,
    at,
    type: "tool_result",
    data: { turn: "t", call: "a", text: "clicked", is_error: false, duration_ms: 84 },
  },
  {
    seq: 6,
    at,
    type: "screenshot",
    data: { call: "a", blob: "one.png", width: 1024, height: 768 },
  },
  { seq: 7, at, type: "screenshot", data: { blob: "two.png", width: 1024, height: 768 } },
  {
    seq: 8,
    at,
    type: "complete",
    data: { turn: "t", outcome: "done", n_steps: 5, duration_ms: 6210 },
  },
];

interface Shown {
  state?: SessionState;
  connection?: "live" | "reconnecting";
  names?: Record<string, string>;
  right?: Right;
}

const MODELS: Models = {
  default: "a/b",
  models: [
    { name: "a/b", usable: true, problem: null, price: null },
    { name: "c/d", usable: true, problem: null, price: null },
  ],
};

function withQueries({ children }: { children: ReactNode }) {
  const client = new QueryClient();
  client.setQueryData(modelKeys.list, MODELS);
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}

function show(events: SessionEvent[], shown: Shown = {}) {
  const { state = "idle", connection = "live", names = {}, right = "owner" } = shown;
  const timeline = addEvents(emptyTimeline, events);
  render(
    <Conversation
      sessionId="s"
      timeline={timeline}
      state={state}
      model="a/b"
      connection={connection}
      isLoading={false}
      waitingNote={undefined}
      names={new Map(Object.entries(names))}
      right={right}
      me="a"
    />,
    { wrapper: withQueries },
  );
  return within(screen.getByRole("log", { name: "Conversation" }));
}

function said(seq: number, author: string, more: object = {}): SessionEvent {
  const data = { id: `m${seq}`, role: "user" as const, content: `message ${seq}`, author, ...more };
  return { seq, at, type: "message", data };
}

it("names authors when more than one person takes part", () => {
  const log = show([said(1, "a"), said(2, "b"), said(3, "c")], { names: { a: "Ada", b: "Bob" } });
  expect(log.getByText("Ada")).toBeTruthy();
  expect(log.getByText("Bob")).toBeTruthy();
  expect(log.getByText("Somebody who left")).toBeTruthy();
});

it("names nobody who is alone", () => {
  const log = show([said(1, "a"), said(2, "a")], { names: { a: "Ada" } });
  expect(log.queryByText("Ada")).toBeNull();
});

it.each([
  ["view", 0],
  ["suggest", 1],
  ["drive", 2],
] as const)("with the right to %s, %i of two people's messages can be changed", (right, n) => {
  const log = show([said(1, "a"), said(2, "b")], { right });
  expect(log.queryAllByRole("button", { name: "Change this message" })).toHaveLength(n);
});

it("lets a message that waits have another model, or the session's again", async () => {
  const fetched = vi.fn<typeof fetch>(async () => new Response(null, { status: 204 }));
  vi.stubGlobal("fetch", fetched);
  const log = show([said(1, "a"), said(2, "a", { model: "c/d" })]);
  expect(log.getByRole("button", { name: "Model: a/b" })).toBeTruthy();
  await userEvent.click(log.getByRole("button", { name: "Model: c/d" }));
  await userEvent.click(screen.getByRole("menuitemradio", { name: /^The session’s model/ }));
  const [path, init] = fetched.mock.calls.find(([, sent]) => sent?.method === "PATCH") ?? [];
  expect(path).toBe("/api/sessions/s/queue/m2");
  expect(JSON.parse(String(init?.body))).toEqual({ model: null });
  vi.unstubAllGlobals();
});

it("shows a turn from prompt to end", () => {
  const log = show(TURN);
  expect(log.getByText("Show me the demo")).toBeTruthy();
  expect(log.getByText("open").tagName).toBe("STRONG");
  expect(log.getByRole("button", { name: /Clicked at \(3, 4\).*84 ms/ })).toBeTruthy();
  expect(log.getByText("Done in 6.2 s, 5 steps")).toBeTruthy();
});

it("opens a call to show what went in and what came out", async () => {
  const log = show(TURN);
  const card = log.getByRole("button", { name: /Clicked/ });
  expect(card.getAttribute("aria-expanded")).toBe("false");
  await userEvent.click(card);
  expect(card.getAttribute("aria-expanded")).toBe("true");
  expect(log.getByText("clicked")).toBeTruthy();
  expect(log.getByText(/"action": "click"/)).toBeTruthy();
});

it("steps through all screenshots with the arrow keys", async () => {
  const log = show(TURN);
  const [first] = log.getAllByRole("button", { name: "Enlarge screenshot" });
  if (!first) throw new Error("there is no screenshot");
  await userEvent.click(first);
  const dialog = within(screen.getByRole("dialog", { name: "Screenshot 1 of 2" }));
  await userEvent.keyboard("{ArrowRight}");
  expect(screen.getByRole("dialog", { name: "Screenshot 2 of 2" })).toBeTruthy();
  expect(dialog.getByRole("img").getAttribute("src")).toBe("/api/blobs/two.png");
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByRole("dialog")).toBeNull();
});

it("loads no pictures from elsewhere that the agent writes of", () => {
  const picture = "![cat](https://example.org/cat.png)";
  const log = show([{ seq: 1, at, type: "text", data: { turn: "t", block: 0, text: picture } }]);
  expect(log.queryByRole("img")).toBeNull();
  expect(log.getByRole("link", { name: "cat" })).toBeTruthy();
});

it("says that it is reconnecting", () => {
  show(TURN, { connection: "reconnecting" });
  expect(screen.getByRole("status").textContent).toContain("Reconnecting…");
});

it("says what to do when nothing was said yet", () => {
  expect(show([]).getByText("No messages yet")).toBeTruthy();
});

/** A call that is done, as its two events. */
function done(seq: number, description: string): SessionEvent[] {
  const call = `c${seq}`;
  return [
    { seq, at, type: "tool_use", data: { turn: "t", call, tool: "computer", input: { action: "wait" }, description } },
    { seq: seq + 1, at, type: "tool_result", data: { turn: "t", call, text: "", is_error: false, duration_ms: 500 } },
  ];
}

it("sums up work that is over, and shows it on request", async () => {
  const work = [...done(1, "Clicked here"), ...done(3, "Typed a word"), ...done(5, "Pressed Return")];
  const log = show([...work, { seq: 7, at, type: "text", data: { turn: "t", block: 0, text: "That was it." } }]);
  const summary = log.getByRole("button", { name: /3 actions.*1.5 s/ });
  expect(log.queryByRole("button", { name: /^Clicked here/ })).toBeNull();
  await userEvent.click(summary);
  expect(log.getByRole("button", { name: /^Clicked here/ })).toBeTruthy();
});

it("shows work in full while it goes on", () => {
  const work = [...done(1, "Clicked here"), ...done(3, "Typed a word"), ...done(5, "Pressed Return")];
  const log = show(work, { state: "running" });
  expect(log.getByRole("button", { name: /^Clicked here/ })).toBeTruthy();
  expect(log.queryByRole("button", { name: /actions/ })).toBeNull();
});

it("shows a question once", () => {
  const input = { question: "Which colour?" };
  const question: SessionEvent[] = [
    { seq: 1, at, type: "tool_use", data: { turn: "t", call: "a", tool: "ask_user", input, description: "Asked it" } },
    {
      seq: 2,
      at,
      type: "decision",
      data: { turn: "t", call: "a", decision: "d", kind: "question", prompt: "Which colour?", form: { type: "text" } },
    },
  ];
  const log = show(question, { state: "waiting" });
  expect(log.getByRole("region", { name: "Question" })).toBeTruthy();
  expect(log.queryByRole("button", { name: /^Asking it/ })).toBeNull();
});

it("tells the exit code of a command that has one", () => {
  const log = show([
    { seq: 1, at, type: "tool_use", data: { turn: "t", call: "a", tool: "bash", input: {}, description: "Ran grep" } },
    {
      seq: 2,
      at,
      type: "tool_result",
      data: { turn: "t", call: "a", text: "", is_error: false, duration_ms: 3, state: { exit_code: 2 } as never },
    },
  ]);
  expect(log.getByRole("button", { name: /^Ran grep.*exit 2 · 3 ms/ })).toBeTruthy();
});

it("lets the agent try again after a failure", async () => {
  const fetched = vi.fn<typeof fetch>(async () => new Response("{}"));
  vi.stubGlobal("fetch", fetched);
  const failed: SessionEvent[] = [
    ...TURN.slice(0, 3),
    { seq: 4, at, type: "error", data: { turn: "t", code: "model_failed", message: "the model could not go on" } },
  ];
  const log = show(failed);
  await userEvent.click(log.getByRole("button", { name: "Try again" }));
  const [path, init] = fetched.mock.calls.find(([, sent]) => sent?.method === "POST") ?? [];
  expect(path).toBe("/api/sessions/s/messages");
  expect(JSON.parse(String(init?.body))).toMatchObject({ content: "Try again" });
  cleanup();
  expect(show(failed, { right: "view" }).queryByRole("button", { name: "Try again" })).toBeNull();
  vi.unstubAllGlobals();
});
