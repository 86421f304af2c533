import type { Eval } from "../../api/types";

/** Shows how many trials of an eval have a result. */
export function EvalProgress({ run }: { run: Pick<Eval, "n_ended" | "n_trials"> }) {
  const share = run.n_trials === 0 ? 0 : run.n_ended / run.n_trials;
  return (
    <div
      role="progressbar"
      aria-label="Trials with a result"
      aria-valuemin={0}
      aria-valuemax={run.n_trials}
      aria-valuenow={run.n_ended}
      aria-valuetext={`${run.n_ended} of ${run.n_trials}`}
      className="h-1.5 w-full overflow-hidden rounded-full bg-sunken ring-1 ring-line ring-inset"
    >
      <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${share * 100}%` }} />
    </div>
  );
}
