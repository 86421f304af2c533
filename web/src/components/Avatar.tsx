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
      style={{ backgroundColor: faceColour(name) }}
      className={cx(
        "inline-grid size-7 shrink-0 place-items-center rounded-full text-xs font-semibold text-white uppercase",
        className,
      )}
    >
      {[...name][0] ?? "?"}
    </span>
  );
}

/** The number of colours. Neighbours on the wheel can still be told apart. */
const N_COLOURS = 18;

/** Returns the colour of a person. All are equally light, so that white letters can be read on each. */
export function faceColour(name: string): string {
  // FNV-1a, which spreads names that are alike.
  let hash = 2_166_136_261;
  for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return `oklch(0.5 0.13 ${((hash >>> 8) % N_COLOURS) * (360 / N_COLOURS)})`;
}
