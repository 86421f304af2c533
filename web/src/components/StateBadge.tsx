import type { SessionState } from "../api/types";
import { cx } from "../lib/cx";

/** The words for a session's states, as in `docs/words.md`. */
export const STATE_WORDS: Record<SessionState, string> = {
  initializing: "Starting",
  idle: "Ready",
  running: "Working",
  waiting: "Waiting for you",
  error: "No desktop",
  terminated: "Ended",
};

const LOOKS: Record<SessionState, string> = {
  initializing: "bg-warn-soft text-warn",
  idle: "bg-good-soft text-good",
  running: "bg-accent-soft text-accent",
  waiting: "bg-warn-soft text-warn",
  error: "bg-bad-soft text-bad",
  terminated: "bg-hover text-soft",
};

export function StateBadge({ state }: { state: SessionState }) {
  const isMoving = state === "running" || state === "initializing";
  return (
    <span
      data-state={state}
      className={cx(
        "inline-flex h-5 shrink-0 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap",
        LOOKS[state],
      )}
    >
      <span
        aria-hidden
        className={cx("size-1.5 rounded-full bg-current", isMoving && "animate-pulse-dot")}
      />
      {STATE_WORDS[state]}
    </span>
  );
}
