import { LoaderCircle, MonitorOff, RotateCw } from "lucide-react";
import { type CSSProperties, type KeyboardEvent, type ReactNode, useRef, useState } from "react";

import type { SandboxState, SessionState } from "../../api/types";
import { Button } from "../../components/Button";
import { cx } from "../../lib/cx";
import { ClipboardButton } from "./ClipboardButton";
import type { Control } from "./control";
import { ScreenBar } from "./ScreenBar";
import { offNote, type ScreenMode, screenMode } from "./screenMode";
import { TouchKeyboard } from "./TouchKeyboard";
import { type DesktopClipboard, useClipboard } from "./useClipboard";
import { type ScreenConnection, type ScreenSize, useRfb } from "./useRfb";

interface ScreenProps {
  state: SessionState;
  sandbox: SandboxState;
  control: Control;
  /** The person in control, and the buttons for it. */
  owner: ReactNode;
  buttons: ReactNode;
  /** The control of the desktop's sound. */
  sound: ReactNode;
  /** Buttons that start a desktop which does not run, if the user may. */
  start: ReactNode;
  onHandBack: () => void;
  clipboard: DesktopClipboard;
  /** A problem with control, or how it was lost. */
  notice: ReactNode;
  /** The URL of the live screen's WebSocket. */
  liveUrl: string;
  /** The URL of the newest picture, for when nothing is live. */
  lastPictureUrl: string;
  onLost: () => void;
}

const USUAL_SIZE: ScreenSize = { width: 1024, height: 768 };

/** The agent's desktop, for watching and for using it by hand. */
export function Screen(props: ScreenProps) {
  const { state, sandbox, control, liveUrl, lastPictureUrl, onHandBack, onLost } = props;
  const mode = screenMode(state, sandbox);
  const pane = useRef<HTMLElement>(null);
  const target = useRef<HTMLDivElement>(null);
  const isUsing = control.holder === "me" && mode === "live";
  const { connection, size, retryNow, typeKey, sendKey } = useRfb({
    target,
    url: mode === "live" ? liveUrl : null,
    isWatching: !isUsing,
    onLost,
  });
  const { width, height } = size ?? USUAL_SIZE;
  const pasting = useClipboard({ isUsing, clipboard: props.clipboard, sendKey });

  // noVNC takes every key, even Tab. Without this chord, the keyboard would never come back.
  const onKeyDown = (event: KeyboardEvent) => {
    pasting.onKeyDown(event);
    if (!isUsing || !event.ctrlKey || !event.altKey || event.code !== "KeyW") return;
    event.preventDefault();
    event.stopPropagation();
    onHandBack();
    pane.current?.querySelector<HTMLElement>("button:enabled")?.focus();
  };

  return (
    <section ref={pane} aria-label="Screen" className="@container flex h-full min-h-0 flex-col bg-page">
      <ScreenBar
        pane={pane}
        mode={mode}
        isLive={mode === "live" && connection === "connected"}
        owner={props.owner}
        buttons={
          <>
            {isUsing && <TouchKeyboard onKey={typeKey} />}
            {isUsing && <ClipboardButton clipboard={props.clipboard} />}
            {mode === "live" && props.sound}
            {props.buttons}
          </>
        }
      />
      {props.notice}
      <div
        className="flex min-h-0 flex-1 p-2 pt-0 @xl:p-3 @xl:pt-0"
        onKeyDownCapture={onKeyDown}
        onKeyUpCapture={pasting.onKeyUp}
        onPasteCapture={pasting.onPaste}
      >
        <div
          className="grid min-h-0 w-full flex-1 justify-items-center [container-type:size] in-[:fullscreen]:items-center"
          style={{ "--screen": `${width} / ${height}` } as CSSProperties}
        >
          <div
            className={cx(
              "relative aspect-(--screen) w-[min(100cqw,100cqh*var(--screen))] overflow-hidden rounded-lg border bg-sunken shadow-lift",
              isUsing ? "border-accent outline outline-accent" : "border-line-strong",
            )}
          >
            {/* While the user only watches, the pointer stays the page's own. */}
            <div
              ref={target}
              role="img"
              aria-label="Live screen of the agent's desktop"
              data-testid="screen"
              data-connection={mode === "live" ? connection : mode}
              data-owns-keys={isUsing ? "" : undefined}
              className={cx("absolute inset-0", !isUsing && "pointer-events-none")}
            />
            <ScreenCover
              mode={mode}
              connection={connection}
              isUsing={isUsing}
              onRetry={retryNow}
            >
              <LastPicture
                key={lastPictureUrl}
                src={lastPictureUrl}
                note={offNote(state, sandbox, "desktop")}
                start={props.start}
              />
            </ScreenCover>
          </div>
        </div>
      </div>
    </section>
  );
}

interface ScreenCoverProps {
  mode: ScreenMode;
  connection: ScreenConnection;
  /** True if the user has control. */
  isUsing: boolean;
  onRetry: () => void;
  /** Content for when there is no desktop. */
  children: ReactNode;
}

function ScreenCover({ mode, connection, isUsing, onRetry, children }: ScreenCoverProps) {
  if (mode === "off") return children;
  if (mode === "starting") return <Cover isBusy>The desktop is starting…</Cover>;
  if (connection === "connecting") return <Cover isBusy>Connecting to the screen…</Cover>;
  if (connection === "connected") return null;
  return (
    <Cover>
      The screen is disconnected. Trying again…
      {isUsing && <span>You keep control if you are back within 15 seconds.</span>}
      <Button onClick={onRetry}>
        <RotateCw aria-hidden className="size-3.5" /> Try again now
      </Button>
    </Cover>
  );
}

function Cover({ isBusy = false, children }: { isBusy?: boolean; children: ReactNode }) {
  return (
    <div
      role="status"
      className="absolute inset-0 flex flex-col items-center justify-center gap-3 bg-sunken p-4 text-center text-[13px] text-soft"
    >
      {isBusy && <LoaderCircle aria-hidden className="size-5 animate-spin text-accent" />}
      {children}
    </div>
  );
}

function LastPicture({ src, note, start }: { src: string; note: string; start: ReactNode }) {
  const [hasPicture, setHasPicture] = useState(true);
  return (
    <div className="absolute inset-0 grid place-items-center">
      {hasPicture && (
        <img
          src={src}
          alt="How the desktop looked last"
          onError={() => setHasPicture(false)}
          className="absolute inset-0 h-full w-full object-contain opacity-40 grayscale"
        />
      )}
      <div className="relative mx-4 flex max-w-sm flex-col gap-2.5 rounded-lg border border-line bg-raised px-3.5 py-2.5 text-[13px] shadow-lift">
        <div className="flex items-center gap-2.5">
          <MonitorOff aria-hidden className="size-4 shrink-0 text-faint" />
          {note}
        </div>
        {start && <div className="flex flex-wrap gap-2">{start}</div>}
      </div>
    </div>
  );
}
