import { useUsage } from "../../api/account";
import { messageOf } from "../../api/client";
import { Figure, Figures } from "../../components/Figures";
import { Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { formatTokens, formatUsd, tokensOf, usdOf } from "../../lib/money";
import { formatMoment } from "../../lib/time";

/** Shows the usage of models in the user's sessions, and the budget for today. */
export function Usage() {
  const usage = useUsage({ enabled: true });
  const { today, month, next_day_at } = usage.data ?? {};
  return (
    <section aria-labelledby="usage-heading" className="flex flex-col gap-3">
      <h2 id="usage-heading" className="text-base font-semibold">
        Usage
      </h2>
      {usage.error && <Notice>{messageOf(usage.error)}</Notice>}
      {usage.isPending && <Skeleton className="h-24 w-full" />}
      {today && month && next_day_at && (
        <>
          <p className="text-soft">
            Usage of models in your sessions.{" "}
            {(today.usd.limit ?? today.tokens.limit) !== null &&
              "An agent that reaches the daily limit waits for an administrator, or for the next day. "}
            The next day begins {formatMoment(next_day_at)}.
          </p>
          <Figures
            label="Your usage of models"
            className="rounded-lg border border-line bg-surface px-3 py-2.5 text-[13px]"
          >
            <Figure label="Today" isFull={isUsedUp(today.usd)}>
              {usdOf(today.usd.used, today.usd.limit)}
            </Figure>
            <Figure label="in tokens" isPart isFull={isUsedUp(today.tokens)}>
              {tokensOf(today.tokens.used, today.tokens.limit)}
            </Figure>
            <Figure label="This month">{formatUsd(month.usd)}</Figure>
            <Figure label="in tokens" isPart>
              {formatTokens(month.tokens)}
            </Figure>
          </Figures>
        </>
      )}
    </section>
  );
}

function isUsedUp({ used, limit }: { used: number; limit: number | null }): boolean {
  return limit !== null && used >= limit;
}
