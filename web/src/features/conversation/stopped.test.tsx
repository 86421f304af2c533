import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { modelKeys } from "../../api/models";
import type { Right, SessionEvent, SessionState } from "../../api/types";
import { Conversation } from "./Conversation";
import { addEvents, emptyTimeline } from "./timeline";

const fetched = vi.fn<typeof fetch>();

beforeEach(() => {
  fetched.mockImplementation(async () => new Response(JSON.stringify({ messages: [] })));
  vi.stubGlobal("fetch", fetched);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  fetched.mockReset();
});

type Said = Pick<SessionEvent, "type" | "data">;

function show(events: Said[], { right = "owner", state = "idle" }: { right?: Right; state?: SessionState } = {}) {
  const at = "2025-01-01T12:00:00Z";
  const log = events.map((event, index) => ({ seq: index + 1, at, ...event }) as SessionEvent);
  const client = new QueryClient();
  client.setQueryData(modelKeys.list, { default: "a/b", models: [] });
  render(
    <QueryClientProvider client={client}>
      <Conversation
        sessionId="s"
        timeline={addEvents(emptyTimeline, log)}
        state={state}
        model="a/b"
        connection="live"
        isLoading={false}
        waitingNote={undefined}
        names={new Map([["u", "Ada"], ["v", "Bob"]])}
        right={right}
        me="u"
      />
    </QueryClientProvider>,
  );
}

const message = (id: string): Said => ({ type: "message", data: { id, role: "user", content: id, author: "u" } });
const queue = (id: string, change: object): Said =>
  ({ type: "queue", data: { message: id, by: "u", ...change } }) as Said;
const HELD = [message("one"), message("two"), queue("one", { change: "held" }), queue("two", { change: "held" })];

function bar() {
  return within(screen.getByRole("region", { name: "Messages that are held" }));
}

function requests(): string[] {
  return fetched.mock.calls.map(([path, init]) => `${init?.method} ${String(path)} ${String(init?.body ?? "")}`.trim());
}

it("offers the messages that a stop held back", async () => {
  show(HELD);
  expect(bar().getByRole("status").textContent).toBe("Stopped. 2 messages are waiting.");
  await userEvent.click(bar().getByRole("button", { name: "Send next" }));
  expect(requests()).toEqual(['PATCH /api/sessions/s/queue/one {"held":false}']);
});

it("clears all of them", async () => {
  show(HELD);
  await userEvent.click(bar().getByRole("button", { name: "Clear" }));
  expect(requests()).toEqual(["DELETE /api/sessions/s/queue"]);
});

it("says why a message could not be sent", async () => {
  const error = { code: "message_taken", message: "the agent has already started on message one" };
  fetched.mockImplementation(async () => new Response(JSON.stringify({ error }), { status: 409 }));
  show(HELD);
  await userEvent.click(bar().getByRole("button", { name: "Send next" }));
  expect((await screen.findByRole("alert")).textContent).toContain("already started");
});

it("offers nothing for what goes on by itself, and no buttons to those who may not drive", () => {
  show([...HELD, queue("one", { change: "released" })], { state: "running", right: "suggest" });
  expect(bar().getByRole("status").textContent).toBe("1 message is waiting until somebody sends it.");
  expect(bar().queryByRole("button")).toBeNull();
  cleanup();
  show([message("one")]);
  expect(screen.queryByRole("region", { name: "Messages that are held" })).toBeNull();
});

const RUN: Said = {
  type: "tool_use",
  data: { turn: "t", call: "a", tool: "bash", input: {}, description: "Ran rm -rf x" },
};

function notDone(reason: string): Said {
  const data = { turn: "t", call: "a", text: "Not executed.", is_error: true, duration_ms: 9000, not_done: reason };
  return { type: "tool_result", data } as Said;
}

function refusal(by: string): Said[] {
  const form = { type: "yes_no" };
  return [
    { type: "decision", data: { turn: "t", call: "a", decision: "d", kind: "approval", prompt: "May it?", form } },
    { type: "answer", data: { turn: "t", decision: "d", state: "answered", answer: { yes: false }, by } },
  ] as Said[];
}

it.each([
  ["u", "Not run: you refused it"],
  ["v", "Not run: Bob refused it"],
  ["w", "Not run: somebody refused it"],
])("does not call a refused command failed (%s)", (by, words) => {
  show([RUN, ...refusal(by), notDone("refused")]);
  const card = screen.getByRole("button", { name: /^Running rm -rf x/ });
  expect(card.textContent).toContain(words);
  expect(card.textContent).not.toContain("failed");
  expect(card.textContent).not.toContain("9");
});

it.each([
  ["stopped", "Stopped"],
  ["skipped", "Not run"],
  ["unanswered", "Not run: nobody answered in time"],
  ["forbidden", "Not run: the approval rules refuse it"],
])("says that a call was %s, neutrally", (reason, words) => {
  show([RUN, notDone(reason)]);
  expect(screen.getByRole("button", { name: /^Running rm -rf x/ }).textContent).toContain(words);
  expect(screen.queryByText(/failed/)).toBeNull();
});
