import type { Success } from "../../api/types";
import { percent } from "./evalWords";

/** Draws a share from 0 to 1: a mark for the share, on a band for the interval that it is in with 95 % confidence. */
export function SuccessBar({ success }: { success: Success }) {
  const { rate, low, high } = success;
  return (
    <div className="flex items-center gap-3">
      <span className="w-12 shrink-0 text-right font-semibold tabular-nums">{percent(rate)}</span>
      <span aria-hidden className="relative h-2.5 min-w-20 flex-1 rounded-full bg-sunken ring-1 ring-line ring-inset">
        <span
          className="absolute inset-y-0 rounded-full bg-accent opacity-35"
          style={{ left: `${low * 100}%`, width: `${Math.max(0, high - low) * 100}%` }}
        />
        <span
          className="absolute -inset-y-0.5 w-[3px] -translate-x-1/2 rounded-full bg-accent"
          style={{ left: `${rate * 100}%` }}
        />
      </span>
      <span className="w-20 shrink-0 text-xs text-faint tabular-nums">
        <span className="sr-only">95 % interval: </span>
        {percent(low).replace(" %", "")}–{percent(high)}
      </span>
    </div>
  );
}
