import { cx } from "../lib/cx";

/** A grey bar in place of content that is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cx("animate-pulse rounded-md bg-hover", className)} />;
}
