import { useLimits } from "../../api/account";
import { cx } from "../../lib/cx";

/** How much of one's limits is used, in two quiet lines. */
export function LimitsInUse({ className }: { className?: string }) {
  const limits = useLimits().data;
  if (!limits) return null;
  const { awake_sessions: awake, sessions_per_day: today } = limits;
  return (
    <dl aria-label="What you use" className={cx("flex flex-col gap-1.5 text-xs text-soft", className)}>
      <Used label="Desktops awake" {...awake} />
      <Used label="New sessions in 24 h" {...today} />
    </dl>
  );
}

function Used({ label, used, limit }: { label: string; used: number; limit: number }) {
  const isFull = used >= limit;
  return (
    <div className="flex items-baseline gap-4">
      <dt className="flex-1">{label}</dt>
      <dd className={cx("tabular-nums", isFull ? "font-medium text-warn" : "text-faint")}>
        {used} of {limit}
      </dd>
    </div>
  );
}
