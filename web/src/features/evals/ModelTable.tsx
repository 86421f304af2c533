import type { ReactNode } from "react";

import type { ModelFigures } from "../../api/types";
import { cx } from "../../lib/cx";
import { formatUsd } from "../../lib/money";
import { secondsWords, stepsWords, usdWords } from "./evalWords";
import { SuccessBar } from "./SuccessBar";

const COLUMNS = ["Model", "Success", "Steps", "Time", "Dollars", "In all"] as const;

/** The models of an eval side by side, on one scale: a table, whose rows are cards on a narrow screen. */
export function ModelTable({ figures }: { figures: readonly ModelFigures[] }) {
  return (
    <section aria-labelledby="models-heading" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h2 id="models-heading" className="text-base font-semibold">
          Models
        </h2>
        <p className="text-xs text-faint">Success with its 95 % interval; medians of steps, time and dollars</p>
      </div>
      <table
        aria-labelledby="models-heading"
        className="w-full rounded-lg border border-line bg-surface text-left text-[13px] max-md:block md:border-separate md:border-spacing-0"
      >
        <thead className="text-xs text-faint max-md:sr-only">
          <tr>
            {COLUMNS.map((column, index) => (
              <th
                key={column}
                scope="col"
                className={cx("px-3 py-2 font-medium whitespace-nowrap", index > 1 && "text-right")}
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="max-md:block">
          {figures.map((model) => (
            <ModelRow key={model.model} figures={model} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ModelRow({ figures }: { figures: ModelFigures }) {
  return (
    <tr className="max-md:block max-md:border-t max-md:border-line max-md:p-3 max-md:first:border-t-0">
      <th
        scope="row"
        className="px-3 py-2.5 text-left align-top font-normal max-md:block max-md:px-0 max-md:pt-0 md:min-w-60 md:border-t md:border-line"
      >
        <span className="block font-medium [overflow-wrap:anywhere]">{figures.model}</span>
        <span className="block text-xs text-faint">{countWords(figures)}</span>
      </th>
      <td className="w-full min-w-64 px-3 py-2.5 align-top max-md:block max-md:min-w-0 max-md:px-0 md:border-t md:border-line">
        {figures.success === null ? (
          <span className="text-faint">No result yet</span>
        ) : (
          <SuccessBar success={figures.success} />
        )}
      </td>
      <Cell label="Steps">{stepsWords(figures.median_steps)}</Cell>
      <Cell label="Time">{secondsWords(figures.median_seconds)}</Cell>
      <Cell label="Dollars">{usdWords(figures.median_usd)}</Cell>
      <Cell label="In all">{formatUsd(figures.total_usd)}</Cell>
    </tr>
  );
}

/** A cell, which says what it shows where there is no head above it. */
function Cell({ label, children }: { label: string; children: ReactNode }) {
  return (
    <td className="px-3 py-2.5 align-top whitespace-nowrap tabular-nums max-md:flex max-md:justify-between max-md:px-0 max-md:py-0.5 md:border-t md:border-line md:text-right">
      <span aria-hidden className="text-faint md:hidden">
        {label}
      </span>
      <span>{children}</span>
    </td>
  );
}

/** Formats the results of a model: `8 passed, 2 failed, 1 without a result`. */
function countWords(figures: ModelFigures): string {
  const parts: [number, string][] = [
    [figures.n_passed, "passed"],
    [figures.n_failed, "failed"],
    [figures.n_errors, "without a result"],
    [figures.n_skipped, "skipped"],
    [figures.n_open, "to come"],
  ];
  const counted = parts.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}`);
  return counted.join(", ");
}
