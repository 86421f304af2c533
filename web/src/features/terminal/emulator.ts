import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { Terminal } from "@xterm/xterm";

import type { TerminalSize } from "../../api/types";

/** The time for which a terminal answers questions of programs after the user typed. */
const ANSWERS_FOR_MS = 3_000;
const SCROLLBACK_LINES = 10_000;
const FONT_PX = 13;
/** Smaller letters cannot be read. Beyond that the place is scrolled. */
const SMALLEST_FONT_PX = 8;

/** A terminal emulator with what the panel needs of it. */
export interface Emulator {
  terminal: Terminal;
  search: SearchAddon;
  /** Returns the size that fits the place, or `null` while it is hidden. */
  fittingSize: () => TerminalSize | null;
  /** Makes the letters so small that the terminal in its own size fits the place, as far as they stay legible. */
  shrinkToFit: () => void;
  noteTyped: () => void;
}

/**
 * Makes an emulator. Its output comes from the agent's desktop and is not trusted: it can neither set the clipboard or
 * a title nor make links.
 */
export function makeEmulator(): Emulator {
  const terminal = new Terminal({
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--font-mono"),
    fontSize: FONT_PX,
    lineHeight: 1.15,
    scrollback: SCROLLBACK_LINES,
    cursorBlink: true,
    linkHandler: { activate: () => undefined },
    disableStdin: true,
  });
  const [fit, search] = [new FitAddon(), new SearchAddon()];
  terminal.loadAddon(fit);
  terminal.loadAddon(search);

  // Titles, links, notifications, the clipboard, and questions for colours.
  for (const command of [0, 1, 2, 4, 8, 9, 10, 11, 12, 52, 777, 1337]) {
    terminal.parser.registerOscHandler(command, () => true);
  }

  // Every viewer of a terminal sees the questions of its programs, also those of the past. Only the one who has just
  // typed answers.
  let typedAt = -Infinity;
  const ignore = () => performance.now() - typedAt > ANSWERS_FOR_MS;
  for (const question of [
    { final: "c" },
    { prefix: ">", final: "c" },
    { prefix: "=", final: "c" },
    { final: "n" },
    { prefix: "?", final: "n" },
    { intermediates: "$", final: "p" },
    { prefix: "?", intermediates: "$", final: "p" },
  ]) {
    terminal.parser.registerCsiHandler(question, ignore);
  }
  terminal.parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => true);

  const fittingSize = () => {
    terminal.options.fontSize = FONT_PX;
    const size = fit.proposeDimensions();
    if (!size || !Number.isFinite(size.cols) || !Number.isFinite(size.rows)) return null;
    return {
      cols: Math.min(Math.max(size.cols, 2), 500),
      rows: Math.min(Math.max(size.rows, 2), 200),
    };
  };
  const shrinkToFit = () => {
    const fitting = fittingSize();
    if (fitting === null) return;
    const part = Math.min(fitting.cols / terminal.cols, fitting.rows / terminal.rows, 1);
    // Letters have whole pixels, so half of one is left out rather than a line cut off.
    const fontSize = Math.floor(FONT_PX * part * 2) / 2;
    terminal.options.fontSize = Math.max(fontSize, SMALLEST_FONT_PX);
  };
  const noteTyped = () => {
    typedAt = performance.now();
  };
  return { terminal, search, fittingSize, shrinkToFit, noteTyped };
}
