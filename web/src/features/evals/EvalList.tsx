import { Link } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import type { ReactNode } from "react";

import { messageOf } from "../../api/client";
import { useEvals } from "../../api/evals";
import type { Eval } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Placeholder } from "../../components/Placeholder";
import { Skeleton } from "../../components/Skeleton";
import { TimeAgo } from "../../components/TimeAgo";
import { cx } from "../../lib/cx";
import { usdOf } from "../../lib/money";
import { EvalBadge } from "./EvalBadge";
import { EvalProgress } from "./EvalProgress";

const COLUMNS = ["Suite", "State", "Passed", "Cost", "Started"] as const;

/** The user's evals, newest first: a table, whose rows are cards on a narrow screen. */
export function EvalList() {
  const list = useEvals();
  const evals = list.data?.pages.flatMap((page) => page.evals);
  return (
    <section aria-label="Evals" className="flex flex-col gap-3">
      {list.error && (
        <Notice>
          {list.data && "This list may be out of date. "}
          {messageOf(list.error)}
        </Notice>
      )}
      {list.isPending && (
        <div role="status" aria-label="Loading the evals">
          <Skeleton className="h-32 w-full rounded-lg" />
        </div>
      )}
      {evals?.length === 0 && (
        <Placeholder icon={<FlaskConical aria-hidden />} title="No evals yet">
          An eval gives every task of a suite to every model, and checks what each of them did.
        </Placeholder>
      )}
      {evals !== undefined && evals.length > 0 && (
        <table
          aria-label="Evals"
          className="w-full rounded-lg border border-line bg-surface text-left text-[13px] max-md:block md:border-separate md:border-spacing-0"
        >
          <thead className="text-xs text-faint max-md:sr-only">
            <tr>
              {COLUMNS.map((column) => (
                <th
                  key={column}
                  scope="col"
                  className={cx("px-3 py-2 font-medium whitespace-nowrap", isNumber(column) && "text-right")}
                >
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="max-md:block">
            {evals.map((run) => (
              <RunRow key={run.id} run={run} />
            ))}
          </tbody>
        </table>
      )}
      {list.hasNextPage && (
        <Button
          className="self-center"
          disabled={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {list.isFetchingNextPage ? "Loading…" : "Load more"}
        </Button>
      )}
    </section>
  );
}

function isNumber(column: (typeof COLUMNS)[number]): boolean {
  return column === "Passed" || column === "Cost";
}

function RunRow({ run }: { run: Eval }) {
  return (
    <tr className="max-md:block max-md:border-t max-md:border-line max-md:p-3 max-md:first:border-t-0">
      <td className="w-full max-w-0 px-3 py-2.5 align-top max-md:block max-md:max-w-none max-md:px-0 max-md:pt-0 md:border-t md:border-line">
        <Link
          to="/evals/$evalId"
          params={{ evalId: run.id }}
          className="block truncate font-medium underline-offset-2 hover:underline"
        >
          {run.suite}
        </Link>
        <div className="truncate text-xs text-faint" title={run.models.join(", ")}>
          {run.models.join(", ")}
        </div>
        {run.state === "running" && (
          <div className="mt-1.5 max-w-64">
            <EvalProgress run={run} />
          </div>
        )}
      </td>
      <Cell label="State">
        <EvalBadge state={run.state} />
      </Cell>
      <Cell label="Passed" isRight>
        {run.n_passed} of {run.n_passed + run.n_failed}
        {run.n_ended < run.n_trials && <span className="text-faint"> ({run.n_trials})</span>}
      </Cell>
      <Cell label="Cost" isRight>
        {usdOf(run.cost_usd, run.budget_usd)}
      </Cell>
      <Cell label="Started">
        <TimeAgo at={run.created_at} />
      </Cell>
    </tr>
  );
}

/** A cell, which says what it shows where there is no head above it. */
function Cell({ label, isRight = false, children }: { label: string; isRight?: boolean; children: ReactNode }) {
  return (
    <td
      className={cx(
        "px-3 py-2.5 align-top whitespace-nowrap max-md:flex max-md:justify-between max-md:px-0 max-md:py-0.5 md:border-t md:border-line",
        isRight && "tabular-nums md:text-right",
      )}
    >
      <span aria-hidden className="text-faint md:hidden">
        {label}
      </span>
      <span>{children}</span>
    </td>
  );
}
