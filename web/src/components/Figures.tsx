import type { ReactNode } from "react";

import { cx } from "../lib/cx";

/** A list of labelled numbers. */
export function Figures({ label, className, children }: {
  label: string;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <dl aria-label={label} className={cx("flex flex-col gap-1.5 text-soft", className)}>
      {children}
    </dl>
  );
}

interface FigureProps {
  label: string;
  children: ReactNode;
  /** True if the limit is reached. */
  isFull?: boolean;
  /** True if it is a part of the previous one. */
  isPart?: boolean;
}

export function Figure({ label, children, isFull = false, isPart = false }: FigureProps) {
  return (
    <div className="flex items-baseline gap-4">
      <dt className={cx("flex-1", isPart && "pl-3 text-faint")}>{label}</dt>
      <dd className={cx("text-right tabular-nums", isFull ? "font-medium text-warn" : "text-faint")}>
        {children}
      </dd>
    </div>
  );
}
