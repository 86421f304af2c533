import "@xterm/xterm/css/xterm.css";

import { LoaderCircle, RotateCw } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";

import type { TerminalReadOnly } from "../../api/types";
import { terminalUrl } from "../../api/urls";
import { Button } from "../../components/Button";
import { copyText } from "../../lib/copyText";
import { cx } from "../../lib/cx";
import { endWords, readOnlyWords } from "./readOnly";
import { TerminalSearch } from "./TerminalSearch";
import { type ShownTerminal, useTerminal } from "./useTerminal";

interface TerminalViewProps {
  sessionId: string;
  number: number;
  name: string;
  isShown: boolean;
  isSearching: boolean;
  onSearching: (isSearching: boolean) => void;
  /** The name of the person who has control, if somebody else has. */
  holder: string | null;
  /** The button that leads to typing, by the reason why the user cannot type. */
  remedies: Partial<Record<TerminalReadOnly, ReactNode>>;
  /** Called when the connection is lost: the terminal may be gone. */
  onLost: () => void;
}

/** One terminal with its state. */
export function TerminalView(props: TerminalViewProps) {
  const { sessionId, number, name, isShown, isSearching, onSearching, onLost } = props;
  const place = useRef<HTMLDivElement>(null);
  const url = terminalUrl(sessionId, number);
  // Tab belongs to the shell, so another key leads out: to the tab of this terminal.
  const onLeave = () =>
    panelOf(place.current)?.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]')?.focus();
  const shown = useTerminal({ place, url, onLost, onSearch: () => onSearching(true), onLeave });
  const { connection, readOnly, hasSelection, emulator, focus } = shown;

  useEffect(() => {
    if (isShown && connection === "connected" && readOnly === null && !isKeyboardElsewhere(place.current)) focus();
  }, [isShown, connection, readOnly, focus]);

  const copy = () => {
    const text = emulator.current?.terminal.getSelection() ?? "";
    void copyText(text);
    emulator.current?.terminal.clearSelection();
    focus();
  };
  const closeSearch = () => {
    onSearching(false);
    focus();
  };

  return (
    <div
      role="tabpanel"
      aria-label={name}
      data-testid={`terminal-${number}`}
      data-connection={connection}
      data-read-only={readOnly ?? ""}
      className={cx("absolute inset-0 flex flex-col", !isShown && "invisible")}
    >
      <div className="relative min-h-0 flex-1 bg-surface py-2 pl-3 dark:bg-sunken">
        {isSearching && isShown && <TerminalSearch emulator={emulator} onClose={closeSearch} />}
        <div ref={place} className="h-full overflow-auto" />
        {hasSelection && isShown && (
          <Button className="absolute right-4 bottom-3 animate-appear shadow-lift" onClick={copy}>
            Copy
          </Button>
        )}
      </div>
      <TerminalFoot shown={shown} holder={props.holder} remedies={props.remedies} />
    </div>
  );
}

function panelOf(place: HTMLElement | null): HTMLElement | null | undefined {
  return place?.closest("section");
}

/**
 * Returns true if the keyboard must stay where it is: at a field, a frame or the screen outside the panel, or at the
 * tabs, among which the arrow keys move.
 */
function isKeyboardElsewhere(place: HTMLElement | null): boolean {
  const active = document.activeElement;
  if (active === null) return false;
  if (panelOf(place)?.contains(active)) return active.matches('[role="tab"]:focus-visible');
  return active.matches("input, textarea, select, iframe, canvas, [contenteditable]");
}

interface TerminalFootProps {
  shown: ShownTerminal;
  holder: string | null;
  remedies: TerminalViewProps["remedies"];
}

/** Says why the user cannot type, if so. */
function TerminalFoot({ shown, holder, remedies }: TerminalFootProps) {
  const { connection, state, readOnly, retryNow } = shown;
  if (connection === "connecting" && state === null) {
    return (
      <Foot>
        <LoaderCircle aria-hidden className="size-3.5 animate-spin" /> Connecting…
      </Foot>
    );
  }
  if (state?.ended) return <Foot>{endWords(state.ended)}</Foot>;
  if (connection === "gone") return <Foot>This terminal ended with its desktop.</Foot>;
  if (connection !== "connected") {
    return (
      <Foot>
        Disconnected. Trying again…
        <Button className="h-6 px-2" onClick={retryNow}>
          <RotateCw aria-hidden className="size-3" /> Try again now
        </Button>
      </Foot>
    );
  }
  const words = readOnly && readOnlyWords(readOnly, holder);
  if (!words) return null;
  return (
    <Foot>
      {words} {remedies[readOnly]}
    </Foot>
  );
}

function Foot({ children }: { children: ReactNode }) {
  return (
    <div
      role="status"
      className="flex min-h-8 shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-t border-line bg-page px-3 py-1 text-xs text-soft"
    >
      {children}
    </div>
  );
}
