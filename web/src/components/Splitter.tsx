import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useState,
} from "react";

import { cx } from "../lib/cx";

interface SplitterProps {
  label: string;
  /** `vertical` stands between left and right, `horizontal` lies between top and bottom. */
  orientation?: "vertical" | "horizontal";
  /** The share of the first part, in percent. */
  value: number;
  min: number;
  max: number;
  container: RefObject<HTMLElement | null>;
  /** The stretch of `container` that is divided, as fractions of it. All of it if not given. */
  stretch?: { from: number; size: number };
  onChange: (value: number) => void;
  /** Called when the pointer begins and ends to move the line. */
  onDrag?: (isDragging: boolean) => void;
  style?: CSSProperties;
  className?: string;
}

const STEP = 2;
const WHOLE = { from: 0, size: 1 };

const LOOKS = {
  vertical: "w-px after:inset-y-0 after:-left-1.5 after:w-3 after:cursor-col-resize",
  horizontal: "h-px after:inset-x-0 after:-top-1.5 after:h-3 after:cursor-row-resize",
};

/** The line between two parts of the page, moved with the pointer or the arrow keys. */
export function Splitter(props: SplitterProps) {
  const { orientation = "vertical", value, min, max, container, stretch = WHOLE, onChange } = props;
  const [isDragging, setIsDragging] = useState(false);
  const change = (next: number) =>
    onChange(Math.round(Math.min(max, Math.max(min, next)) * 10) / 10);
  const drag = (isMoving: boolean) => {
    if (isMoving === isDragging) return;
    setIsDragging(isMoving);
    props.onDrag?.(isMoving);
  };

  const onPointerMove = (event: PointerEvent) => {
    const box = container.current?.getBoundingClientRect();
    if (!isDragging || !box) return;
    const at =
      orientation === "vertical"
        ? (event.clientX - box.left) / box.width
        : (event.clientY - box.top) / box.height;
    change(((at - stretch.from) / stretch.size) * 100);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isVertical = orientation === "vertical";
    const steps: Record<string, number> = {
      [isVertical ? "ArrowLeft" : "ArrowUp"]: value - STEP,
      [isVertical ? "ArrowRight" : "ArrowDown"]: value + STEP,
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
      aria-orientation={orientation}
      aria-valuenow={Math.round(value)}
      aria-valuemin={min}
      aria-valuemax={max}
      onKeyDown={onKeyDown}
      onPointerMove={onPointerMove}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(true);
      }}
      onPointerUp={() => drag(false)}
      onPointerCancel={() => drag(false)}
      style={props.style}
      className={cx(
        "touch-none bg-line select-none after:absolute hover:bg-accent",
        LOOKS[orientation],
        isDragging && "bg-accent",
        props.className ?? "relative",
      )}
    />
  );
}
