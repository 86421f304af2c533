import { ChevronDown, Maximize, Minimize } from "lucide-react";
import type { ReactNode, RefObject } from "react";

import { Button } from "../../components/Button";
import { cx } from "../../lib/cx";
import type { ScreenMode } from "./screenMode";
import { useFullscreen } from "./useFullscreen";

interface ScreenBarProps {
  pane: RefObject<HTMLElement | null>;
  mode: ScreenMode;
  isLive: boolean;
  /** The person in control. */
  owner: ReactNode;
  /** The buttons for taking control and handing it back, if the user may. */
  buttons: ReactNode;
  isFolded: boolean;
  onFold: (isFolded: boolean) => void;
}

/** The bar above the screen: its state, the person in control, and its size. */
export function ScreenBar({
  pane,
  mode,
  isLive,
  owner,
  buttons,
  isFolded,
  onFold,
}: ScreenBarProps) {
  const { isFullscreen, toggle, isPossible } = useFullscreen(pane);
  return (
    <div className="flex h-11 shrink-0 items-center gap-2 px-3 text-[13px] lg:h-12 lg:px-4">
      <Button
        look="ghost"
        aria-expanded={!isFolded}
        aria-label={isFolded ? "Show the screen" : "Hide the screen"}
        square
        className="-ml-1.5 lg:hidden"
        onClick={() => onFold(!isFolded)}
      >
        <ChevronDown
          aria-hidden
          className={cx("size-4 transition-transform", isFolded && "-rotate-90")}
        />
      </Button>
      <span className="font-medium max-sm:sr-only">Screen</span>
      {isLive && (
        <span className="inline-flex shrink-0 items-center gap-1.5 text-xs text-good max-sm:hidden">
          <span aria-hidden className="size-1.5 rounded-full bg-current" /> Live
        </span>
      )}
      {owner}
      <div className="ml-auto flex shrink-0 items-center gap-1.5">
        {mode !== "off" && buttons}
        {isPossible && mode !== "off" && (
          <Button
            look="ghost"
            square
            aria-label={isFullscreen ? "Leave full screen" : "Full screen"}
            onClick={toggle}
          >
            {isFullscreen ? (
              <Minimize aria-hidden className="size-4" />
            ) : (
              <Maximize aria-hidden className="size-4" />
            )}
          </Button>
        )}
      </div>
    </div>
  );
}
