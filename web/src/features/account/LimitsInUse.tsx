import { useLimits, useUsage } from "../../api/account";
import type { UsedOfLimit } from "../../api/types";
import { Figure, Figures } from "../../components/Figures";
import { cx } from "../../lib/cx";
import { usdOf } from "../../lib/money";

interface LimitsInUseProps {
  /** Also shows the cost of models today. */
  withMoney?: boolean;
  className?: string;
}

/** Shows how much of the user's limits is used, in a few small lines. */
export function LimitsInUse({ withMoney = false, className }: LimitsInUseProps) {
  const limits = useLimits().data;
  const money = useUsage({ enabled: withMoney }).data?.today.usd;
  if (!limits) return null;
  return (
    <Figures label="Your usage" className={cx("text-xs", className)}>
      <Used label="Desktops awake" {...limits.awake_sessions} />
      <Used label="New sessions in 24 h" {...limits.sessions_per_day} />
      {withMoney && money && (
        <Figure label="Models today" isFull={money.limit !== null && money.used >= money.limit}>
          {usdOf(money.used, money.limit)}
        </Figure>
      )}
    </Figures>
  );
}

function Used({ label, used, limit }: UsedOfLimit & { label: string }) {
  return (
    <Figure label={label} isFull={used >= limit}>
      {used} of {limit}
    </Figure>
  );
}
