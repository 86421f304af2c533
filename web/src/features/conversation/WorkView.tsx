import { ChevronRight, ListChecks } from "lucide-react";
import { type ReactNode, useId, useState } from "react";

import { cx } from "../../lib/cx";
import { counted } from "../../lib/text";
import { formatDuration } from "../../lib/time";
import { describeCall } from "./describeCall";
import { ShotThumb } from "./ShotThumb";
import { summaryOf, type Work } from "./steps";

/** With fewer calls than this, a summary would be no shorter than the calls. */
const FEWEST_CALLS = 3;

interface WorkViewProps {
  work: Work;
  /** True while the agent is at it. */
  isGoingOn: boolean;
  onOpenShot: (id: number) => void;
  children: ReactNode;
}

/** Shows the agent's work: in full while it goes on, and afterwards as one line that opens. */
export function WorkView({ work, isGoingOn, onOpenShot, children }: WorkViewProps) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const contentId = useId();
  const { nCalls, nFailed, durationMs, shot } = summaryOf(work);
  const hasSummary = nCalls >= FEWEST_CALLS && !isGoingOn;
  const isOpen = !hasSummary || (chosen ?? false);
  return (
    <div className="flex flex-col gap-2.5">
      {hasSummary && (
        <div className="flex items-stretch overflow-hidden rounded-lg border border-line bg-surface">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={contentId}
            onClick={() => setChosen(!isOpen)}
            className="flex min-w-0 flex-1 items-center gap-2.5 px-3 py-2 text-left -outline-offset-2 hover:bg-hover"
          >
            <ListChecks aria-hidden className="size-4 shrink-0 text-faint" />
            <span className="shrink-0 text-[13px] font-medium">{counted(nCalls, "action")}</span>
            <span aria-hidden className="min-w-0 flex-1 truncate text-[13px] text-faint">
              {sentences(work)}
            </span>
            {nFailed > 0 && <span className="shrink-0 text-xs font-medium text-bad">{nFailed} failed</span>}
            <span className="shrink-0 text-xs text-faint tabular-nums">{formatDuration(durationMs)}</span>
            <ChevronRight
              aria-hidden
              className={cx("size-3.5 shrink-0 text-faint transition-transform", isOpen && "rotate-90")}
            />
          </button>
          {shot && !isOpen && (
            <ShotThumb shot={shot} onOpen={onOpenShot} className="w-16 shrink-0 border-l border-line" />
          )}
        </div>
      )}
      <div
        id={contentId}
        hidden={!isOpen}
        // What somebody uses stays open when the work is over.
        onFocusCapture={() => setChosen(true)}
        className={cx("flex flex-col gap-2.5", hasSummary && "border-l-2 border-line pl-3", !isOpen && "hidden")}
      >
        {isOpen && children}
      </div>
    </div>
  );
}

function sentences({ items }: Work): string {
  const calls = items.filter((item) => item.kind === "call");
  return calls.map((call) => describeCall(call)).join(" · ");
}
