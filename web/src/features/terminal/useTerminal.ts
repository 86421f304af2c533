import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

import type { Terminal, TerminalReadOnly } from "../../api/types";
import { copyText } from "../../lib/copyText";
import { connectTerminal, type TerminalConnection, type TerminalSocket } from "./connectTerminal";
import { type Emulator, makeEmulator } from "./emulator";
import { useTerminalTheme } from "./theme";

interface TerminalOptions {
  place: RefObject<HTMLDivElement | null>;
  url: string;
  onLost: () => void;
  onSearch: () => void;
  /** Called when the user wants to leave the terminal with the keyboard. */
  onLeave: () => void;
}

export interface ShownTerminal {
  connection: TerminalConnection;
  /** The terminal as the server last described it. */
  state: Terminal | null;
  readOnly: TerminalReadOnly | null;
  hasSelection: boolean;
  emulator: RefObject<Emulator | null>;
  retryNow: () => void;
  focus: () => void;
}

const MISSED = "\x18\x1b[0m\r\n\x1b[2m[some output came too fast and is left out]\x1b[0m\r\n";
/** The time without a change after which a new size is sent. */
const RESIZE_AFTER_MS = 80;

/** Shows a terminal in `place` and keeps it connected. */
export function useTerminal({ place, url, onLost, onSearch, onLeave }: TerminalOptions): ShownTerminal {
  const theme = useTerminalTheme();
  const [connection, setConnection] = useState<TerminalConnection>("connecting");
  const [state, setState] = useState<Terminal | null>(null);
  const [readOnly, setReadOnly] = useState<TerminalReadOnly | null>(null);
  const emulator = useRef<Emulator | null>(null);
  const socket = useRef<TerminalSocket | null>(null);
  const handlers = useRef({ onLost, onSearch, onLeave });
  const [hasSelection, setHasSelection] = useState(false);

  useEffect(() => {
    handlers.current = { onLost, onSearch, onLeave };
  }, [onLost, onSearch, onLeave]);

  useEffect(() => {
    const target = place.current;
    if (!target) return;
    const made = makeEmulator();
    const { terminal } = made;
    const encoder = new TextEncoder();
    let canType = false;
    let isAgent = false;
    let isSized = false;
    terminal.open(target);
    emulator.current = made;

    // The size is that of whoever connected, resized or typed last. Those who only watch follow it.
    const sendSize = () => {
      // Those who follow another's size see all of it, in smaller letters where it is larger than their place.
      if (!canType && !isAgent) return made.shrinkToFit();
      const size = made.fittingSize();
      if (size === null) return;
      if (isAgent) terminal.resize(size.cols, size.rows);
      if (!canType || (size.cols === terminal.cols && size.rows === terminal.rows && isSized)) return;
      isSized = true;
      terminal.resize(size.cols, size.rows);
      connected.request({ type: "resize", ...size });
    };
    const type = (bytes: Uint8Array) => {
      if (!canType) return;
      sendSize();
      made.noteTyped();
      connected.type(bytes);
    };
    const connected = connectTerminal(url, {
      onConnection: (now) => {
        setConnection(now);
        if (now !== "connected") terminal.options.disableStdin = true;
        if (now === "gone" || now === "lost") handlers.current.onLost();
      },
      onOutput: (bytes) => terminal.write(bytes),
      onMessage: (message) => {
        if (message.type === "replay") {
          if (message.missed) terminal.write(MISSED);
          else terminal.reset();
          return;
        }
        const { size, number } = message.terminal;
        isAgent = number === 0;
        canType = message.read_only === undefined;
        terminal.options.disableStdin = !canType;
        setState(message.terminal);
        setReadOnly(message.read_only ?? null);
        if (!isAgent) terminal.resize(size.cols, size.rows);
        if (isAgent || (canType && !isSized)) sendSize();
        else made.shrinkToFit();
      },
    });
    socket.current = connected;

    terminal.onData((text) => type(encoder.encode(text)));
    // A search clears the selection and makes it again, and tells only of the first if it is the same.
    terminal.onSelectionChange(() => queueMicrotask(() => setHasSelection(terminal.hasSelection())));
    terminal.onBinary((text) => type(Uint8Array.from(text, (byte) => byte.charCodeAt(0))));
    terminal.attachCustomKeyEventHandler((event) => keep(event, made, handlers.current));

    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(sendSize, RESIZE_AFTER_MS);
    });
    observer.observe(target);
    return () => {
      observer.disconnect();
      clearTimeout(timer);
      connected.close();
      terminal.dispose();
      emulator.current = null;
      socket.current = null;
    };
  }, [place, url]);

  useEffect(() => {
    if (emulator.current) emulator.current.terminal.options.theme = theme;
  }, [theme]);

  const retryNow = useCallback(() => socket.current?.retryNow(), []);
  const focus = useCallback(() => emulator.current?.terminal.focus(), []);
  return { connection, state, readOnly, hasSelection, emulator, retryNow, focus };
}

type KeyHandlers = Pick<TerminalOptions, "onSearch" | "onLeave">;

/** Keeps some keys from the terminal: those that copy, search and leave it. Returns true for all others. */
function keep(event: KeyboardEvent, { terminal }: Emulator, handlers: KeyHandlers): boolean {
  if (!event.ctrlKey || !event.shiftKey || event.altKey || event.metaKey) return true;
  const run = {
    KeyC: () => terminal.hasSelection() && void copyText(terminal.getSelection()),
    KeyF: handlers.onSearch,
    ArrowUp: handlers.onLeave,
  }[event.code];
  if (run === undefined) return true;
  if (event.type === "keydown") {
    event.preventDefault();
    run();
  }
  return false;
}
