import { formatElapsed } from "../../lib/time";
import { useNow } from "../../lib/useNow";

/** Shows the time since a moment, second by second. */
export function Elapsed({ since }: { since: string }) {
  const now = useNow(1000);
  return (
    <span role="timer" aria-label="Elapsed time" className="tabular-nums">
      {formatElapsed(now - Date.parse(since))}
    </span>
  );
}
