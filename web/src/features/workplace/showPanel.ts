import { createContext, useContext } from "react";

export const ShowPanelContext = createContext<(panel: string) => void>(() => {});

/** Returns a function that makes a panel visible, for panels that lead to others. */
export function useShowPanel(): (panel: string) => void {
  return useContext(ShowPanelContext);
}
