import { Check, ChevronDown, Circle, CircleDot } from "lucide-react";

import type { PlanData } from "../../api/types";

const MARKS = {
  pending: { icon: Circle, label: "Not started", className: "text-faint" },
  doing: { icon: CircleDot, label: "In progress", className: "text-accent" },
  done: { icon: Check, label: "Done", className: "text-good" },
} as const;

/** Shows the agent's plan. It can be folded down to the step in progress. */
export function Plan({ plan }: { plan: PlanData | undefined }) {
  if (plan === undefined || plan.steps.length === 0) return null;
  const nDone = plan.steps.filter((step) => step.state === "done").length;
  const current = plan.steps.find((step) => step.state === "doing");
  return (
    <details open aria-label="Plan" className="group border-b border-line bg-surface px-4 py-2 text-[13px]">
      <summary className="mx-auto flex max-w-3xl cursor-pointer items-baseline gap-2">
        <span className="font-medium">Plan</span>
        <span className="shrink-0 tabular-nums text-faint">
          {nDone} of {plan.steps.length} done
        </span>
        {current !== undefined && <span className="truncate group-open:hidden">{current.text}</span>}
        <ChevronDown aria-hidden className="ml-auto size-4 shrink-0 self-center text-faint group-open:rotate-180" />
      </summary>
      <ol className="mx-auto mt-1.5 flex max-h-40 max-w-3xl flex-col gap-1 overflow-y-auto">
        {plan.steps.map((step, index) => {
          const { icon: Icon, label, className } = MARKS[step.state];
          return (
            // A plan is replaced as a whole, so the position of a step is its identity.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={index} className="flex items-start gap-2">
              <Icon role="img" aria-label={label} className={`mt-0.5 size-3.5 shrink-0 ${className}`} />
              <span className={step.state === "done" ? "text-faint" : undefined}>{step.text}</span>
            </li>
          );
        })}
      </ol>
    </details>
  );
}
