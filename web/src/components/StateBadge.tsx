import type { SandboxState, SessionState } from "../api/types";
import { cx } from "../lib/cx";

/** The labels of a session's states, as in `docs/words.md`. */
const STATE_WORDS: Record<SessionState, string> = {
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

/** Returns true if the session is idle and its desktop is stopped. */
function isAsleep(state: SessionState, sandbox: SandboxState): boolean {
  return state === "idle" && sandbox === "stopped";
}

/** Returns the label for the state of a session. */
export function stateWord(state: SessionState, sandbox: SandboxState): string {
  return isAsleep(state, sandbox) ? "Asleep" : STATE_WORDS[state];
}

interface StateBadgeProps {
  state: SessionState;
  sandbox: SandboxState;
}

export function StateBadge({ state, sandbox }: StateBadgeProps) {
  const isMoving = state === "running" || state === "initializing";
  const look = isAsleep(state, sandbox) ? "bg-hover text-soft" : LOOKS[state];
  return (
    <span
      data-state={state}
      className={cx(
        "inline-flex h-5 shrink-0 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap",
        look,
      )}
    >
      <span
        aria-hidden
        className={cx("size-1.5 rounded-full bg-current", isMoving && "animate-pulse-dot")}
      />
      {stateWord(state, sandbox)}
    </span>
  );
}
