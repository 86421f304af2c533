import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import type { SandboxState, Session, SessionEvent } from "../../api/types";
import { addEvents, emptyTimeline } from "../conversation/timeline";
import { LiveSessionContext } from "./LiveSession";
import { PagePanel } from "./PagePanel";

afterEach(cleanup);

const at = "2025-01-01T12:00:00Z";

const call = (seq: number, name: string): SessionEvent => ({
  seq,
  at,
  type: "tool_use",
  data: { turn: "t", call: name, tool: "browser", input: {}, description: "Clicked e1" },
});

const result = (seq: number, name: string): SessionEvent => ({
  seq,
  at,
  type: "tool_result",
  data: { turn: "t", call: name, text: "Clicked e1.", is_error: false, duration_ms: 5 },
});

const shot = (seq: number): SessionEvent => ({
  seq,
  at,
  type: "screenshot",
  data: { blob: `${seq}.png`, width: 1280, height: 800 },
});

function panel(events: SessionEvent[], sandbox: SandboxState = "ready") {
  const timeline = addEvents(emptyTimeline, events);
  const live = { state: "idle", timeline, control: { holder: "nobody" }, me: "ada" } as const;
  return (
    <LiveSessionContext value={live}>
      <PagePanel session={{ id: "s1" } as Session} sandbox={sandbox} lease={null} />
    </LiveSessionContext>
  );
}

const picture = () => screen.getByRole("img").getAttribute("src");

it("asks for the picture again after each step in the browser and each picture", () => {
  const seen = new Set<string | null>();
  const { rerender } = render(panel([]));
  seen.add(picture());
  const events: SessionEvent[] = [call(1, "a")];
  rerender(panel(events));
  expect(seen.has(picture())).toBe(true);
  for (const event of [result(2, "a"), shot(3)]) {
    events.push(event);
    rerender(panel(events));
    expect(seen.has(picture())).toBe(false);
    seen.add(picture());
  }
});

it("says why there is nothing to see, and offers no takeover", () => {
  const { rerender } = render(panel([]));
  fireEvent.error(screen.getByRole("img"));
  expect(screen.getByText("No page is open yet.")).toBeTruthy();
  expect(screen.queryByRole("button")).toBeNull();
  rerender(panel([], "stopped"));
  expect(screen.getByText("The browser is asleep. It wakes with your next message.")).toBeTruthy();
});
