import type { EvalState, StartEval, Trial, TrialState } from "../../api/types";
import { formatUsd } from "../../lib/money";
import { counted, sentence } from "../../lib/text";
import { formatDuration } from "../../lib/time";

/** The labels of an eval's states, as in `docs/words.md`. */
export const STATE_WORDS: Record<EvalState, string> = {
  running: "Running",
  done: "Done",
  stopped: "Stopped",
};

export const TRIAL_WORDS: Record<TrialState, string> = {
  waiting: "waiting",
  running: "running",
  passed: "passed",
  failed: "failed",
  error: "no result",
  skipped: "skipped",
};

/** Formats a share: `87 %`. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Formats a number of steps, which a median may split: `7`, `7.5`. */
export function stepsWords(steps: number | null): string {
  return steps === null ? "–" : String(Math.round(steps * 10) / 10);
}

export function secondsWords(seconds: number | null): string {
  return seconds === null ? "–" : formatDuration(seconds * 1000);
}

export function usdWords(usd: number | null): string {
  return usd === null ? "–" : formatUsd(usd);
}

/** Formats the reason, the steps, the time and the cost of a trial. */
export function trialDetails(trial: Trial): string {
  const figures = [
    trial.n_steps > 0 && counted(trial.n_steps, "step"),
    trial.seconds !== null && formatDuration(trial.seconds * 1000),
    trial.cost_usd > 0 && formatUsd(trial.cost_usd),
    trial.n_restarts > 0 && `begun again ${counted(trial.n_restarts, "time")} after a restart`,
  ].filter((part) => part !== false);
  return [trial.reason === null ? "" : sentence(trial.reason), figures.join(", ")].filter(Boolean).join(" ");
}

/** The fields of the form that starts an eval, as they were typed. */
export interface EvalDraft {
  /** The name of a built-in suite, or null for one's own. */
  builtIn: string | null;
  yaml: string;
  models: readonly string[];
  runs: string;
  budget: string;
}

/** Returns the eval that a draft describes, or the reason why there is none. */
export function readDraft(draft: EvalDraft): { wanted: StartEval } | { problem: string } {
  if (draft.builtIn === null && draft.yaml.trim() === "") return { problem: "Paste a suite." };
  if (draft.models.length === 0) return { problem: "Choose a model." };
  const runs = Number(draft.runs);
  if (!Number.isInteger(runs) || runs < 1 || runs > 100) return { problem: "The trials of each task are a number from 1 to 100." };
  const budget = draft.budget.trim() === "" ? undefined : Number(draft.budget);
  if (budget !== undefined && !(budget > 0)) return { problem: "The budget is a number of dollars, such as 2.50." };
  return {
    wanted: {
      ...(draft.builtIn === null ? { suite: draft.yaml } : { built_in: draft.builtIn }),
      models: [...draft.models],
      runs,
      ...(budget !== undefined && { budget_usd: budget }),
    },
  };
}
