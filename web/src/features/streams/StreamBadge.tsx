import type { StreamState } from "../../api/types";
import { cx } from "../../lib/cx";

/** The labels of a stream's states, as in `docs/words.md`. */
const STATE_WORDS: Record<StreamState, string> = {
  pending: "Waiting",
  starting: "Starting",
  streaming: "Live",
  stopping: "Stopping",
  ended: "Ended",
  failed: "Failed",
};

const LOOKS: Record<StreamState, string> = {
  pending: "bg-hover text-soft",
  starting: "bg-warn-soft text-warn",
  streaming: "bg-good-soft text-good",
  stopping: "bg-warn-soft text-warn",
  ended: "bg-hover text-soft",
  failed: "bg-bad-soft text-bad",
};

export function StreamBadge({ state }: { state: StreamState }) {
  const isMoving = state === "starting" || state === "streaming" || state === "stopping";
  return (
    <span
      data-state={state}
      className={cx(
        "inline-flex h-5 shrink-0 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap",
        LOOKS[state],
      )}
    >
      <span aria-hidden className={cx("size-1.5 rounded-full bg-current", isMoving && "animate-pulse-dot")} />
      {STATE_WORDS[state]}
    </span>
  );
}
