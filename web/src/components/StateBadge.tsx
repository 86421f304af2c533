import type { Right, SandboxState, SessionState } from "../api/types";
import { cx } from "../lib/cx";
import { includes } from "../lib/rights";

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

/** Returns the label for the state of a session, for a person with this right in it. */
export function stateWord(state: SessionState, sandbox: SandboxState, right: Right): string {
  if (isAsleep(state, sandbox)) return "Asleep";
  // Most decisions are for those who may drive.
  return state === "waiting" && !includes(right, "drive") ? "Waiting for an answer" : STATE_WORDS[state];
}

interface StateBadgeProps {
  state: SessionState;
  sandbox: SandboxState;
  /** The user's right in the session. */
  right: Right;
}

export function StateBadge({ state, sandbox, right }: StateBadgeProps) {
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
      {stateWord(state, sandbox, right)}
    </span>
  );
}
