import { Hand, MousePointerClick, Plus } from "lucide-react";

import { Avatar } from "../../components/Avatar";
import { Button } from "../../components/Button";
import { cx } from "../../lib/cx";
import { formatElapsed } from "../../lib/time";
import { useNow } from "../../lib/useNow";
import type { Control } from "./control";

interface ControlOwnerProps {
  control: Control;
}

/** Shows who has control of the mouse and the keyboard, and for how long. */
export function ControlOwner({ control }: ControlOwnerProps) {
  if (control.holder === "nobody") return null;
  if (control.holder === "agent") {
    return <span className="truncate text-xs text-faint">The agent has control</span>;
  }
  const isMine = control.holder === "me";
  return (
    <span
      className={cx(
        "inline-flex min-w-0 items-center gap-1.5 overflow-hidden text-xs",
        isMine ? "text-accent" : "text-soft",
      )}
    >
      {isMine ? (
        <MousePointerClick aria-hidden className="size-3.5 shrink-0" />
      ) : (
        <span aria-hidden className="contents">
          <Avatar name={control.name} className="size-4.5! text-[10px]!" />
        </span>
      )}
      <span className={cx("truncate", isMine && "max-sm:sr-only")}>
        {isMine ? "You have control" : `${control.name} has control`}
        {!isMine && <span className="max-md:hidden">, you are watching</span>}
        {isMine && <span className="max-md:hidden">, other programs are paused</span>}
      </span>
      <TimeLeft until={control.until} />
    </span>
  );
}

function TimeLeft({ until }: { until: string }) {
  const now = useNow(1000);
  return (
    <span
      role="timer"
      aria-label="Time left"
      className="shrink-0 whitespace-nowrap text-faint tabular-nums"
    >
      {formatElapsed(Date.parse(until) - now)}
    </span>
  );
}

interface ControlButtonsProps {
  control: Control;
  /** True if there is a screen to use. */
  isLive: boolean;
  /** True if control may be taken from another person. */
  mayForce: boolean;
  isChanging: boolean;
  onTake: () => void;
  onHandBack: () => void;
}

/** The buttons for taking, extending and handing back control. */
export function ControlButtons(props: ControlButtonsProps) {
  const { control, isLive, mayForce, isChanging, onTake, onHandBack } = props;
  if (control.holder === "me") {
    return (
      <>
        <Button look="ghost" disabled={isChanging} onClick={onTake} aria-label="Keep for 5 min">
          <Plus aria-hidden className="size-3.5" /> <span className="max-sm:hidden">5 min</span>
        </Button>
        <Button look="primary" disabled={isChanging} onClick={onHandBack}>
          <Hand aria-hidden className="size-3.5" /> Hand back
        </Button>
      </>
    );
  }
  const isTaken = control.holder === "other";
  return (
    <Button
      disabled={!isLive || isChanging || (isTaken && !mayForce)}
      onClick={onTake}
      title={isTaken && !mayForce ? `${control.name} has control` : undefined}
      aria-label={isTaken ? `Take over from ${control.name}` : "Take over"}
    >
      <MousePointerClick aria-hidden className="size-3.5" /> Take over
    </Button>
  );
}
