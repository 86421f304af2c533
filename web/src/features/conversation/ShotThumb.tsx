import { blobUrl } from "../../api/urls";
import { cx } from "../../lib/cx";
import type { Shot } from "./items";

interface ShotThumbProps {
  shot: Shot;
  /** The sentence of the call that took it, if it belongs to one. */
  words?: string | undefined;
  onOpen: (id: number) => void;
  className?: string;
}

/** A thumbnail of the screen that opens the full picture. */
export function ShotThumb({ shot, words, onOpen, className }: ShotThumbProps) {
  return (
    <button
      type="button"
      aria-label="Enlarge screenshot"
      title={words}
      onClick={() => onOpen(shot.id)}
      className={cx(
        "block overflow-hidden bg-sunken -outline-offset-2 hover:brightness-95",
        className,
      )}
    >
      <img
        src={blobUrl(shot.blob)}
        width={shot.width}
        height={shot.height}
        loading="lazy"
        decoding="async"
        alt=""
        className="h-full w-full object-cover"
      />
    </button>
  );
}
