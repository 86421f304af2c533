import { Hourglass } from "lucide-react";

import type { RetryData } from "../../api/types";
import { sentence } from "../../lib/text";
import { formatElapsed } from "../../lib/time";
import { useNow } from "../../lib/useNow";

/** Reports that the model could not be reached, and when the next attempt is. */
export function RetryNote({ retry }: { retry: RetryData }) {
  const now = useNow(500);
  const leftMs = Date.parse(retry.next_at) - now;
  const next = leftMs > 0 ? `next try in ${formatElapsed(leftMs + 999)}` : "trying again…";
  return (
    <div className="flex animate-appear items-start gap-2 text-[13px] text-faint">
      <Hourglass aria-hidden className="mt-0.5 size-3.5 shrink-0 text-warn" />
      <div className="min-w-0">
        <div className="tabular-nums">Waiting on provider — {next}</div>
        <div className="text-xs [overflow-wrap:anywhere]">
          {sentence(retry.message)}
          {retry.attempt > 1 && ` Tried ${retry.attempt} times.`}
        </div>
      </div>
    </div>
  );
}
