import type { EvalState } from "../../api/types";
import { cx } from "../../lib/cx";
import { STATE_WORDS } from "./evalWords";

const LOOKS: Record<EvalState, string> = {
  running: "bg-accent-soft text-accent",
  done: "bg-good-soft text-good",
  stopped: "bg-hover text-soft",
};

export function EvalBadge({ state }: { state: EvalState }) {
  return (
    <span
      className={cx(
        "inline-flex h-5 shrink-0 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap",
        LOOKS[state],
      )}
    >
      <span
        aria-hidden
        className={cx("size-1.5 rounded-full bg-current", state === "running" && "animate-pulse-dot")}
      />
      {STATE_WORDS[state]}
    </span>
  );
}
