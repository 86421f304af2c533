import type { ComponentProps } from "react";

import { cx } from "../lib/cx";

type Look = "primary" | "secondary" | "ghost" | "danger";

const LOOKS: Record<Look, string> = {
  primary: "bg-ink text-surface hover:opacity-85",
  secondary: "border border-line-strong bg-surface text-ink hover:bg-hover",
  ghost: "text-soft hover:bg-hover hover:text-ink",
  danger: "bg-[#b3261e] text-white hover:opacity-90",
};

export interface ButtonProps extends ComponentProps<"button"> {
  look?: Look;
  /** Makes a square button for one icon. It needs an `aria-label`. */
  square?: boolean;
}

export function Button({ look = "secondary", square = false, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={cx(
        "inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md text-[13px] font-medium whitespace-nowrap transition-[background-color,opacity] disabled:pointer-events-none disabled:opacity-50",
        square ? "w-8" : "px-3",
        LOOKS[look],
        className,
      )}
      {...rest}
    />
  );
}
