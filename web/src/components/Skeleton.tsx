import { cx } from "../lib/cx";

/** A grey bar in the place of what is being loaded. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cx("animate-pulse rounded-md bg-hover", className)} />;
}
