import { type KeyboardEvent, type PointerEvent, type RefObject, useState } from "react";

import { cx } from "../lib/cx";

interface SplitterProps {
  label: string;
  /** The share of `container` on the left, in percent. */
  value: number;
  min: number;
  max: number;
  container: RefObject<HTMLElement | null>;
  onChange: (value: number) => void;
  className?: string;
}

const STEP = 2;

/** The line between two panes, moved with the pointer or the arrow keys. */
export function Splitter(props: SplitterProps) {
  const { value, min, max, container, onChange } = props;
  const [isDragging, setIsDragging] = useState(false);
  const change = (next: number) =>
    onChange(Math.round(Math.min(max, Math.max(min, next)) * 10) / 10);

  const onPointerMove = (event: PointerEvent) => {
    const box = container.current?.getBoundingClientRect();
    if (!isDragging || !box) return;
    change(((event.clientX - box.left) / box.width) * 100);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowLeft: value - STEP,
      ArrowRight: value + STEP,
      Home: min,
      End: max,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    change(next);
  };

  return (
    // A separator that can be focused and moved is a control in ARIA.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      role="separator"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      aria-label={props.label}
      aria-orientation="vertical"
      aria-valuenow={Math.round(value)}
      aria-valuemin={min}
      aria-valuemax={max}
      onKeyDown={onKeyDown}
      onPointerMove={onPointerMove}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setIsDragging(true);
      }}
      onPointerUp={() => setIsDragging(false)}
      onPointerCancel={() => setIsDragging(false)}
      className={cx(
        "relative w-px touch-none bg-line select-none",
        "after:absolute after:inset-y-0 after:-left-1.5 after:w-3 after:cursor-col-resize",
        "hover:bg-accent",
        isDragging && "bg-accent",
        props.className,
      )}
    />
  );
}
