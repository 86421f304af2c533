import { cx } from "../lib/cx";

interface AvatarProps {
  name: string;
  className?: string | undefined;
}

/** Shows a person as the first letter of their name. Their colour is the same everywhere. */
export function Avatar({ name, className }: AvatarProps) {
  return (
    <span
      role="img"
      aria-label={name}
      title={name}
      style={{ backgroundColor: `hsl(${hue(name)} 45% 38%)` }}
      className={cx(
        "inline-grid size-7 shrink-0 place-items-center rounded-full text-xs font-semibold text-white uppercase",
        className,
      )}
    >
      {[...name][0] ?? "?"}
    </span>
  );
}

function hue(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  return sum;
}
