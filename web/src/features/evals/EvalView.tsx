import { CloudOff, FlaskConicalOff } from "lucide-react";
import { useRef, useState } from "react";

import { isStatus, messageOf } from "../../api/client";
import { useEval, useStopEval } from "../../api/evals";
import type { EvalResults } from "../../api/types";
import { Button } from "../../components/Button";
import { ConfirmButton } from "../../components/ConfirmButton";
import { Notice } from "../../components/Notice";
import { Placeholder } from "../../components/Placeholder";
import { Skeleton } from "../../components/Skeleton";
import { TimeAgo } from "../../components/TimeAgo";
import { usdOf } from "../../lib/money";
import { counted, sentence } from "../../lib/text";
import { DeleteEval } from "./DeleteEval";
import { EvalBadge } from "./EvalBadge";
import { EvalProgress } from "./EvalProgress";
import { ModelTable } from "./ModelTable";
import { TaskTable } from "./TaskTable";

/** One eval, live while it goes on. */
export function EvalView({ id }: { id: string }) {
  const run = useEval(id);
  if (run.isPending) {
    return (
      <div role="status" aria-label="Loading the eval" className="flex flex-col gap-3">
        <Skeleton className="h-24 w-full rounded-lg" />
        <Skeleton className="h-32 w-full rounded-lg" />
        <Skeleton className="h-48 w-full rounded-lg" />
      </div>
    );
  }
  if (!run.data) {
    return isStatus(run.error, 404) ? (
      <Placeholder icon={<FlaskConicalOff aria-hidden />} title="Eval not found">
        It was deleted, or belongs to somebody else.
      </Placeholder>
    ) : (
      <Placeholder
        icon={<CloudOff aria-hidden />}
        title="The eval could not be loaded"
        actions={<Button onClick={() => void run.refetch()}>Try again</Button>}
      >
        {messageOf(run.error)}
      </Placeholder>
    );
  }
  return (
    <>
      <title>{`${run.data.suite} · Evals · Deskhand`}</title>
      <Head run={run.data} />
      {run.error && <Notice>These results may be out of date. {messageOf(run.error)}</Notice>}
      <ModelTable figures={run.data.figures} />
      <TaskTable models={run.data.models} tasks={run.data.tasks} />
    </>
  );
}

function Head({ run }: { run: EvalResults }) {
  const stop = useStopEval(run.id);
  const [isDeleting, setIsDeleting] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const isRunning = run.state === "running";
  // The button goes away, and the keyboard's place would go with it.
  const onStopped = () => heading.current?.focus({ preventScroll: true });
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 ref={heading} tabIndex={-1} className="min-w-0 text-xl font-semibold [overflow-wrap:anywhere]">
          {run.suite}
        </h1>
        <EvalBadge state={run.state} />
        <span className="flex-1" />
        {isRunning && (
          <ConfirmButton
            disabled={stop.isPending}
            title="Stop this eval?"
            explanation="Trials that run end without a result, and no other begins. Results so far are kept."
            confirmLabel="Stop the eval"
            onConfirm={() => stop.mutate(undefined, { onSuccess: onStopped })}
          >
            {stop.isPending ? "Stopping…" : "Stop"}
          </ConfirmButton>
        )}
        {!isRunning && <Button onClick={() => setIsDeleting(true)}>Delete…</Button>}
        <DeleteEval id={run.id} isOpen={isDeleting} onOpenChange={setIsDeleting} />
      </div>
      {run.description !== "" && <p className="text-soft [overflow-wrap:anywhere]">{sentence(run.description)}</p>}
      {isRunning && <EvalProgress run={run} />}
      <p className="text-[13px] text-soft tabular-nums">
        {run.n_ended} of {counted(run.n_trials, "trial")} with a result · {usdOf(run.cost_usd, run.budget_usd)}
        {run.runs > 1 && ` · ${counted(run.runs, "round")}`} · started <TimeAgo at={run.created_at} />
        {run.ended_at !== null && (
          <>
            , ended <TimeAgo at={run.ended_at} />
          </>
        )}
      </p>
      {run.waits_for !== null && (
        <p role="status" className="rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
          {sentence(run.waits_for)}
        </p>
      )}
      {stop.error && <Notice onDismiss={stop.reset}>{messageOf(stop.error)}</Notice>}
    </div>
  );
}
