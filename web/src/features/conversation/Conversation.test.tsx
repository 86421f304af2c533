import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";

import type { SessionEvent } from "../../api/types";
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

function show(events: SessionEvent[], connection: "live" | "reconnecting" = "live") {
  const timeline = addEvents(emptyTimeline, events);
  render(
    <Conversation sessionId="s"
      timeline={timeline} state="idle" connection={connection} isLoading={false} />,
  );
  return within(screen.getByRole("log", { name: "Conversation" }));
}

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
  show(TURN, "reconnecting");
  expect(screen.getByRole("status").textContent).toContain("Reconnecting…");
});

it("says what to do when nothing was said yet", () => {
  expect(show([]).getByText("Nothing said yet")).toBeTruthy();
});
