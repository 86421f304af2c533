import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { messageOf } from "../../api/client";
import { useStreamHistory } from "../../api/streams";
import type { Stream } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { TimeAgo } from "../../components/TimeAgo";
import { cx } from "../../lib/cx";
import { formatUsd } from "../../lib/money";
import { sentence } from "../../lib/text";
import { useNow } from "../../lib/useNow";
import { StreamBadge } from "./StreamBadge";
import { placeOf, shortLink, watchedFor } from "./streamWords";

const TICK_MS = 10_000;
const COLUMNS = ["State", "Link", "Asked by", "Start", "Duration", "Cost"] as const;

/** All streams, newest first: a table, whose rows are cards on a narrow screen. */
export function StreamHistory() {
  const history = useStreamHistory();
  const now = useNow(TICK_MS);
  const streams = history.data?.pages.flatMap((page) => page.streams);
  return (
    <section aria-labelledby="history-heading" className="flex flex-col gap-3">
      <h2 id="history-heading" className="text-base font-semibold">
        History
      </h2>
      {history.error && (
        <Notice>
          {history.data && "This list may be out of date. "}
          {messageOf(history.error)}
        </Notice>
      )}
      {history.isPending && <Skeleton className="h-32 w-full rounded-lg" />}
      {streams?.length === 0 && <p className="text-[13px] text-faint">Nothing has been streamed yet.</p>}
      {streams !== undefined && streams.length > 0 && (
        // The roles are lost where the parts of a table are not displayed as such, so they are named.
        <table
          role="table"
          aria-labelledby="history-heading"
          className="w-full rounded-lg border border-line bg-surface text-left text-[13px] max-md:block md:border-separate md:border-spacing-0"
        >
          <thead role="rowgroup" className="text-xs text-faint max-md:sr-only">
            <tr role="row">
              {COLUMNS.map((column) => (
                <th
                  key={column}
                  role="columnheader"
                  scope="col"
                  className={cx("px-3 py-2 font-medium whitespace-nowrap", isNumber(column) && "text-right")}
                >
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup" className="max-md:block">
            {streams.map((stream) => (
              <StreamRow key={stream.id} stream={stream} now={now} />
            ))}
          </tbody>
        </table>
      )}
      {history.hasNextPage && (
        <Button
          className="self-center"
          disabled={history.isFetchingNextPage}
          onClick={() => void history.fetchNextPage()}
        >
          {history.isFetchingNextPage ? "Loading…" : "Load more"}
        </Button>
      )}
    </section>
  );
}

function isNumber(column: (typeof COLUMNS)[number]): boolean {
  return column === "Duration" || column === "Cost";
}

function StreamRow({ stream, now }: { stream: Stream; now: number }) {
  return (
    <tr role="row" className="max-md:block max-md:border-t max-md:border-line max-md:p-3 max-md:first:border-t-0">
      <Cell label="State">
        <StreamBadge state={stream.state} />
      </Cell>
      <td role="cell" className="w-full max-w-0 px-3 py-2 align-top max-md:block max-md:max-w-none max-md:px-0 md:border-t md:border-line">
        <a
          href={stream.url}
          target="_blank"
          rel="noreferrer"
          title={stream.url}
          className="block truncate font-medium underline-offset-2 hover:underline"
        >
          {shortLink(stream.url)}
        </a>
        <div className="truncate text-soft">
          {placeOf(stream)}
          {stream.session !== null && (
            <>
              {" · "}
              <Link
                to="/sessions/$sessionId"
                params={{ sessionId: stream.session }}
                className="underline underline-offset-2 hover:text-ink"
              >
                session
              </Link>
            </>
          )}
        </div>
        {stream.error_code !== null && (
          <div className="mt-0.5 text-bad [overflow-wrap:anywhere]">
            {sentence(stream.error_message ?? "")} <code className="text-xs text-faint">{stream.error_code}</code>
          </div>
        )}
      </td>
      <Cell label="Asked by">
        <span className="font-mono text-xs text-soft">{stream.requester_id ?? "–"}</span>
      </Cell>
      <Cell label="Start">
        <TimeAgo at={stream.started_at ?? stream.created_at} />
      </Cell>
      <Cell label="Duration" isNumber>
        {watchedFor(stream, now)}
      </Cell>
      <Cell label="Cost" isNumber>
        {formatUsd(stream.cost_usd)}
      </Cell>
    </tr>
  );
}

/** A cell, which says what it shows where there is no head above it. */
function Cell({ label, isNumber = false, children }: { label: string; isNumber?: boolean; children: ReactNode }) {
  return (
    <td
      role="cell"
      className={cx(
        "px-3 py-2 align-top whitespace-nowrap max-md:flex max-md:justify-between max-md:px-0 max-md:py-0.5 md:border-t md:border-line",
        isNumber && "tabular-nums md:text-right",
      )}
    >
      <span aria-hidden className="text-faint md:hidden">
        {label}
      </span>
      <span>{children}</span>
    </td>
  );
}
