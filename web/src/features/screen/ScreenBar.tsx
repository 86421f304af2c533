import { Maximize, Minimize } from "lucide-react";
import type { ReactNode, RefObject } from "react";

import { Button } from "../../components/Button";
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
}

/** The bar above the screen: its state, the person in control, and its size. */
export function ScreenBar({ pane, mode, isLive, owner, buttons }: ScreenBarProps) {
  const { isFullscreen, toggle, isPossible } = useFullscreen(pane);
  return (
    <div className="flex h-11 shrink-0 items-center gap-2.5 px-3 text-[13px] @max-md:gap-1.5">
      {isLive && (
        <span className="inline-flex shrink-0 items-center gap-1.5 text-xs text-good @max-lg:hidden">
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
