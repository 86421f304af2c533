import { ChevronDown, Eye, Maximize, Minimize, MousePointerClick } from "lucide-react";
import type { ReactNode, RefObject } from "react";

import { Button } from "../../components/Button";
import { cx } from "../../lib/cx";
import type { ScreenMode } from "./screenMode";
import { useFullscreen } from "./useFullscreen";

interface ScreenBarProps {
  pane: RefObject<HTMLElement | null>;
  mode: ScreenMode;
  isLive: boolean;
  mayUse: boolean;
  isUsing: boolean;
  onUse: (isUsing: boolean) => void;
  isFolded: boolean;
  onFold: (isFolded: boolean) => void;
}

/** Above the screen: what it shows, who uses it, and how large. */
export function ScreenBar({
  pane,
  mode,
  isLive,
  mayUse,
  isUsing,
  onUse,
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
      <span className="font-medium">Screen</span>
      {isLive && (
        <span className="inline-flex items-center gap-1.5 text-xs text-good">
          <span aria-hidden className="size-1.5 rounded-full bg-current" /> Live
        </span>
      )}
      {isUsing && (
        <span className="hidden truncate text-xs text-faint xl:inline">
          Ctrl+Alt+W gives your keyboard back
        </span>
      )}
      <div className="ml-auto flex items-center gap-1.5">
        {mode !== "off" && mayUse && (
          <div
            role="group"
            aria-label="Screen control"
            className="flex rounded-lg border border-line bg-sunken p-0.5"
          >
            <Segment isOn={!isUsing} onClick={() => onUse(false)} label="Watch" isEnabled>
              <Eye aria-hidden className="size-3.5" />
              <span>Watch</span>
            </Segment>
            <Segment
              isOn={isUsing}
              onClick={() => onUse(true)}
              label="Use mouse and keyboard"
              isEnabled={isLive}
            >
              <MousePointerClick aria-hidden className="size-3.5" />
              <span className="sm:hidden">Use</span>
              <span className="hidden sm:inline">Use mouse and keyboard</span>
            </Segment>
          </div>
        )}
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

interface SegmentProps {
  isOn: boolean;
  isEnabled: boolean;
  label: string;
  onClick: () => void;
  children: ReactNode;
}

function Segment({ isOn, isEnabled, label, onClick, children }: SegmentProps) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      aria-label={label}
      disabled={!isEnabled}
      onClick={onClick}
      className={cx(
        "inline-flex h-6.5 items-center gap-1.5 rounded-md px-2.5 text-xs font-medium disabled:opacity-50",
        isOn ? "bg-knob text-ink shadow-sm" : "text-soft hover:text-ink",
      )}
    >
      {children}
    </button>
  );
}
