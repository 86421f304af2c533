import type { ReactNode } from "react";

import { messageOf } from "../../api/client";
import { useStreamFigures } from "../../api/streams";
import { Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { formatUsd } from "../../lib/money";
import { formatDuration, formatElapsed } from "../../lib/time";

/** The figures of all streams so far. */
export function StreamFigures() {
  const figures = useStreamFigures();
  const { data } = figures;
  return (
    <section aria-labelledby="figures-heading" className="flex flex-col gap-3">
      <h2 id="figures-heading" className="text-base font-semibold">
        Figures
      </h2>
      {figures.error && (
        <Notice>
          {data && "These figures may be out of date. "}
          {messageOf(figures.error)}
        </Notice>
      )}
      {figures.isPending && <Skeleton className="h-32 w-full rounded-lg" />}
      {data && (
        <dl
          aria-label="Figures of all streams"
          className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3"
        >
          <Tile label="Streams">{data.total_sessions}</Tile>
          <Tile label="Ended well">{data.successful_sessions}</Tile>
          <Tile label="Failed">{data.failed_sessions}</Tile>
          <Tile label="Streamed">{formatElapsed(data.total_streaming_seconds * 1000)}</Tile>
          <Tile label="Until live, on average">
            {data.avg_start_time_seconds === 0 ? "–" : formatDuration(data.avg_start_time_seconds * 1000)}
          </Tile>
          <Tile label="Cost of models">{formatUsd(data.total_cost_usd)}</Tile>
        </dl>
      )}
    </section>
  );
}

function Tile({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex flex-col-reverse justify-end gap-0.5 bg-surface px-4 py-3">
      <dt className="text-xs text-faint">{label}</dt>
      <dd className="text-lg font-semibold tabular-nums">{children}</dd>
    </div>
  );
}
