import { useLimits } from "../../api/account";
import { messageOf } from "../../api/client";
import { Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { formatElapsed } from "../../lib/time";
import { LimitsInUse } from "../account/LimitsInUse";

/** Shows the user's limits and how much of them is used. */
export function Limits() {
  const limits = useLimits();
  return (
    <section aria-labelledby="limits-heading" className="flex flex-col gap-3">
      <h2 id="limits-heading" className="text-base font-semibold">
        Limits
      </h2>
      {limits.error && <Notice>{messageOf(limits.error)}</Notice>}
      {limits.isPending && <Skeleton className="h-12 w-full" />}
      {limits.data && (
        <>
          <p className="text-soft">
            A desktop falls asleep when it has been idle for{" "}
            {formatElapsed(limits.data.idle_seconds * 1000)} and wakes with your next message. After{" "}
            {formatElapsed(limits.data.life_seconds * 1000)} it is restarted. Its files are kept.
          </p>
          <LimitsInUse className="rounded-lg border border-line bg-surface px-3 py-2.5 text-[13px]" />
        </>
      )}
    </section>
  );
}
