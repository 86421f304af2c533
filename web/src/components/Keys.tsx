import { cx } from "../lib/cx";

/** Shows keys to press together. */
export function Keys({ names, className }: { names: readonly string[]; className?: string }) {
  return (
    <span className={cx("inline-flex shrink-0 items-center gap-1", className)}>
      {names.map((name) => (
        <kbd
          key={name}
          className="grid h-5 min-w-5 place-items-center rounded border border-line-strong bg-surface px-1 font-sans text-[11px] leading-none text-soft"
        >
          {name}
        </kbd>
      ))}
    </span>
  );
}
