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
        <MousePointerClick aria-hidden className="size-3.5 shrink-0 @max-md:hidden" />
      ) : (
        <span aria-hidden className="contents">
          <Avatar name={control.name} className="size-4.5! text-[10px]!" />
        </span>
      )}
      <span className="truncate">
        {isMine ? "You have control" : `${control.name} has control`}
        {!isMine && <span className="@max-xl:hidden">, you are watching</span>}
        {isMine && <span className="@max-2xl:hidden">, other programs are paused</span>}
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
  const isMine = control.holder === "me";
  const isTaken = control.holder === "other";
  // One button for both directions, and not disabled in between, so that it keeps the focus.
  const change = () => {
    if (isChanging) return;
    if (isMine) onHandBack();
    else onTake();
  };
  return (
    <>
      {isMine && (
        <Button
          look="ghost"
          disabled={isChanging}
          onClick={onTake}
          aria-label="Keep for 5 min"
          className="@max-lg:px-1.5"
        >
          <Plus aria-hidden className="size-3.5" /> <span className="@max-lg:hidden">5 min</span>
        </Button>
      )}
      <Button
        key="change"
        look={isMine ? "primary" : "secondary"}
        disabled={!isMine && (!isLive || (isTaken && !mayForce))}
        aria-disabled={isChanging}
        onClick={change}
        title={isTaken && !mayForce ? `${control.name} has control` : undefined}
        aria-label={isTaken ? `Take over from ${control.name}` : undefined}
        aria-keyshortcuts={isMine ? "Control+Alt+W" : undefined}
        className="aria-disabled:opacity-50"
      >
        {isMine ? (
          <>
            <Hand aria-hidden className="size-3.5" /> Hand back
            <span aria-hidden className="font-normal opacity-70 @max-2xl:hidden">
              Ctrl+Alt+W
            </span>
          </>
        ) : (
          <>
            <MousePointerClick aria-hidden className="size-3.5" /> Take over
          </>
        )}
      </Button>
    </>
  );
}
