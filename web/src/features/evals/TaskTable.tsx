import { ChevronRight } from "lucide-react";
import { useId, useState } from "react";

import type { EvalTask } from "../../api/types";
import { cx } from "../../lib/cx";
import { TRIAL_WORDS, trialDetails } from "./evalWords";
import { TrialMark } from "./TrialMark";

interface TaskTableProps {
  models: readonly string[];
  tasks: readonly EvalTask[];
}

/** The tasks of an eval against its models, with a mark for each trial. A wide table scrolls by itself. */
export function TaskTable({ models, tasks }: TaskTableProps) {
  return (
    <section aria-labelledby="tasks-heading" className="flex flex-col gap-3">
      <h2 id="tasks-heading" className="text-base font-semibold">
        Tasks
      </h2>
      <div
        role="region"
        aria-label="Table of tasks"
        // It can be scrolled with the keyboard too.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="overflow-x-auto rounded-lg border border-line bg-surface"
      >
        <table aria-labelledby="tasks-heading" className="w-full border-separate border-spacing-0 text-left text-[13px]">
          <thead className="text-xs text-faint">
            <tr>
              <th scope="col" className="sticky left-0 z-10 bg-surface px-3 py-2 font-medium">
                Task
              </th>
              {models.map((model) => (
                <th key={model} scope="col" className="max-w-44 min-w-24 px-3 py-2 font-medium">
                  <span className="line-clamp-2 [overflow-wrap:anywhere]" title={model}>
                    {model}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          {tasks.map((task) => (
            <TaskRows key={task.name} task={task} models={models} />
          ))}
        </table>
      </div>
    </section>
  );
}

function TaskRows({ task, models }: { task: EvalTask; models: readonly string[] }) {
  const [isOpen, setIsOpen] = useState(false);
  const detailsId = useId();
  return (
    <tbody>
      <tr>
        <th
          scope="row"
          className="sticky left-0 z-10 min-w-36 border-t border-line bg-surface px-1.5 py-1.5 text-left align-top font-normal sm:min-w-56"
        >
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={detailsId}
            onClick={() => setIsOpen(!isOpen)}
            className="flex w-full items-start gap-1 rounded-md px-1 py-0.5 text-left hover:bg-hover"
          >
            <ChevronRight
              aria-hidden
              className={cx("mt-0.5 size-3.5 shrink-0 text-faint transition-transform", isOpen && "rotate-90")}
            />
            <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{task.name}</span>
          </button>
        </th>
        {models.map((model) => (
          <td key={model} className="border-t border-line px-3 py-1.5 align-top">
            <div className="flex max-w-44 flex-wrap gap-1">
              {task.trials
                .filter((trial) => trial.model === model)
                .map((trial) => (
                  <TrialMark key={trial.number} trial={trial} />
                ))}
            </div>
          </td>
        ))}
      </tr>
      <tr id={detailsId} hidden={!isOpen}>
        {isOpen && (
          <td colSpan={models.length + 1} className="border-t border-line bg-sunken p-0">
            <TaskDetails task={task} />
          </td>
        )}
      </tr>
    </tbody>
  );
}

function TaskDetails({ task }: { task: EvalTask }) {
  return (
    // What it says stays in view while the table is scrolled.
    <div className="sticky left-0 flex w-[min(100%,calc(100vw-2.5rem))] flex-col gap-2.5 px-3 py-2.5">
      <p className="whitespace-pre-wrap text-soft [overflow-wrap:anywhere]">{task.task}</p>
      {task.tags.length > 0 && <p className="text-xs text-faint">{task.tags.join(" · ")}</p>}
      <ul aria-label={`Trials of ${task.name}`} className="flex flex-col gap-1.5">
        {task.trials.map((trial) => (
          <li key={trial.number} className="flex items-start gap-2.5">
            <TrialMark trial={trial} />
            <div className="min-w-0 flex-1 pt-0.5 [overflow-wrap:anywhere]">
              <span className="font-medium">{trial.model}</span>
              <span className="text-faint">
                {" "}
                round {trial.round}, {TRIAL_WORDS[trial.state]}
              </span>
              {trialDetails(trial) !== "" && <p className="text-soft">{trialDetails(trial)}</p>}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
