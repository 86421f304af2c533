import { useLayoutEffect, useSyncExternalStore } from "react";

import { readStored, writeStored } from "./stored";

/** The colour theme. `system` follows the computer's own setting. */
export type Theme = "light" | "dark" | "system";

/** The key in the storage. `public/theme.js` reads the same key before the first paint. */
const KEY = "deskhand.theme";
const listeners = new Set<() => void>();

function currentTheme(): Theme {
  const theme = document.documentElement.dataset.theme;
  return theme === "light" || theme === "dark" ? theme : "system";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function setTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  if (readStored(KEY) !== theme) writeStored(KEY, theme);
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, currentTheme);
}

/** Shows everything in dark as long as the component is there, whatever theme was chosen. */
export function useDarkTheme(): void {
  useLayoutEffect(() => {
    const { dataset } = document.documentElement;
    const chosen = dataset.theme;
    dataset.theme = "dark";
    return () => {
      if (chosen === undefined) delete dataset.theme;
      else dataset.theme = chosen;
    };
  }, []);
}
