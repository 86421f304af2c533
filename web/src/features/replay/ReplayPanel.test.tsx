import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import type { SessionEvent } from "../../api/types";
import { addEvents, emptyTimeline } from "../conversation/timeline";
import { LiveSessionContext } from "../session/LiveSession";
import { ReplayPanel } from "./ReplayPanel";

afterEach(cleanup);

const at = "2025-01-01T12:00:00Z";

const shot = (seq: number, call?: string): SessionEvent => ({
  seq,
  at,
  type: "screenshot",
  data: { blob: `${seq}.png`, width: 1024, height: 768, ...(call !== undefined && { call }) },
});

const EVENTS: SessionEvent[] = [
  {
    seq: 1,
    at,
    type: "tool_use",
    data: { turn: "t", call: "a", tool: "computer", input: {}, description: "Clicked at (3, 4)" },
  },
  shot(2, "a"),
  shot(3),
  shot(4),
];

function replay(events: SessionEvent[]) {
  const timeline = addEvents(emptyTimeline, events);
  const live = { state: "idle", timeline, control: { holder: "nobody" }, me: "ada" } as const;
  return (
    <LiveSessionContext value={live}>
      <ReplayPanel />
    </LiveSessionContext>
  );
}

const picture = () => screen.getByRole("img").getAttribute("src");

it("follows the newest picture until another one is chosen", () => {
  const { rerender } = render(replay(EVENTS.slice(0, 3)));
  expect(picture()).toContain("3.png");
  rerender(replay(EVENTS));
  expect(picture()).toContain("4.png");
  fireEvent.change(screen.getByRole("slider", { name: "Screenshot" }), { target: { value: "0" } });
  expect(picture()).toContain("2.png");
  expect(screen.getByText("Clicked at (3, 4)")).toBeTruthy();
  rerender(replay([...EVENTS, shot(5)]));
  expect(picture()).toContain("2.png");
  for (const name of ["3.png", "4.png", "5.png"]) {
    fireEvent.click(screen.getByRole("button", { name: "Next screenshot" }));
    expect(picture()).toContain(name);
  }
  rerender(replay([...EVENTS, shot(5), shot(6)]));
  expect(picture()).toContain("6.png");
});

it("says that there is nothing yet", () => {
  render(replay([]));
  expect(screen.getByText("No screenshots yet")).toBeTruthy();
});
