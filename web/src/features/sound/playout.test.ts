import { expect, it } from "vitest";

import { MOST_DELAY_S, Playout, USUAL_DELAY_S } from "./playout";

const FRAME_S = 0.02;

it("plays frames without gaps, a moment after the first arrived", () => {
  const playout = new Playout();
  const starts = [10, 10.02, 10.05, 10.06].map((now, nth) => playout.place(now, 700 + nth * FRAME_S, FRAME_S));
  const first = 10 + USUAL_DELAY_S;
  for (const [nth, start] of starts.entries()) expect(start).toBeCloseTo(first + nth * FRAME_S);
});

it("keeps the time from capture to playing across silence", () => {
  const playout = new Playout();
  playout.place(10, 700, FRAME_S);
  // It arrives sooner than the first one did, and waits for its time.
  expect(playout.place(14.95, 705, FRAME_S)).toBeCloseTo(15 + USUAL_DELAY_S);
  expect(playout.place(14.97, 705.023, FRAME_S)).toBeCloseTo(15 + USUAL_DELAY_S + FRAME_S);
});

it("begins anew with a frame that comes too late", () => {
  const playout = new Playout();
  playout.place(10, 700, FRAME_S);
  expect(playout.place(15.2, 705, FRAME_S)).toBeCloseTo(15.2 + USUAL_DELAY_S);
});

it("leaves out frames when many arrive at once, until it is in time again", () => {
  const playout = new Playout();
  const burst = Array.from({ length: 50 }, (_, nth) => playout.place(10, 700 + nth * FRAME_S, FRAME_S));
  const played = burst.filter((start) => start !== null);
  expect(Math.max(...played)).toBeLessThanOrEqual(10 + MOST_DELAY_S + FRAME_S);
  // The rest of the sound drains while frames arrive evenly.
  let [now, captured] = [10, 700 + 50 * FRAME_S];
  let start: number | null = null;
  while (start === null) {
    now += FRAME_S;
    captured += FRAME_S;
    start = playout.place(now, captured, FRAME_S);
  }
  expect(start - now).toBeLessThanOrEqual(USUAL_DELAY_S);
  expect(start - now).toBeGreaterThan(0);
});
