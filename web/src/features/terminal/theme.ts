import type { ITheme } from "@xterm/xterm";
import { useSyncExternalStore } from "react";

import { type Theme, useTheme } from "../../lib/theme";

/** The colours of programs, readable on the page's own surfaces. */
const LIGHT: ITheme = {
  background: "#ffffff",
  foreground: "#15181e",
  cursor: "#3558d4",
  cursorAccent: "#ffffff",
  selectionBackground: "#cdd9ff",
  black: "#15181e",
  red: "#b3261e",
  green: "#1b7a43",
  yellow: "#8f5a00",
  blue: "#3558d4",
  magenta: "#8b3fa8",
  cyan: "#0b7285",
  white: "#656c7a",
  brightBlack: "#4c5361",
  brightRed: "#c5392f",
  brightGreen: "#23874d",
  brightYellow: "#9a6700",
  brightBlue: "#4468e0",
  brightMagenta: "#9b4fb8",
  brightCyan: "#127f94",
  brightWhite: "#15181e",
};

const DARK: ITheme = {
  background: "#101216",
  foreground: "#eceef1",
  cursor: "#8aa4ff",
  cursorAccent: "#101216",
  selectionBackground: "#2d407a",
  black: "#3a3f49",
  red: "#ff8f87",
  green: "#5cc98a",
  yellow: "#e3b34f",
  blue: "#8aa4ff",
  magenta: "#d59bf0",
  cyan: "#6cc7d9",
  white: "#d5d9e0",
  brightBlack: "#8f96a3",
  brightRed: "#ffaba5",
  brightGreen: "#7fdaa5",
  brightYellow: "#f0c976",
  brightBlue: "#a9bcff",
  brightMagenta: "#e2b8f5",
  brightCyan: "#92d9e7",
  brightWhite: "#ffffff",
};

const DARK_SYSTEM = "(prefers-color-scheme: dark)";

function subscribe(listener: () => void): () => void {
  const query = window.matchMedia(DARK_SYSTEM);
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

/** Returns the colours that fit the page. */
export function useTerminalTheme(): ITheme {
  const theme: Theme = useTheme();
  const isSystemDark = useSyncExternalStore(subscribe, () => window.matchMedia(DARK_SYSTEM).matches);
  return theme === "dark" || (theme === "system" && isSystemDark) ? DARK : LIGHT;
}
