import type RFB from "@novnc/novnc";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

import { type Backoff, backoffMs } from "../../lib/backoff";

/** The state of the connection. `lost` waits for the next attempt. */
export type ScreenConnection = "connecting" | "connected" | "lost";

export interface ScreenSize {
  width: number;
  height: number;
}

interface RfbOptions {
  target: RefObject<HTMLDivElement | null>;
  /** `null` while there is nothing to connect to. */
  url: string | null;
  isWatching: boolean;
  onLost: () => void;
}

interface Rfb {
  connection: ScreenConnection;
  size: ScreenSize | null;
  retryNow: () => void;
  /** Presses and releases a key, given by its keysym. */
  typeKey: (keysym: number) => void;
  /** Presses or releases a key. */
  sendKey: (keysym: number, code: string, isDown: boolean) => void;
}

const BACKOFF: Backoff = { firstMs: 500, longestMs: 10_000 };

/** Keys that may be down when the keyboard is handed back. They must not stay pressed on the remote side. */
const HELD: readonly (readonly [keysym: number, code: string])[] = [
  [0xffe1, "ShiftLeft"],
  [0xffe2, "ShiftRight"],
  [0xffe3, "ControlLeft"],
  [0xffe4, "ControlRight"],
  [0xffe9, "AltLeft"],
  [0xffea, "AltRight"],
  [0xfe03, "AltRight"],
];

/** Draws a VNC screen into `target`, and reconnects when the connection is lost. */
export function useRfb({ target, url, isWatching, onLost }: RfbOptions): Rfb {
  const [connection, setConnection] = useState<ScreenConnection>("connecting");
  const [size, setSize] = useState<ScreenSize | null>(null);
  const rfb = useRef<RFB | null>(null);
  const retry = useRef<(() => void) | null>(null);
  const watching = useRef(isWatching);

  useEffect(() => {
    const place = target.current;
    if (!place || url === null) return;
    let isOver = false;
    let n_failed = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;

    const lost = () => {
      rfb.current = null;
      if (isOver) return;
      setConnection("lost");
      onLost();
      timer = setTimeout(connect, backoffMs(n_failed, BACKOFF));
      n_failed += 1;
      retry.current = connect;
    };
    const connect = () => {
      clearTimeout(timer);
      retry.current = null;
      setConnection("connecting");
      void open(place, url, {
        isWanted: () => !isOver,
        onOpened: (opened) => {
          rfb.current = opened;
          opened.viewOnly = watching.current;
        },
        onConnected: () => {
          n_failed = 0;
          setConnection("connected");
          setSize(sizeOf(place));
        },
        onLost: lost,
      });
    };
    connect();
    return () => {
      isOver = true;
      clearTimeout(timer);
      retry.current = null;
      rfb.current?.disconnect();
      rfb.current = null;
    };
  }, [target, url, onLost]);

  useEffect(() => {
    watching.current = isWatching;
    const screen = rfb.current;
    if (!screen || screen.viewOnly === isWatching) return;
    if (isWatching) for (const [keysym, code] of HELD) screen.sendKey(keysym, code, false);
    screen.viewOnly = isWatching;
    if (!isWatching) screen.focus({ preventScroll: true });
  }, [isWatching]);

  const retryNow = useCallback(() => retry.current?.(), []);
  const typeKey = useCallback((keysym: number) => rfb.current?.sendKey(keysym, ""), []);
  const sendKey = useCallback(
    (keysym: number, code: string, isDown: boolean) => rfb.current?.sendKey(keysym, code, isDown),
    [],
  );
  return { connection, size, retryNow, typeKey, sendKey };
}

interface OpenHandlers {
  isWanted: () => boolean;
  onOpened: (rfb: RFB) => void;
  onConnected: () => void;
  onLost: () => void;
}

/** Connects to a screen. noVNC is a large part of the page's code, so it is loaded with the first screen. */
async function open(place: HTMLElement, url: string, handlers: OpenHandlers): Promise<void> {
  let Screen: typeof RFB;
  try {
    ({ default: Screen } = await import("@novnc/novnc"));
  } catch {
    // The file could not be loaded, for example because the server is away. It is retried like the
    // screen.
    handlers.onLost();
    return;
  }
  if (!handlers.isWanted()) return;
  const rfb = new Screen(place, url, { shared: true });
  rfb.scaleViewport = true;
  rfb.background = "transparent";
  rfb.addEventListener("connect", handlers.onConnected);
  rfb.addEventListener("disconnect", handlers.onLost);
  handlers.onOpened(rfb);
}

function sizeOf(place: HTMLElement): ScreenSize | null {
  const canvas = place.querySelector("canvas");
  return canvas && canvas.width > 0 ? { width: canvas.width, height: canvas.height } : null;
}
